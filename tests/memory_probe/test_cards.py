"""`dreambench conditions` shows each card: version, what it shows, and what should be known of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import conditions as command
from harness.cli.conditions import condition_line
from harness.cli.conditions import conditions as list_conditions
from harness.cli.main import cli
from harness.config import load
from harness.outcome import COMPLETE, UsageFault
from harness.run import spelt_out
from memory_probe import embed
from memory_probe.ladder import conditions, unaided
from memory_probe.opening import Condition, Opening
from memory_probe.protocol import Card, Memory, MemoryFault

LADDER = {"B0", "B1", "B2", "B3", "B4", "B5", "B5-paper", "B5-recency", "B5-bm25", "B6", "B7", "ALL"}
MODEL = {"B3-model", "B4-model", "B6-model", "B7-model", "DF-model", "DF-hybrid-model"}
EMBED = {"B2-embed", "DF-hybrid-embed"}


def never(opening: Opening) -> Memory:
    raise AssertionError("listing opens nothing")


def test_a_line_holds_everything_on_the_card() -> None:
    card = Card("X1", "a title", "1.2", ("dates", "tasks"), needs_model=True, repaired=True)
    made = Condition(card, never)
    assert condition_line(made) == "X1               1.2                model  a title [dates, tasks; repaired]"
    plain = Card("X2", "plain", "1")
    assert condition_line(Condition(plain, never)) == "X2               1                  -      plain"
    assert condition_line(Condition(plain, never, "embed")) == "X2               1                  embed  plain"


def test_an_extra_that_is_not_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "_LIBRARIES", ("onnxruntime", "no_such_library"))
    made = Condition(Card("X2", "plain", "1"), never, "embed")
    assert condition_line(made).endswith("plain [not installed]")
    done = CliRunner().invoke(cli, ["conditions", "B2-embed", "--json"])
    (card,) = json.loads(done.stdout)
    assert (card["needs"], "no_such_library" in card["lacks"]) == ("embed", True)


def test_what_each_needs() -> None:
    done = CliRunner().invoke(list_conditions, ["--json"])
    told = {card["code"]: card["needs"] for card in json.loads(done.stdout)}
    assert {code for code, need in told.items() if need == "model"} == MODEL
    assert {code for code, need in told.items() if need == "embed"} == EMBED
    assert {code for code, need in told.items() if need == "agent"} == {"FILES"}
    assert set(told.values()) == {"", "model", "embed", "agent"}


def test_all_is_what_needs_nothing_also_where_the_extra_is_installed() -> None:
    known = conditions()
    assert set(unaided(known)) == set(known) - MODEL - EMBED - {"FILES"}
    assert list(unaided(known)) == [code for code in known if code in set(unaided(known))]
    assert spelt_out(load(None, ["conditions=all"])).conditions == unaided(known)
    assert spelt_out(load(None, ["conditions=B3-model"])).conditions == ("B3-model",)


@pytest.mark.parametrize("code", sorted(MODEL))
def test_without_a_model_it_does_not_open(code: str, tmp_path: Path) -> None:
    with pytest.raises(MemoryFault, match=rf"^{code} needs a model: set judge\.name"):
        conditions()[code].open(Opening(tmp_path))


def test_checking_leaves_out_what_it_cannot_ask_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageFault, match="B3-model: needs a model"):
        CliRunner().invoke(
            cli, ["conditions", "--check", "B0", "B3-model"], standalone_mode=False, catch_exceptions=False
        )
    known = {code: conditions()[code] for code in ("B0", "B3-model")}
    monkeypatch.setattr(command, "known_conditions", lambda: known)
    done = CliRunner().invoke(cli, ["conditions", "--check"], standalone_mode=False, catch_exceptions=False)
    assert done.return_value == COMPLETE
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["ok  B0"]
    assert "B3-model: not checked: needs a model" in done.stderr


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_every_condition_is_listed(form: tuple[str, ...]) -> None:
    done = CliRunner().invoke(list_conditions, list(form))
    assert done.exception is None
    printed = done.stdout
    listed = {card["code"] for card in json.loads(printed)} if form else {x.split()[0] for x in printed.splitlines()}
    assert listed == set(conditions())
    assert listed >= LADDER
