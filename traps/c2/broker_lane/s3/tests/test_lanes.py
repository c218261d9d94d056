import json
from datetime import datetime

from tempo.cli import main
from tempo.journal import Entry, Journal
from tempo.model import Outcome
from tempo.report import summarise

SLOT = datetime(2026, 2, 16, 4, 0)

JOBS = """
[tempo]
site = "dublin"

[[job]]
name = "thumbs"
schedule = "0 4 * * *"
command = "true"
queue = "thumbnails"

[[job]]
name = "tidy"
schedule = "0 4 * * *"
command = "true"
"""

OLD_LINE = (
    '{"attempts": 1, "ended": "2026-01-05T02:15:09", "job": "tidy", "outcome": "ok",'
    ' "output": "", "seconds": 2.0, "slot": "2026-01-05T02:15:00"}\n'
)


def entry(job, lane, seconds):
    return Entry(job, SLOT, SLOT, Outcome.OK, seconds=seconds, lane=lane)


def test_the_runner_writes_the_lane(make_runner):
    runner, _, _ = make_runner(JOBS)
    for job in runner.config.jobs:
        runner.run(job, SLOT)
    assert [one.lane for one in runner.journal] == ["media", "common"]


def test_lines_without_a_lane_can_still_be_read(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.path.write_text(OLD_LINE)
    journal.append(entry("thumbs", "media", 1.0))
    assert [one.lane for one in journal] == ["", "media"]


def test_rows_by_lane():
    entries = [entry("a", "media", 1.0), entry("b", "media", 2.0), entry("a", "", 4.0)]
    rows = summarise(entries, by="lane")
    assert [(row.name, row.runs, row.seconds) for row in rows] == [("-", 1, 4.0), ("media", 2, 3.0)]
    assert [row.name for row in summarise(entries)] == ["a", "b"]


def test_the_report_by_lane(tmp_path, capsys):
    file = tmp_path / "jobs.toml"
    file.write_text(JOBS)
    (tmp_path / "journal.jsonl").write_text(OLD_LINE)
    assert main(["tick", str(file), "--at", "2026-02-16T04:00"]) == 0
    capsys.readouterr()
    assert main(["report", str(file), "--by", "lane", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["-", "common", "media"]
    assert main(["report", str(file)]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["name", "thumbs", "tidy"]
