"""The record of admission: what it says stays, and an edited trap has to be admitted again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.admitted import FILE, Attempt, Found, append, attempts, funnel, standing
from harness.cli.main import cli
from harness.outcome import COMPLETE, REJECTED, UsageFault

MINI = Path(__file__).parent.parent / "data" / "mini"


def line(trap: str, digest: str = "d", *gates: str) -> Attempt:
    return Attempt(
        trap=trap,
        digest=digest,
        construct_="C1",
        fixture="mini",
        skeleton="s",
        at="2026-01-05T10:00:00+00:00",
        version="0",
        problems=tuple(Found(gate=gate, where="w", message="m") for gate in gates),
        evidence=("looked",),
    )


def call(world: Path, *words: str) -> tuple[int, str]:
    places = ["--traps", str(world / "traps"), "--oracles", str(world / "oracles")]
    done = CliRunner().invoke(cli, ["trap", *words, *places], standalone_mode=False, catch_exceptions=False)
    return done.return_value, done.stdout


def test_the_newest_line_about_the_trap_as_it_is_decides(tmp_path: Path) -> None:
    for told in (line("a", "1", "leak"), line("a", "1"), line("b", "1"), line("c", "1"), line("c", "1", "hostile")):
        append(tmp_path, told)
    told = attempts(tmp_path)
    assert [each.trap for each in told] == ["a", "a", "b", "c", "c"]
    found = standing({"a": "1", "b": "2", "c": "1", "d": "1"}, told)
    assert found == {"a": "admitted", "b": "changed since", "c": "rejected", "d": "not tried"}
    assert funnel(told, found) == {
        "authored": 4,
        "rejected by hostile": 1,
        "rejected by leak": 1,
        "admitted": 1,
    }


def test_what_was_rejected_and_thrown_away_stays_counted() -> None:
    told = [line("gone", "1", "format", "leak"), line("here", "1")]
    counts = funnel(told, standing({"here": "1"}, told))
    assert counts == {"authored": 2, "rejected by format": 1, "rejected by leak": 1, "admitted": 1}


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    append(tmp_path, line("a"))
    with (tmp_path / FILE).open("a") as file:
        file.write('{"trap": "b"}\n')
    with pytest.raises(UsageFault, match=rf"{FILE}:2: "):
        attempts(tmp_path)


def test_a_rejected_trap_goes_into_the_record_too(tmp_path: Path) -> None:
    world = tmp_path / "mini"
    shutil.copytree(MINI, world)
    event = world / "traps/c1/label/e1.md"
    event.write_text(event.read_text().replace("2026-01-05", "in January"))
    assert json.loads(call(world, "list", "--json")[1])[0]["standing"] == "not tried"
    code, said = call(world, "admit", "c1_label")
    assert code == REJECTED
    assert "NO  c1_label: nothing was run" in said
    (told,) = attempts(world / "traps")
    assert (told.trap, told.gate, told.construct_, told.fixture) == ("c1_label", "format", "C1", "mini")
    assert json.loads(call(world, "funnel", "--json")[1]) == {"authored": 1, "rejected by format": 1, "admitted": 0}
    code, said = call(world, "list")
    assert code == COMPLETE
    assert said.startswith("rejected      c1_label ")
    event.write_text(event.read_text().replace("in January", "2026-01-05"))
    assert call(world, "list")[1].startswith("changed since c1_label ")
