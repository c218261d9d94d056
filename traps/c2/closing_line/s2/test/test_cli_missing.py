"""What stands for cells that a line does not have."""

import subprocess
import sys

COMMAND = [sys.executable, "-c", "from tabulate import _main; _main()"]
SURVEY = "name oak ash\nbrook 3\n\nhill 4 5\n"


def run(*args):
    done = subprocess.run([*COMMAND, *args], input=SURVEY, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def test_short_form():
    assert run("-1", "-f", "tsv", "-m", "none") == (
        0,
        ["name  \t  oak\t  ash", "brook \t    3\t none", "hill  \t    4\t    5"],
    )


def test_long_form():
    assert run("-1", "-f", "plain", "--missing", "?") == run("-1", "-f", "plain", "-m", "?")


def test_default():
    assert run("-1", "-f", "plain")[1][1].rstrip() == "brook       3"


def test_help():
    status, shown = run("--help")
    assert status == 0
    assert any("-m TEXT, --missing TEXT" in line for line in shown)
