"""What a condition cost: tokens, calls and seconds by phase, priced by a versioned table.

Invariant: an unknown price, an unmeasured count or no success gives None, never 0; a total is None as soon as one
part of it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from analysis.explain import explain

Phase = Literal["wake", "sleep", "judge"]
PER = Decimal(1_000_000)  # prices are for a million tokens


class PriceError(ValueError):
    """A price table that cannot be used."""


class Price(BaseModel):
    """USD for a million tokens. `cached` None means that cached input has no known price of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Decimal = Field(ge=0, allow_inf_nan=False)
    output: Decimal = Field(ge=0, allow_inf_nan=False)
    cached: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)


class PriceTable(BaseModel):
    """Prices by model name, exactly as the model was asked for; `version` is printed beside every amount."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal[1] = Field(default=1, alias="schema")
    version: str = Field(min_length=1)
    model: dict[str, Price] = Field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """What one condition used of one model in one phase. Tokens and seconds are None where not measured.

    `cached_tokens` are those of `input_tokens` that the provider served from its cache.
    """

    condition: str
    phase: Phase
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None = 0
    calls: int | None = None
    seconds: float | None = None


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
    """A price table from TOML (`version`, `[model."name"]` with input, output, cached). Raises PriceError."""
    try:
        return PriceTable.model_validate(tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        raise PriceError(f"{where}: {error}") from error
    except ValidationError as error:
        raise PriceError(f"{where}: {explain(error)}") from error


def price_of(usage: Usage, table: PriceTable) -> Decimal | None:
    """USD of one usage; None for a model without a price, an unmeasured count, or cached tokens without a price."""
    price = table.model.get(usage.model)
    if price is None or usage.input_tokens is None or usage.output_tokens is None or usage.cached_tokens is None:
        return None
    if not 0 <= usage.cached_tokens <= usage.input_tokens or usage.output_tokens < 0:
        raise ValueError(f"{usage.condition}: impossible token counts")
    if usage.cached_tokens and price.cached is None:
        return None
    fresh = (usage.input_tokens - usage.cached_tokens) * price.input
    cached = usage.cached_tokens * (price.cached or Decimal(0))
    return (fresh + cached + usage.output_tokens * price.output) / PER


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
