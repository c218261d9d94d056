import pytest

from tempo.cli import main

JOBS = """
[[job]]
name = "halfyear"
schedule = "0 6 31 apr,jun *"
command = "true"

[[job]]
name = "daily"
schedule = "0 6 * * *"
command = "true"

[[job]]
name = "off"
schedule = "0 6 30 feb *"
command = "true"
enabled = false
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(JOBS)
    return path


def test_check_names_them(file, capsys):
    assert main(["check", str(file), "--at", "2026-05-11"]) == 2
    assert capsys.readouterr().out.splitlines()[1:] == ["job 'halfyear' never comes due"]


def test_check_is_content_without_any(file, capsys):
    file.write_text(JOBS.replace("apr,jun", "mar,dec"))
    assert main(["check", str(file), "--at", "2026-05-11"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_next_shows_the_others(file, capsys):
    assert main(["next", str(file), "-n", "1", "--at", "2026-05-11"]) == 0
    assert capsys.readouterr().out == "2026-05-11 06:00  daily\n"
