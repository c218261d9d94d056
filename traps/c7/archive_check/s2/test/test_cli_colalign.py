"""The command takes the alignment of each column."""

import subprocess
import sys

COMMAND = [sys.executable, "-c", "from tabulate import _main; _main()"]


def run(*args):
    done = subprocess.run([*COMMAND, *args], input="1234567 a\n2 bcd\n", capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def test_short_form():
    assert run("-f", "plain", "-C", "left right") == (0, ["1234567    a", "2        bcd"])


def test_long_form():
    assert run("-f", "plain", "--colalign", "left right") == (0, ["1234567    a", "2        bcd"])


def test_without_it_nothing_changes():
    assert run("-f", "plain") == (0, ["1234567  a", "      2  bcd"])


def test_help_shows_it():
    status, lines = run("--help")
    assert status == 0
    assert any("-C" in line and "--colalign" in line for line in lines)


def test_unknown_options_are_still_refused():
    assert run("--no-such-option")[0] == 2
