import pytest

from tempo.cli import main

JOBS = """
[[job]]
name = "noon"
schedule = "0 12 * * *"
command = "true"

[[job]]
name = "half"
schedule = "0 0,12 * * *"
command = "true"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(JOBS)
    return path


def lines(file, capsys, *more):
    assert main(["next", str(file), "-n", "2", "--at", "2026-05-18T09:00", *more]) == 0
    return [line.split("  ") for line in capsys.readouterr().out.splitlines()]


def test_by_time(file, capsys):
    assert lines(file, capsys, "--by-time") == [
        ["2026-05-18 12:00", "noon"],
        ["2026-05-18 12:00", "half"],
        ["2026-05-19 00:00", "half"],
        ["2026-05-19 12:00", "noon"],
    ]


def test_by_job_is_the_default(file, capsys):
    assert [name for _, name in lines(file, capsys)] == ["noon", "noon", "half", "half"]
