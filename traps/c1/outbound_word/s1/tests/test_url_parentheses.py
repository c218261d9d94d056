import pytest

from mistune import create_markdown

render = create_markdown(plugins=["url"])


def link(url):
    return '<a href="{0}">{0}</a>'.format(url)


@pytest.mark.parametrize(
    "text, url, rest",
    [
        ("https://example.com/Staff_(signal)", "https://example.com/Staff_(signal)", ""),
        ("https://example.com/Staff_(signal).", "https://example.com/Staff_(signal)", "."),
        ("https://example.com/a_(b)_c_(d), later", "https://example.com/a_(b)_c_(d)", ", later"),
        ("https://example.com/a)", "https://example.com/a", ")"),
        ("https://example.com/a).", "https://example.com/a", ")."),
        ("https://example.com/a_(b))", "https://example.com/a_(b)", ")"),
        ("https://example.com/a_(b).)", "https://example.com/a_(b)", ".)"),
        ("https://example.com/a", "https://example.com/a", ""),
    ],
)
def test_end_of_an_address(text, url, rest):
    assert render(text) == "<p>" + link(url) + rest + "</p>\n"


def test_an_address_in_parentheses():
    assert render("(see https://example.com/a)") == "<p>(see " + link("https://example.com/a") + ")</p>\n"
