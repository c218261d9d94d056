import json
from pathlib import Path

import pytest

from wirespec.capture import CaptureError, parse_capture
from wirespec.cli import main
from wirespec.lines import from_lines, to_lines

MONDAY = Path(__file__).parent / "data" / "monday.txt"


@pytest.fixture
def entries():
    with MONDAY.open(encoding="utf-8") as lines:
        return list(parse_capture(lines))


def test_there_and_back(entries):
    assert from_lines(to_lines(entries)) == entries
    assert from_lines(f"{line}\r\n" for line in to_lines(entries[:2])) == entries[:2]
    assert from_lines(to_lines([])) == []


def test_header_and_entries(entries):
    header, *rows = map(json.loads, to_lines(entries))
    assert list(header) == ["schema", "protocol", "entries"]
    assert (header["protocol"], header["entries"]) == (3, 7)
    assert rows[0]["message"] == "hello"
    assert [row["refused"] for row in rows if row["refused"]] == ["bad_checksum"]
    assert {row["message"] for row in rows if row["refused"]} == {None}
    assert list(rows[1]) == ["at_ms", "direction", "message", "refused", "data"]


def refusal(lines):
    with pytest.raises(CaptureError) as caught:
        from_lines(lines)
    return str(caught.value)


@pytest.mark.parametrize("first", ["", "[]", "{", '{"schema": "other", "protocol": 3, "entries": 0}'])
def test_other_headers_are_refused(first):
    assert refusal([first]) == "line 1 is no header of a capture export"


def test_lines_that_are_no_entries(entries):
    lines = to_lines(entries)
    for bad in ("", "7", '{"at_ms": 1}', '{"at_ms": "1", "direction": "up", "data": ""}'):
        assert refusal([*lines[:3], bad, *lines[4:]]) == "line 4 is no entry"


def test_entries_are_counted(entries):
    lines = to_lines(entries)
    assert refusal(lines[:-1]) == "6 entries, but the header says 7"
    assert refusal([*lines, lines[-1]]) == "8 entries, but the header says 7"
    assert refusal([]) == "line 1 is no header of a capture export"


def test_command(tmp_path, capsys):
    assert main(["lines", str(MONDAY)]) == 0
    target = tmp_path / "monday.jsonl"
    target.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["lines", "--back", str(target)]) == 0
    assert capsys.readouterr().out == MONDAY.read_text(encoding="utf-8")
    target.write_text("{}\n", encoding="utf-8")
    assert main(["lines", "--back", str(target)]) == 2
