"""The output file of the command, and input that is not there."""

import os
import subprocess
import sys

COMMAND = [sys.executable, "-c", "from tabulate import _main; _main()"]


def run(*args, stdin="", **env):
    return subprocess.run(
        [*COMMAND, *map(str, args)], input=stdin, capture_output=True, text=True, env={**os.environ, **env}
    )


def test_the_long_form(tmp_path):
    target = tmp_path / "report.txt"
    done = run("-f", "plain", "--output", target, stdin="a 1\nbb 22\n")
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_text() == "a    1\nbb  22\n"


def test_standard_output():
    assert run("-f", "plain", "--output", "-", stdin="a 1\n").stdout == "a  1\n"


def test_the_file_is_utf8(tmp_path):
    (tmp_path / "in.txt").write_text("a 1\n", encoding="utf-8")
    target = tmp_path / "report.txt"
    assert run("-f", "fancy_grid", "-o", target, tmp_path / "in.txt", LC_ALL="C", PYTHONUTF8="0").returncode == 0
    assert "│" in target.read_text(encoding="utf-8")


def test_missing_input_leaves_the_report_alone(tmp_path):
    (tmp_path / "in.txt").write_text("a 1\n")
    target = tmp_path / "report.txt"
    target.write_text("yesterday")
    missing = tmp_path / "none.txt"
    done = run("-o", target, tmp_path / "in.txt", missing)
    assert done.returncode == 1
    assert done.stderr == f"tabulate: {missing}: No such file or directory\n"
    assert target.read_text() == "yesterday"


def test_missing_input_prints_nothing(tmp_path):
    (tmp_path / "in.txt").write_text("a 1\n")
    done = run(tmp_path / "in.txt", tmp_path / "none.txt")
    assert (done.returncode, done.stdout) == (1, "")


def test_several_inputs(tmp_path):
    (tmp_path / "in.txt").write_text("a 1\n")
    done = run("-f", "plain", tmp_path / "in.txt", "-", stdin="b 2\n")
    assert (done.returncode, done.stdout) == (0, "a  1\nb  2\n")
