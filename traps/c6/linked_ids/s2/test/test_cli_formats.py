"""Formats that the command knows."""

import subprocess
import sys

from tabulate import tabulate_formats

COMMAND = [sys.executable, "-c", "from tabulate import _main; _main()"]


def run(*args):
    done = subprocess.run([*COMMAND, *args], input="a 1\n", capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_the_list():
    assert run("--list-formats") == (0, "".join(f"{name}\n" for name in tabulate_formats), "")


def test_a_close_name():
    message = "tabulate: htlm is not a supported table format, did you mean html?\n"
    assert run("-f", "htlm") == (3, "", message)


def test_no_close_name():
    message = "tabulate: excel is not a supported table format, see --list-formats\n"
    assert run("--format", "excel") == (3, "", message)


def test_formats_that_are_there():
    assert run("-f", "tsv") == (0, "a\t1\n", "")


def test_the_help():
    assert "--list-formats" in run("-h")[1]
