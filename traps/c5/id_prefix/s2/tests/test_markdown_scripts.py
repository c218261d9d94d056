import pytest

from mistune import create_markdown
from mistune.renderers.markdown import MarkdownRenderer

PLUGINS = ["superscript", "subscript", "ruby"]
reformat = create_markdown(renderer=MarkdownRenderer(), plugins=PLUGINS)
to_html = create_markdown(plugins=PLUGINS)


@pytest.mark.parametrize(
    "text",
    [
        "H~2~O and 4^th^",
        r"x^a\ b^ and y~c\ d\ e~",
        r"x^a\^b^ and y~c\~d~",
        "x^**a**^",
        "[汉字(hàn zì)]",
        "[[汉(hàn)][字(zì)]](/url)",
    ],
)
def test_reformatted(text):
    assert reformat(text) == text + "\n"


def test_ruby_in_pieces():
    assert reformat("[汉(hàn)字(zì)]") == "[汉(hàn)][字(zì)]\n"


@pytest.mark.parametrize("text", ["# 4^th^ [汉(hàn)字(zì)]", "- [汉(hàn)字(zì)](/url) H~2~O", r"| x^a\ \^b^"])
def test_the_same_meaning(text):
    once = reformat(text)
    assert to_html(once) == to_html(text)
    assert reformat(once) == once
