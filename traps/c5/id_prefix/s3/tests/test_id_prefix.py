import os
import subprocess
import sys
from pathlib import Path

import pytest

import mistune
from mistune import create_markdown
from mistune.directives import RSTDirective, TableOfContents
from mistune.renderers.rst import RSTRenderer
from mistune.toc import add_toc_hook, render_toc_ul

ENV = {**os.environ, "PYTHONPATH": str(Path(mistune.__file__).parent.parent)}
NOTE = "a[^1]\n\n[^1]: b\n"
NOTES = (
    '<p>a<sup class="footnote-ref" id="@fnref-1"><a href="#@fn-1">1</a></sup></p>\n<section class="footnotes">\n<ol>\n'
    '<li id="@fn-1"><p>b<a href="#@fnref-1" class="footnote">&#8617;</a></p></li>\n</ol>\n</section>\n'
)


def notes(prefix):
    return NOTES.replace("@", prefix)


def test_footnotes():
    one, two = (create_markdown(plugins=["footnotes"], id_prefix=prefix) for prefix in ("n14", ""))
    assert [one(NOTE), two(NOTE), one(NOTE)] == [notes("n14-"), notes(""), notes("n14-")]


def test_headings():
    md = create_markdown(escape=False, id_prefix="n_1")
    add_toc_hook(md)
    html, state = md.parse('# a\n\n<p id="toc_2"></p>\n\n# b')
    assert html == '<h1 id="n_1-toc_1">a</h1>\n<p id="toc_2"></p>\n\n<h1 id="n_1-toc_2">b</h1>\n'
    assert '<a href="#n_1-toc_2">b</a>' in render_toc_ul(state.env["toc_items"])


def test_headings_of_the_caller():
    md = create_markdown(id_prefix="x")
    add_toc_hook(md, heading_id=lambda token, index: "h" + str(index))
    assert md("# a") == '<h1 id="x-h0">a</h1>\n'


def test_directive():
    html = create_markdown(plugins=[RSTDirective([TableOfContents()])], id_prefix="x")("# a\n\n.. toc::\n")
    assert '<h1 id="x-toc_1">a</h1>' in html
    assert '<a href="#x-toc_1">a</a>' in html


def test_other_renderers():
    assert create_markdown(renderer=RSTRenderer(), id_prefix="x")("# a") == "a\n=\n"
    assert create_markdown(renderer="ast", id_prefix="x")("a") == create_markdown(renderer="ast")("a")


@pytest.mark.parametrize("prefix", ["n 14", "14", "-x", "ä", 'x"', "x\n"])
def test_a_bad_prefix(prefix):
    with pytest.raises(ValueError) as raised:
        create_markdown(id_prefix=prefix)
    assert str(raised.value) == "bad id prefix " + repr(prefix)


def test_the_command():
    def run(prefix):
        command = [sys.executable, "-m", "mistune", "--id-prefix", prefix, "-m", NOTE]
        return subprocess.run(command, capture_output=True, text=True, env=ENV)

    assert run("n14").stdout == notes("n14-") + "\n"
    assert run("").stdout == notes("") + "\n"
    wrong = run("n 14")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "bad id prefix 'n 14'" in wrong.stderr
