import sys

import pytest

from mistune.__main__ import cli


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.md").write_bytes("Süd".encode("latin-1"))
    (tmp_path / "out.html").write_text("as it was")

    def start(*words):
        monkeypatch.setattr(sys, "argv", ["mistune", "-o", "out.html", *words])
        status = 0
        try:
            cli()
        except SystemExit as stop:
            status = stop.code
        return status, capsys.readouterr().err, (tmp_path / "out.html").read_text()

    return start


@pytest.mark.parametrize(
    "words, message",
    [
        (["-f", "no.md"], "no.md: No such file or directory"),
        (["-f", "latin.md"], "latin.md: not UTF-8"),
        (["-m", "a", "-r", "pdf"], "unknown renderer 'pdf'"),
        (["-m", "a", "-p", "table", "sidenote"], "unknown plugin 'sidenote'"),
        (["-m", "a", "-p", "no.such.plugin"], "unknown plugin 'no.such.plugin'"),
        (["-m", "a", "-p", "mistune.plugins.url.no"], "unknown plugin 'mistune.plugins.url.no'"),
    ],
)
def test_one_line(run, words, message):
    assert run(*words) == (1, "mistune: " + message + "\n", "as it was")


def test_nothing_wrong(run):
    assert run("-m", "a", "-p", "mistune.plugins.url.url") == (0, "", "<p>a</p>\n")
