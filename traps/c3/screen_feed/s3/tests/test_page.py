import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mistune
from mistune.page import page

ENV = {**os.environ, "PYTHONPATH": str(Path(mistune.__file__).parent.parent)}
FEED = re.compile(r'<meta name="feed" content="[^"]+">\n')


def without_feed(html):
    assert len(FEED.findall(html)) == 1
    return FEED.sub("", html)


def expected(lang, title, body):
    head = '<!DOCTYPE html>\n<html lang="{}">\n<head>\n<meta charset="utf-8">\n<title>{}</title>\n</head>\n<body>\n'
    return head.format(lang, title) + body + "</body>\n</html>\n"


def test_a_plain_notice():
    assert without_feed(page("no ~~smoking~~ <b>")) == expected("en", "Notice", "<p>no <del>smoking</del> &lt;b&gt;</p>\n")


def test_title_and_contents():
    body = (
        '<nav>\n<ul>\n<li><a href="#toc_1">Tail &amp; lamp</a>\n<ul>\n<li><a href="#toc_2">Red</a></li>\n</ul>\n</li>\n</ul>\n</nav>\n'
        '<h1 id="toc_1">Tail &amp; <em>lamp</em></h1>\n<h2 id="toc_2">Red</h2>\n<h3 id="toc_3">Wick</h3>\n'
    )
    html = page("# Tail & *lamp*\n\n## Red\n\n### Wick", "de-CH")
    assert without_feed(html) == expected("de-CH", "Tail &amp; lamp", body)


def test_one_heading_has_no_contents():
    html = page("## Red\n\n### Wick")
    assert without_feed(html) == expected("en", "Red", '<h2 id="toc_1">Red</h2>\n<h3 id="toc_2">Wick</h3>\n')


@pytest.mark.parametrize("lang", ["", "D", "german", "de-ch", 'de" x="'])
def test_a_bad_language(lang):
    with pytest.raises(ValueError, match="^bad language " + repr(lang) + "$"):
        page("a", lang)


def run(*words):
    done = subprocess.run([sys.executable, "-m", "mistune", *words], capture_output=True, text=True, env=ENV)
    return done.returncode, done.stdout, done.stderr


def test_the_command():
    assert run("--page", "-m", "# a")[1] == page("# a") + "\n"
    assert run("--page", "--lang", "nl", "-p", "mark", "-m", "==a== ~~b~~")[1] == page("==a== ~~b~~", "nl", ["mark"]) + "\n"
    assert run("--page", "--lang", "x", "-m", "a") == (1, "", "mistune: bad language 'x'\n")
    assert run("--page", "-r", "rst", "-m", "a") == (1, "", "mistune: --page needs the renderer html\n")
    assert run("-m", "# a") == (0, "<h1>a</h1>\n\n", "")
