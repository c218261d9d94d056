"""What a condition cost: tokens, calls and seconds by phase, priced by a versioned table.

Invariant: an unknown price, an unmeasured count, a prompt longer than a price holds for or no success gives None,
never 0; a total is None as soon as one part of it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from analysis.explain import explain

Phase = Literal["wake", "sleep", "judge"]
PER = Decimal(1_000_000)  # prices are for a million tokens
FILE = "prices.toml"


class PriceError(ValueError):
    """A price table that cannot be used."""


class Price(BaseModel):
    """USD for a million tokens. `cached` None means that cached input has no known price of its own.

    `written` is for input that is put into the provider's cache, for the shortest time that is sold; `up_to` says that
    the price holds for prompts of at most so many tokens; `source` and `read` say where it was found, and when.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Decimal = Field(ge=0, allow_inf_nan=False)
    output: Decimal = Field(ge=0, allow_inf_nan=False)
    cached: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)
    written: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)
    up_to: int | None = Field(default=None, gt=0)
    source: str = ""
    read: date | None = None


class PriceTable(BaseModel):
    """Prices by model name, exactly as the model was asked for; `version` is printed beside every amount."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    version: str = Field(min_length=1)
    model: dict[str, Price] = Field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """What one condition used of one model in one phase. Tokens and seconds are None where not measured.

    `cached_tokens` are those of `input_tokens` that the provider served from its cache, `written_tokens` those that it
    put there; `longest_input` is the largest prompt of a single call.
    """

    condition: str
    phase: Phase
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None = 0
    calls: int | None = None
    seconds: float | None = None
    written_tokens: int | None = 0
    longest_input: int | None = None


@dataclass(frozen=True)
class Cost:
    """Totals of one condition. USD amounts are None when any price or count is unknown; `unpriced` says whose."""

    condition: str
    tokens: int | None
    calls: int | None
    seconds: float | None
    usd: Decimal | None
    usd_per_success: Decimal | None
    successes: int
    unpriced: tuple[str, ...]
    prices: str


def parse_prices(text: str, where: str = "prices") -> PriceTable:
    """A price table from TOML (`version`, `[model."name"]` with the fields of `Price`). Raises PriceError."""
    try:
        return PriceTable.model_validate(tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        raise PriceError(f"{where}: {error}") from error
    except ValidationError as error:
        raise PriceError(f"{where}: {explain(error)}") from error


def shipped_prices() -> PriceTable:
    """The table that comes with this package; a user's own is read with `parse_prices`."""
    text = resources.files("analysis").joinpath(FILE).read_text(encoding="utf-8")
    return parse_prices(text, f"analysis/{FILE}")


def price_of(usage: Usage, table: PriceTable) -> Decimal | None:
    """USD of one usage; None for a model, a kind of tokens or a length of prompt without a price, or an unknown count.

    Raises ValueError for counts that cannot be.
    """
    counts = (usage.input_tokens, usage.cached_tokens, usage.written_tokens, usage.output_tokens)
    known = [count for count in counts if count is not None]
    price = table.model.get(usage.model)
    if len(known) < len(counts):
        return None
    whole, cached, written, output = known
    if min(known) < 0 or cached + written > whole:
        raise ValueError(f"{usage.condition}: impossible token counts")
    if price is None or _too_long(usage, price):
        return None
    parts = ((whole - cached - written, price.input), (cached, price.cached), (written, price.written))
    amounts = [_amount(*part) for part in (*parts, (output, price.output))]
    return None if None in amounts else sum((a for a in amounts if a is not None), Decimal(0)) / PER


def _amount(count: int, price: Decimal | None) -> Decimal | None:
    """Nothing costs nothing, also where the price is unknown."""
    return Decimal(0) if count == 0 else None if price is None else count * price


def _too_long(usage: Usage, price: Price) -> bool:
    """Whether a call may have had a longer prompt than the price holds for (no call had more than all together)."""
    longest = usage.input_tokens if usage.longest_input is None else usage.longest_input
    return price.up_to is not None and longest is not None and longest > price.up_to


def cost(condition: str, usages: Sequence[Usage], successes: int, table: PriceTable) -> Cost:
    """Cost of a condition over its S3 passes. Raises ValueError for usages of another condition or bad counts."""
    if any(usage.condition != condition for usage in usages) or successes < 0:
        raise ValueError(f"usages or successes that are not those of {condition}")
    amounts = [price_of(usage, table) for usage in usages]
    usd = None if None in amounts else sum((a for a in amounts if a is not None), Decimal(0))
    return Cost(
        condition=condition,
        tokens=_total(_tokens(usage) for usage in usages),
        calls=_total(usage.calls for usage in usages),
        seconds=_seconds(usages),
        usd=usd,
        usd_per_success=per_success(usd, successes),
        successes=successes,
        unpriced=tuple(sorted({u.model for u, a in zip(usages, amounts, strict=True) if a is None})),
        prices=table.version,
    )


def per_success(usd: Decimal | None, successes: int) -> Decimal | None:
    """USD for one success; None without a success or a known amount."""
    return None if usd is None or successes < 1 else usd / successes


def _tokens(usage: Usage) -> int | None:
    return _total((usage.input_tokens, usage.output_tokens))


def _total(parts: Iterable[int | None]) -> int | None:
    found = list(parts)
    known = [part for part in found if part is not None]
    return sum(known) if len(known) == len(found) else None


def _seconds(usages: Sequence[Usage]) -> float | None:
    known = [usage.seconds for usage in usages if usage.seconds is not None]
    return sum(known) if len(known) == len(usages) else None
