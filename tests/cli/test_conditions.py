"""`conditions`: cards, and conformance with its exit code."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from harness.cli import conditions as command
from harness.cli.main import cli
from harness.outcome import COMPLETE, REJECTED, UsageFault
from memory_probe.ladder import conditions
from memory_probe.opening import Condition, Opening
from memory_probe.protocol import Memory, MemoryFault


def call(*words: str) -> tuple[int, str]:
    """(exit code, stdout). Raises what the command raises."""
    result = CliRunner().invoke(cli, ["conditions", *words], standalone_mode=False, catch_exceptions=False)
    return result.return_value, result.stdout


def test_every_card_is_one_line() -> None:
    code, out = call()
    assert code == COMPLETE
    assert [line.split()[0] for line in out.splitlines()] == list(conditions())


def test_named_ones_alone_and_an_unknown_one() -> None:
    assert [card["code"] for card in json.loads(call("B5", "DF", "--json")[1])] == ["B5", "DF"]
    with pytest.raises(UsageFault, match="unknown condition B99"):
        call("B99")


def test_ours_clear_conformance_and_instruments_are_not_probed() -> None:
    code, out = call("--check", "B0", "B5", "DF-hybrid", "POISON")
    assert code == COMPLETE
    assert [line.split(":")[0] for line in out.splitlines()] == ["ok  B0", "ok  B5", "ok  DF-hybrid"]


def test_one_that_cannot_work_exits_3_with_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(opening: Opening) -> Memory:
        raise MemoryFault("the server is down")

    broken = {"B5": Condition(conditions()["B5"].card, gone)}
    monkeypatch.setattr(command, "known_conditions", lambda: broken)
    code, out = call("--check")
    assert code == REJECTED
    assert out.startswith("NO  B5: ")
    assert "MemoryFault: the server is down" in out
