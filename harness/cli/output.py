"""What several commands read from a run directory, and how they read amounts; shared by the commands over runs."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

import click

from harness.ledger import Ledger
from harness.records import ArmRecord
from harness.rows import outcome_counts, rows
from harness.rundir import RunDir

__all__ = ["MONEY", "committed", "outcome_counts", "rows"]


class _Money(click.ParamType[Decimal]):
    """An amount above 0."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        try:
            amount = Decimal(str(value))
        except InvalidOperation:
            self.fail(f"{value!r} is no amount", param, ctx)
        if not amount.is_finite() or amount <= 0:
            self.fail(f"{value!r}: an amount above 0", param, ctx)
        return amount


MONEY = _Money()


def committed(folder: RunDir) -> list[ArmRecord]:
    """The newest record of every arm; none while the run has no ledger yet."""
    if not folder.ledger.exists():
        return []
    with Ledger(folder.ledger, read_only=True) as ledger:
        return list(ledger.arms())
