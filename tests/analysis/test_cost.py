"""Prices by hand, and that what is unknown stays unknown."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from analysis.cost import PriceError, Usage, cost, parse_prices

TABLE = parse_prices(
    'version = "2026-01"\n[model."m-1"]\ninput = 2\noutput = 8.5\ncached = 0.5\n[model.bare]\ninput = 1\noutput = 1\n'
)
WAKE = Usage("A", "wake", "m-1", 1_000_000, 200_000, 400_000, 7, 12.5)


def test_a_condition_by_hand() -> None:
    sleep = Usage("A", "sleep", "bare", 500_000, 0, 0, 1, 2.5)
    found = cost("A", [WAKE, sleep], 4, TABLE)
    assert found.usd == Decimal("1.2") + Decimal("0.2") + Decimal("1.7") + Decimal("0.5")
    assert found.usd_per_success == Decimal("0.9")
    assert (found.tokens, found.calls, found.seconds, found.prices) == (1_700_000, 8, 15.0, "2026-01")


@pytest.mark.parametrize(
    "usage",
    [
        replace(WAKE, model="unheard"),
        replace(WAKE, input_tokens=None),
        replace(WAKE, output_tokens=None),
        replace(WAKE, cached_tokens=None),
        replace(WAKE, model="bare"),  # cached tokens that have no price
    ],
)
def test_one_unknown_part_makes_the_total_unknown(usage: Usage) -> None:
    found = cost("A", [WAKE, usage], 4, TABLE)
    assert (found.usd, found.usd_per_success) == (None, None)
    assert found.unpriced == (usage.model,)


def test_no_success_has_no_price() -> None:
    assert cost("A", [WAKE], 0, TABLE).usd_per_success is None
    assert cost("A", [], 3, TABLE).usd == 0
    assert cost("A", [replace(WAKE, calls=None)], 1, TABLE).calls is None


def test_impossible_counts_and_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="impossible"):
        cost("A", [replace(WAKE, cached_tokens=2_000_000)], 1, TABLE)
    with pytest.raises(ValueError, match="not those of B"):
        cost("B", [WAKE], 1, TABLE)
    for text in (
        "",
        'version = "1"\n[model.m]\ninput = -1\noutput = 1',
        'version = "1"\n[model.m]\ninput = nan\noutput = 1',
    ):
        with pytest.raises(PriceError, match="here"):
            parse_prices(text, "here")
