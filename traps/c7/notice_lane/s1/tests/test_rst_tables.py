from mistune import create_markdown
from mistune.renderers.rst import RSTRenderer

render = create_markdown(renderer=RSTRenderer(), plugins=["table"])


def test_a_table():
    text = "before\n\n| Train | *Leaves* |\n|---|:-:|\n| 14 | |\n| `15` | 8:20 |\n\nafter\n"
    assert render(text) == (
        "before\n\n"
        ".. list-table::\n   :header-rows: 1\n\n"
        "   * - Train\n     - *Leaves*\n"
        "   * - 14\n     -\n"
        "   * - ``15``\n     - 8:20\n\n"
        "after\n"
    )


def test_a_head_alone():
    assert render("a | b\n--- | ---\n") == ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n"
