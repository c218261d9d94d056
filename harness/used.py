"""What a run used of models, from its records to the plain rows of the report.

Invariant: a session or arm that was paid for is one row, whatever became of its attempt, and one that a later attempt
took over is none; what was not recorded is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from analysis.report.source import ModelTotal, Spent, Used
from harness.archive import Archive
from harness.plan import Arm
from harness.records import ArmRecord, Ending, ModelUse, SessionRecord, uses


def used_rows(records: Sequence[ArmRecord], archive: Archive, lost: Iterable[ModelUse] = ()) -> tuple[Used, ...]:
    """Rows of every attempt: `records` are the newest of each arm, `archive` has those of all attempts, and `lost` is
    what sessions had used that were killed. Raises UsageFault for an arm whose name is none.
    """
    sessions = archive.attempts
    newest = {(record.arm, record.attempt) for record in records}
    taken = {_key(arm, told.paid_in, told) for arm, n in newest for told in sessions.get((arm, n), ()) if told.paid_in}
    found = []
    for (arm, attempt), mine in sessions.items():
        condition = Arm.parse(arm).condition
        for told in mine:
            counts = (arm, attempt) in newest or _key(arm, attempt, told) in taken
            found += [_row(condition, "wake", counts, use) for use in uses([told])]
    for record in archive.asked:
        found += [
            _row(record.condition, "sleep", (record.arm, record.attempt) in newest, use) for use in uses([record])
        ]
    return (*found, *(_row("", "wake", False, use) for use in lost))


def _key(arm: str, attempt: int | None, told: SessionRecord) -> tuple[str, int | None, int, str]:
    return arm, attempt, told.number, told.reader


def _row(condition: str, phase: Literal["wake", "sleep"], counts: bool, use: ModelUse) -> Used:
    return Used(
        condition=condition,
        phase=phase,
        counts=counts,
        calls=use.calls,
        models=tuple(ModelTotal(t.model, t.calls, t.input, t.cached, t.written, t.output) for t in use.tokens),
        usd=use.amount,
        prices=use.prices,
        unpriced=use.unpriced,
        waited=use.waited,
        wall=use.wall,
        repeats=use.repeats,
        refusals=use.refusals,
        cut=use.cut,
        pulled=use.pulled,
        hit=use.hit,
    )


def with_models(spent: Spent, record: ArmRecord, ending: Ending, sessions: Iterable[SessionRecord]) -> Spent:
    """The same with what the sessions of the arm up to this ending, and its memory, used of models.

    Sessions that an earlier attempt paid for are part of what this arm took.
    """
    mine = [session.model for session in sessions if session.reader in ("", "-", ending.reader)]
    found = [use for use in (*mine, record.asked) if use is not None]
    if not found:
        return spent
    tokens = [use.total("input", "output") for use in found]
    amounts = [use.amount for use in found]
    return replace(
        spent,
        model_tokens=None if None in tokens else sum(t for t in tokens if t is not None),
        calls=sum(use.calls for use in found),
        usd=None if None in amounts else float(sum(a for a in amounts if a is not None)),
    )
