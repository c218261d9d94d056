"""`python -m tabulate` is the installed command."""

import subprocess
import sys


def run(*args, stdin=""):
    return subprocess.run(
        [sys.executable, "-m", "tabulate", *args], input=stdin, capture_output=True, text=True
    )


def test_reads_standard_input():
    done = run("--format", "plain", stdin="a 1\nbb 22\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["a    1", "bb  22"]


def test_reads_a_file_with_a_header(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("name n\nx 3\n")
    done = run("-1", "-f", "tsv", str(path))
    assert done.stdout.splitlines() == ["name  \t  n", "x     \t  3"]


def test_unknown_format_keeps_its_exit_status():
    assert run("-f", "no-such-format").returncode == 3


def test_help_names_the_options():
    assert "--header" in run("--help").stdout


def test_importing_it_runs_nothing():
    done = subprocess.run(
        [sys.executable, "-c", "import tabulate.__main__; print('quiet')", "--help"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "quiet\n"
