"""Prices, ledgers and records for the tests of what sessions cost."""

from __future__ import annotations

from dataclasses import replace

from analysis.cost import parse_prices
from containers.relay_rules import Ledger, ModelUsage
from containers.relay_usage import Tokens
from harness.records import ArmRecord, ModelUse, SessionRecord
from harness.spending import use_of

TABLE = parse_prices(
    'version = "t-1"\n[model.m]\ninput = 2\noutput = 10\ncached = 0.5\nwritten = 3\n'
    "[model.bare]\ninput = 1\noutput = 4\n[model.short]\ninput = 1\noutput = 1\nup_to = 1000\n"
)
USED = Tokens(input=1_000_000, output=200_000, cached=400_000, written=100_000)
M = ModelUsage("m", 7, USED)


def ledger(*usage: ModelUsage, **more: object) -> Ledger:
    return replace(Ledger(calls=sum(u.calls for u in usage), usage=usage), **more)  # type: ignore[arg-type]


def m(tokens: int | None, calls: int = 1) -> Ledger:
    """So many fresh input tokens of the model at 2 USD a million; None = not known."""
    return ledger(ModelUsage("m", calls, None if tokens is None else Tokens(tokens, 0)))


def use(usd: str | None, calls: int = 1, tokens: int | None = 10, exchange: str = "") -> ModelUse:
    found = use_of(m(tokens, calls), exchange, TABLE)
    return found.model_copy(update={"usd": usd})


def session(found: ModelUse | None, paid_in: int | None = None, number: int = 1) -> SessionRecord:
    return SessionRecord(
        number=number, reader="", tree_in="", tree_out="", carried=(), memory_bytes=0, prompt="", view="",
        transcript="", exit=0, timed_out=False, hit=(), active={}, dropped=(), check=None, seconds=1.0, network="model",
        model=found, paid_in=paid_in,
    )  # fmt: skip


def arm(asked: ModelUse | None) -> ArmRecord:
    return ArmRecord(
        arm="t/B3/1/given", trap="t", construct_="C1", condition="B3", seed=1, history="given", main=True,
        expect="use", warm_up=(), carried_by_tree=(), injected=(), receipts=(), store="", shown=(), endings=(),
        seconds=1.0, attempt=1, asked=asked,
    )  # fmt: skip
