"""`dreambench conditions` shows each card: version, what it shows, and what should be known of it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from harness.cli.conditions import card_line
from harness.cli.conditions import conditions as list_conditions
from memory_probe.ladder import conditions
from memory_probe.protocol import Card

LADDER = {"B0", "B1", "B2", "B3", "B4", "B5", "B5-paper", "B5-recency", "B5-bm25", "B6", "B7", "ALL"}


def test_a_line_holds_everything_on_the_card() -> None:
    card = Card("X1", "a title", "1.2", ("dates", "tasks"), needs_model=True, repaired=True)
    assert card_line(card) == "X1               1.2                a title [dates, tasks; repaired, needs a model]"
    assert card_line(Card("X2", "plain", "1")) == "X2               1                  plain"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_every_condition_is_listed(form: tuple[str, ...]) -> None:
    done = CliRunner().invoke(list_conditions, list(form))
    assert done.exception is None
    printed = done.stdout
    listed = {card["code"] for card in json.loads(printed)} if form else {x.split()[0] for x in printed.splitlines()}
    assert listed == set(conditions())
    assert listed >= LADDER
