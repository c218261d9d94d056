"""`dreambench analyse` over files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.analyse import analyse
from harness.outcome import UsageFault

from .golden_kit import metrics, rows


def call(*words: str) -> Result:
    found = CliRunner().invoke(analyse, words, standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    return found


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    path = tmp_path / "outcomes.json"
    path.write_text(json.dumps({"rows": rows(), "metrics": metrics(), "warmup": [287, 360]}))
    return path


def test_json_and_csv_give_the_same_family(outcomes: Path, tmp_path: Path) -> None:
    data = json.loads(call(str(outcomes), "--family", "p-family", "--json").stdout)
    table = tmp_path / "outcomes.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows()[0]))
        writer.writeheader()
        writer.writerows({**row, "clean_start": str(row["clean_start"]).lower()} for row in rows())
    again = json.loads(call(str(table), "--family", "p-family", "--json").stdout)
    assert data["readings"][0]["slots"] == again["readings"][0]["slots"]
    assert [f["status"] for f in data["readings"][0]["falsifiers"]] == ["holds", "fails", "holds", "fails", "fails"]


def test_tables(outcomes: Path) -> None:
    text = call(str(outcomes), "--family", "p-family", "--explore", "B3:B5").stdout
    assert "withdrawn: the hybrid retrieves useful memory" in text
    assert "B3           B5" in text.split("Exploratory")[1]
    assert "0.5184" in call(str(outcomes), "--family", "p-family", "--markdown").stdout


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        ({"rows": rows()[:-1]}, (), "row 179: .* DF-hybrid lacks seed 3"),
        ({"rows": [*rows(), rows()[0]]}, (), "row 1080: the same as row 0"),
        ({"rows": [r for r in rows() if r["trap"] != "expr-arity-contract"]}, (), "registers 60 traps.* 59"),
        ({"warmup": [2, 1]}, (), "warmup is"),
        ({"metrics": {"x": {"A": "high"}}}, (), "x of A is 'high'"),
        ({"metrics": {"x": {"A": float("nan")}}}, (), "x of A is nan"),
        ({"colour": 1}, (), "unknown keys"),
        ({"poisoned": ["nowhere"]}, (), "poisoned is a list"),
        ({}, ("--explore", "B5"), "expected FIRST:SECOND"),
        ({}, ("--explore", "B5:DF"), "registers it"),
        ({}, ("--explore", "B5:B9"), "no rows of condition 'B9'"),
    ],
)
def test_a_bad_file_is_one_message(
    outcomes: Path, change: dict[str, object], words: tuple[str, ...], message: str
) -> None:
    outcomes.write_text(json.dumps({**json.loads(outcomes.read_text()), **change}))
    with pytest.raises(UsageFault, match=message):
        call(str(outcomes), "--family", "p-family", *words)


def test_names_that_cannot_be_read(outcomes: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match=r"gone\.toml"):
        call(str(outcomes), "--family", str(tmp_path / "gone.toml"))
    other = tmp_path / "outcomes.txt"
    other.write_bytes(outcomes.read_bytes())
    with pytest.raises(UsageFault, match="ends in"):
        call(str(other), "--family", "p-family")


def test_one_page_and_one_form_at_a_time(outcomes: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert call(str(outcomes), "--family", "p-family", "--html", str(page)).stdout == ""
    assert "0.5184" in page.read_text(encoding="utf-8")
    assert "This page holds no details of arms" in page.read_text(encoding="utf-8")
    with pytest.raises(UsageFault, match="name one"):
        call(str(outcomes), "--family", "p-family", "--html", str(page), "--json")
    with pytest.raises(UsageFault, match=r"page\.html: "):
        call(str(outcomes), "--family", "p-family", "--html", str(tmp_path / "none" / "page.html"))
