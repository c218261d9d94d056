"""What was used of a model: is it told of everything that asked one, once, and does it fit the exchange that was kept?

Invariant: amounts are computed again from tokens by the shipped price table, and one by another table is told as not
checked, never as right; what an arm that counts used is told, however it was asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from analysis.cost import PriceTable, Usage, price_of, shipped_prices
from harness.bundle.public import SEALED
from harness.outcome import Outcome
from harness.records import ArmRecord, ModelUse, SessionRecord
from harness.verification.case import Attempt, Case
from harness.verification.check_channel import where

_BARE = {"paid_in": None}


def told(case: Case) -> Iterator[tuple[str, ModelUse]]:
    """Everything that was used, as the public records tell of it, with where it is told. What was taken over is not."""
    for (arm, _), sessions in case.sessions.items():
        yield from ((where(arm, s.record), s.record.model) for s in sessions if s.record.model and not s.record.paid_in)
    yield from ((f"{told.arm} (its memory)", told.record.asked) for told in case.arms if told.record.asked)


def use_problems(case: Case) -> Iterator[str]:
    """Who asked a model is told, what was paid for before was, and an answer that never came counts for nothing."""
    config, cards = case.stored.meaning.get("config", {}), case.stored.meaning.get("conditions", {})
    for arm in case.arms:
        asks = bool(cards.get(arm.record.condition, {}).get("needs_model"))
        yield from _asked(arm.record, asks)
    for key, sessions in case.sessions.items():
        records = [s.record for s in sessions]
        yield from _paid(case, key, records)
        yield from _troubled(case, key, records)
    most = {"session": config.get("model.calls"), "memory": config.get("judge.calls")}
    for place, use in told(case):
        if sum(entry.calls for entry in use.tokens) != use.calls:
            yield f"{place}: {use.calls} calls are told, and by model {sum(e.calls for e in use.tokens)}"
        if not use.exchange:
            yield f"{place}: what was said was not kept"
        limit = most["memory" if place.endswith("(its memory)") else "session"]
        if isinstance(limit, int) and limit and use.calls > limit:
            yield f"{place}: {use.calls} calls, and the plan allows {limit}"


def _asked(record: ArmRecord, asks: bool) -> Iterator[str]:
    none = any(ending.outcome == Outcome.UNAVAILABLE for ending in record.endings)
    if record.asked is None and asks and not none:
        yield f"{record.arm}: its memory asks a model, and nothing is told of what was used of it"
    if record.asked is not None and not asks:
        yield f"{record.arm}: its memory asked a model, and its card says that it needs none"


def _paid(case: Case, key: Attempt, records: list[SessionRecord]) -> Iterator[str]:
    """A session that an earlier attempt paid for is the one of that attempt."""
    arm, attempt = key
    for record in records:
        if record.paid_in is None:
            continue
        earlier = [s.record for s in case.sessions.get((arm, record.paid_in), ())]
        same = [r for r in earlier if (r.number, r.reader, r.paid_in) == (record.number, record.reader, None)]
        if not 0 < record.paid_in < attempt or not same:
            yield f"{where(arm, record)}: is told as paid for in attempt {record.paid_in}, which has no such session"
        elif same[0] != record.model_copy(update=_BARE):
            yield f"{where(arm, record)}: is not the session that attempt {record.paid_in} paid for"


def _troubled(case: Case, key: Attempt, records: list[SessionRecord]) -> Iterator[str]:
    """An endpoint that was down, or a relay that failed, is trouble of ours: the arm does not count."""
    ended = next((told.record for told in case.arms if (told.arm, told.attempt) == key), None)
    if ended is None or any(ending.outcome == Outcome.INVALID for ending in ended.endings):
        return
    for record in records:
        if record.model is not None and record.model.trouble:
            yield f"{where(key[0], record)}: its model gave no answer, and the arm counts"


def priced(case: Case) -> tuple[list[str], int, int]:
    """(problems, amounts that were computed again, amounts that were not) by the shipped price table."""
    table, problems, done, left = shipped_prices(), list[str](), 0, 0
    entries = list(told(case))
    if case.whole is not None:  # in the open, models that nobody configured have no name
        entries = list(_whole(case))
    for place, use in entries:
        if use.prices != table.version or any(SEALED in (entry.model, *use.unpriced) for entry in use.tokens):
            left += 1
            continue
        done += 1
        amount, unpriced = _amount(use, table)
        if (use.amount, use.unpriced) != (amount, unpriced):
            due = "no known amount" if amount is None else f"{amount:f} USD"
            problems.append(f"{place}: {use.usd or 'no known amount of'} USD are told, its tokens make {due}")
    return problems, done, left


def _whole(case: Case) -> Iterator[tuple[str, ModelUse]]:
    if case.whole is not None:
        for (arm, _), sessions in case.whole.archive.attempts.items():
            yield from ((where(arm, s), s.model) for s in sessions if s.model and not s.paid_in)
        yield from ((f"{r.arm} (its memory)", r.asked) for r in case.whole.archive.asked if r.asked)


def _amount(use: ModelUse, table: PriceTable) -> tuple[Decimal | None, tuple[str, ...]]:
    """What the tokens cost, and the models whose price or count is not known."""
    found: dict[str, Decimal | None] = {}
    for entry in use.tokens:
        usage = Usage("", "wake", entry.model, entry.input, entry.output, entry.cached, written_tokens=entry.written,
                      longest_input=entry.longest)  # fmt: skip
        found[entry.model] = price_of(usage, table)
    unknown = tuple(sorted(model for model, amount in found.items() if amount is None))
    return (None if unknown else sum((a for a in found.values() if a is not None), Decimal(0))), unknown
