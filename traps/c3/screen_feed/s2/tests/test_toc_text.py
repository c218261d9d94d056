import pytest

from mistune import create_markdown
from mistune.toc import add_toc_hook, render_toc_text


@pytest.mark.parametrize(
    "levels, numbers",
    [
        ([1, 2, 2, 1], ["1", "1.1", "1.2", "2"]),
        ([1, 3, 2, 3, 1, 2], ["1", "1.1", "1.2", "1.2.1", "2", "2.1"]),
        ([2, 1, 2], ["1", "2", "2.1"]),
        ([3, 2, 1], ["1", "2", "3"]),
    ],
)
def test_numbers(levels, numbers):
    toc = [(level, "toc_" + str(i), "x") for i, level in enumerate(levels)]
    assert render_toc_text(toc) == "".join(number + " x\n" for number in numbers)


def test_text():
    md = create_markdown()
    add_toc_hook(md)
    _, state = md.parse("# Doors & *steps*\n\n## `<tail>` lamp")
    assert render_toc_text(state.env["toc_items"]) == "1 Doors & steps\n1.1 <tail> lamp\n"


def test_nothing():
    assert render_toc_text([]) == ""
