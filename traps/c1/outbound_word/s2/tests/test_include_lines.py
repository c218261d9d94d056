import pytest

from mistune import create_markdown
from mistune.directives import Include, RSTDirective

md = create_markdown(plugins=[RSTDirective([Include()])])


@pytest.fixture
def include(tmp_path):
    def render(lines, name="part.txt"):
        (tmp_path / name).write_text("one\n\ntwo\n\nthree\n")
        book = tmp_path / "book.md"
        book.write_text(".. include:: " + name + "\n   :lines: " + lines + "\n")
        return md.read(str(book))[0]

    return render


@pytest.mark.parametrize(
    "lines, text",
    [("3-5", "two\n\nthree\n"), ("3-", "two\n\nthree\n"), ("-3", "one\n\ntwo\n"), ("3", "two\n"), ("5-90", "three\n")],
)
def test_lines_of_a_text(include, lines, text):
    assert include(lines) == '<pre class="directive-include">\n' + text + "</pre>\n"


def test_lines_of_markdown(include):
    assert include("3-5", "part.md") == "<p>two</p>\n<p>three</p>\n"


@pytest.mark.parametrize("lines", ["0", "7-3", "-", "x", "1-2-3", "0-4"])
def test_bad_lines(include, lines):
    assert include(lines) == '<div class="error"><pre>Bad lines: ' + lines + "</pre></div>\n"
