from pathlib import Path

import wirespec
from wirespec.capture import Entry, format_entry
from wirespec.cli import main
from wirespec.report import export_csv

MONDAY = Path(__file__).parent / "data" / "monday.txt"
HEADER = "kind,name,frames,bytes\n"


def rows(text):
    return text[text.index(HEADER) + len(HEADER) :].split("\n")[:-1]


def test_rows_of_a_capture():
    with MONDAY.open(encoding="utf-8") as lines:
        assert rows(export_csv(lines)) == [
            "message,reading,3,63",
            "message,ack,1,14",
            "message,alarm,1,34",
            "message,hello,1,23",
            "refused,bad_checksum,1,",
            "alarm,Filter läuft voll,,",
        ]


def test_texts_are_quoted():
    alarm = {"severity": "info", "cause": 1, "text": 'nivå "hög", pump 2'}
    line = format_entry(Entry(1, "up", wirespec.encode("alarm", alarm)))
    assert rows(export_csv([line]))[-1] == 'alarm,"nivå ""hög"", pump 2",,'


def test_command(capsys, tmp_path):
    assert main(["report", str(MONDAY), "--format", "csv"]) == 0
    printed = capsys.readouterr().out
    target = tmp_path / "vecka.csv"
    assert main(["report", str(MONDAY), "--format", "csv", "--output", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert target.read_bytes().decode("utf-8") == printed


def test_text_stays_the_default(capsys, tmp_path):
    target = tmp_path / "vecka.txt"
    assert main(["report", str(MONDAY), "--output", str(target)]) == 0
    assert main(["report", str(MONDAY)]) == 0
    assert capsys.readouterr().out == target.read_text("utf-8")
    assert target.read_text("utf-8").startswith("7 frames in 12.5 s\n")
