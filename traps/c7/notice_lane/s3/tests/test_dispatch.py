import os
import subprocess
import sys
from pathlib import Path

import mistune
from mistune.dispatch import lane, size

ENV = {**os.environ, "PYTHONPATH": str(Path(mistune.__file__).parent.parent)}


def run(*files):
    command = [sys.executable, "-m", "mistune.dispatch", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENV)
    return done.returncode, done.stdout, done.stderr


def test_an_empty_notice():
    assert size("") == 0
    assert lane("") == "plain"


def test_lines(tmp_path):
    texts = {"b.md": "", "a.md": "", "c.md": "# a\n\nb [c](/d) ![e](/f)\n\n- g\n\n```\nh\n```\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    large = f"{tmp_path / 'c.md'} {size(texts['c.md'])} {lane(texts['c.md'])}\n"
    small = "".join(f"{tmp_path / name} 0 plain\n" for name in ("a.md", "b.md"))
    assert run(*(tmp_path / name for name in texts)) == (0, large + small, "")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "latin.md").write_bytes("Süd".encode("latin-1"))
    missing, latin = tmp_path / "no.md", tmp_path / "latin.md"
    assert run(tmp_path / "a.md", missing) == (1, "", f"mistune.dispatch: {missing}: No such file or directory\n")
    assert run(latin, tmp_path / "a.md") == (1, "", f"mistune.dispatch: {latin}: not UTF-8\n")


def test_the_page():
    docs = Path(__file__).parent.parent / "docs" / "cli.rst"
    assert "Sorting notices\n---------------\n" in docs.read_text(encoding="utf-8")
