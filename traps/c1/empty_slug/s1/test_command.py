import subprocess
import sys

import pytest


def run(*args, stdin=""):
    done = subprocess.run(
        [sys.executable, "-m", "inflection", *args], input=stdin, capture_output=True, text=True
    )
    return done.returncode, done.stdout


def test_texts_on_the_command_line():
    assert run("pluralize", "person", "ox") == (0, "people\noxen\n")


def test_texts_from_standard_input():
    assert run("underscore", stdin="DeviceType\nIOError\n") == (0, "device_type\nio_error\n")


def test_a_line_keeps_its_blanks():
    assert run("dasherize", stdin=" a_b \n") == (0, " a-b \n")


@pytest.mark.parametrize("name", ["ordinalize", "_irregular", "shout"])
def test_other_names_are_wrong_usage(name):
    assert run(name, "x") == (2, "")


def test_importing_runs_nothing():
    import inflection.__main__

    assert callable(inflection.__main__.main)
