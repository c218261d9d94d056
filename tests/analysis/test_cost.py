"""Prices by hand, and that what is unknown stays unknown."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from analysis.cost import PriceError, Usage, cost, parse_prices, price_of, shipped_prices

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


TIERED = parse_prices('version = "1"\n[model.m]\ninput = 2\ncached = 1\nwritten = 4\noutput = 10\nup_to = 1000\n')
CALLS = Usage("A", "wake", "m", 5_000, 300, 1_000, 7, written_tokens=2_000, longest_input=1_000)


def test_what_is_written_to_a_cache_has_a_price_of_its_own() -> None:
    assert price_of(CALLS, TIERED) == Decimal(2_000 * 2 + 1_000 * 1 + 2_000 * 4 + 300 * 10) / 1_000_000
    bare = parse_prices('version = "1"\n[model.m]\ninput = 2\noutput = 1\ncached = 1\n')
    assert price_of(CALLS, bare) is None
    assert price_of(replace(CALLS, written_tokens=None), TIERED) is None
    assert price_of(replace(CALLS, written_tokens=0), bare) == Decimal(4_000 * 2 + 1_000 + 300) / 1_000_000
    with pytest.raises(ValueError, match="impossible"):
        price_of(replace(CALLS, written_tokens=4_001), TIERED)


def test_a_price_holds_for_prompts_up_to_a_length() -> None:
    assert price_of(replace(CALLS, longest_input=1_001), TIERED) is None
    # without the longest, all together is the bound that is known
    assert price_of(replace(CALLS, longest_input=None), TIERED) is None
    short = replace(CALLS, input_tokens=1_000, cached_tokens=0, written_tokens=0, longest_input=None)
    assert price_of(short, TIERED) == Decimal(1_000 * 2 + 300 * 10) / 1_000_000


def test_every_shipped_price_has_a_source_and_a_day() -> None:
    table = shipped_prices()
    assert date.fromisoformat(table.version) >= max(price.read or date.max for price in table.model.values())
    for name, price in table.model.items():
        assert price.source.startswith("https://"), name
        assert price.input < price.output, name
        assert price.cached is None or price.cached < price.input, name
        assert price.written is None or price.input < price.written < 2 * price.input, name
    used = Usage("A", "wake", "gpt-5.6-luna", 1_000_000, 100_000, 500_000, 9, longest_input=200_000)
    assert price_of(used, table) == Decimal("0.10") + Decimal("0.01") + Decimal("0.12")
    assert price_of(replace(used, model="gpt-of-tomorrow"), table) is None
