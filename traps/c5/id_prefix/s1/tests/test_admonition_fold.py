import pytest

from mistune import create_markdown
from mistune.directives import Admonition, FencedDirective, RSTDirective

render = create_markdown(plugins=[RSTDirective([Admonition()])])


@pytest.mark.parametrize("value, opened", [("", ""), (" open", " open")])
def test_folding(value, opened):
    html = render(".. warning:: Points\n   :collapse:" + value + "\n   :class: winter\n\n   Wait.\n")
    assert html == (
        '<details class="admonition warning winter"' + opened + ">\n"
        '<summary class="admonition-title">Points</summary>\n<p>Wait.</p>\n</details>\n'
    )


def test_fenced():
    html = create_markdown(plugins=[FencedDirective([Admonition()])])("```{note}\n:collapse:\n\nWait.\n```\n")
    assert html == (
        '<details class="admonition note">\n<summary class="admonition-title">Note</summary>\n<p>Wait.</p>\n</details>\n'
    )


def test_without_the_option():
    assert render(".. note:: a\n\n   b\n") == (
        '<section class="admonition note">\n<p class="admonition-title">a</p>\n<p>b</p>\n</section>\n'
    )


def test_other_values():
    assert render(".. note:: a\n   :collapse: yes\n\n   b\n") == (
        '<div class="error"><pre>&quot;collapse&quot; option MUST be empty or open</pre></div>\n'
    )
