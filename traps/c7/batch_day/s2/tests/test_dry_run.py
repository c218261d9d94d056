import pytest

from tempo.cli import main

JOBS = """
[tempo]
site = "dublin"

[[job]]
name = "thumbs"
schedule = "@daily"
command = ["sh", "-c", "exit 0", "two words"]
queue = "thumbnails"
env = { SIZE = "200" }
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "jobs.toml").write_text(JOBS)
    return tmp_path / "jobs.toml"


def test_it_is_shown_and_not_run(file, capsys):
    assert main(["run", str(file), "thumbs", "--dry", "--at", "2026-09-14T02:15:30"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "SIZE=200",
        "TEMPO_ATTEMPT=1",
        "TEMPO_JOB=thumbs",
        "TEMPO_LANE=media",
        "TEMPO_SLOT=2026-09-14T02:15",
        "sh -c 'exit 0' 'two words'",
    ]
    assert [path.name for path in file.parent.iterdir()] == ["jobs.toml"]


def test_without_it_the_job_is_run(file, capsys):
    assert main(["run", str(file), "thumbs", "--at", "2026-09-14T02:15"]) == 0
    assert capsys.readouterr().out == "thumbs  2026-09-14 02:15  ok\n"
    assert (file.parent / "journal.jsonl").exists()


def test_an_unknown_job(file, capsys):
    assert main(["run", str(file), "nope", "--dry"]) == 2
    assert capsys.readouterr().out == ""
