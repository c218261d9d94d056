import os
import subprocess
import sys
from pathlib import Path

import pytest

import mistune
from mistune import create_markdown
from mistune.plugins.outbound import Outbound, outbound_links

ENV = {**os.environ, "PYTHONPATH": str(Path(mistune.__file__).parent.parent)}
render = create_markdown(plugins=[Outbound(["bahn.example"])])


@pytest.mark.parametrize(
    "text, html",
    [
        ("[a](https://bahn.example/a)", '<a href="https://bahn.example/a">a</a>'),
        ("[a](https://WWW.bahn.example/a)", '<a href="https://WWW.bahn.example/a">a</a>'),
        ("[a](/rules/a)", '<a href="/rules/a">a</a>'),
        ("<mailto:box@post.example>", '<a href="mailto:box@post.example">mailto:box@post.example</a>'),
        ("[a](javascript:alert(1))", '<a href="#harmful-link">a</a>'),
        ("![a](https://museum.example/a.png)", '<img src="https://museum.example/a.png" alt="a" />'),
    ],
)
def test_links_that_stay(text, html):
    assert render(text) == "<p>" + html + "</p>\n"


@pytest.mark.parametrize("plugin", ["outbound", Outbound(["bahn.example"])])
def test_links_that_leave(plugin):
    html = create_markdown(plugins=[plugin])('[a](https://kleinbahn.example/a "b")')
    assert html.startswith('<p><a href="https://kleinbahn.example/a" title="b" rel="')
    assert html.endswith('">a</a></p>\n')


def test_list_of_links():
    text = "[a](https://two.example/) <https://one.example/x> [c](https://two.example/) [d](https://bahn.example/)"
    assert outbound_links(text, ["bahn.example"]) == ["https://two.example/", "https://one.example/x"]


def test_the_command():
    command = [sys.executable, "-m", "mistune", "--own-host", "bahn.example", "-m", "~~[a](https://bahn.example/)~~"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENV)
    assert done.stdout == '<p><del><a href="https://bahn.example/">a</a></del></p>\n\n'
