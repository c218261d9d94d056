"""The conformance probes: each opens a condition in folders of its own, and returns what it saw or raises.

Invariant: a probe never passes for want of something to see; a memory that keeps nothing, and says so for every
event, is not applicable.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from memory_probe.conformance_bench import (
    SETTLE_SECONDS,
    Bench,
    Failed,
    NotApplicable,
    need,
    shown_texts,
    tell,
    texts_of,
)
from memory_probe.conformance_world import FIRST, HARD, MARKS, NOW, QUERY, WIDE, session, story
from memory_probe.protocol import Budget, MemoryFault, Receipt, Unlisted, count_tokens

T = TypeVar("T")
Probe = Callable[[Bench], str]


def byte_exact(bench: Bench) -> str:
    """Every hard text comes back byte for byte, whole or in consecutive pieces; a selective memory, which is told one
    text a namespace, may name it as left out instead, but not most of them. Of a memory that rewrites, it is the texts
    that its receipts name that must come back."""
    if bench.claims("rewrites"):
        return _as_written(bench)
    selective = bench.claims("selective")
    batches = [{name: text} for name, text in HARD.items()] if selective else [HARD]
    kept: list[str] = []
    for place, batch in enumerate(batches):
        memory = bench.open(f"hard-{place}")
        try:
            receipts = tell(bench, memory, session(1, FIRST, *batch.values()))
        except NotApplicable:
            if not selective:
                raise
            continue
        held = texts_of(memory)
        for name, text in batch.items():
            if text in "".join(held):
                kept.append(name)
            else:
                need(selective, f"the text with {name} does not come back as it was told")
                _named(name, text, held, receipts)
    need(len(kept) * 2 > len(HARD), f"only {', '.join(kept) or 'nothing'} came back")
    return f"{len(kept)} of {len(HARD)} hard texts byte for byte, the others named as left out"


def _as_written(bench: Bench) -> str:
    count = 0
    for place, (name, text) in enumerate(HARD.items()):
        memory = bench.open(f"hard-{place}")
        try:
            receipts = tell(bench, memory, session(1, FIRST, text))
        except NotApplicable:
            continue
        held = texts_of(memory)
        for written in (r.text for r in receipts if r.status == "ok"):
            need(written in held, f"what was written of the text with {name} does not come back byte for byte")
            count += 1
    need(count * 2 > len(HARD), f"only {count} of {len(HARD)} texts were written down")
    return f"{count} texts in its own words, each held byte for byte as its receipt says"


def _named(name: str, text: str, held: list[str], receipts: list[Receipt]) -> None:
    """Every line of the text is held or is in a receipt that says why it is not."""
    left = [r.text for r in receipts if r.status == "rejected" and r.why]
    for line in text.splitlines(keepends=True):
        found = any(line in one for one in (*held, *left))
        need(found, f"the text with {name} neither comes back as it was told nor is named as left out")


def isolated(bench: Bench) -> str:
    """Nothing of one namespace is held or shown in another."""
    one, other = bench.open("one"), bench.open("two")
    tell(bench, one, *story())
    for memory in (other, bench.open("three")):
        need(not texts_of(memory), "a fresh namespace holds records of another")
        need(not memory.read(QUERY, WIDE).items, "a fresh namespace shows items of another")
    return "a namespace opened before and one opened after hold nothing"


def restarted(bench: Bench) -> str:
    """After closing, the same namespace holds and shows the same texts."""
    memory = bench.open("same")
    tell(bench, memory, *story())
    held, shown = texts_of(memory), shown_texts(memory.read(QUERY, WIDE))
    need(bool(held), "nothing is held")
    bench.opened.remove(memory)
    memory.close()
    again = bench.open("same")
    need(sorted(texts_of(again)) == sorted(held), "the records are not the same after a restart")
    need(shown_texts(again.read(QUERY, WIDE)) == shown, "the view is not the same after a restart")
    return f"{len(held)} records, {len(shown)} items"


def frozen(bench: Bench) -> str:
    """The frozen files, opened elsewhere, show the same texts."""
    memory = bench.open("live")
    tell(bench, memory, *story())
    shown = shown_texts(memory.read(QUERY, WIDE))
    for name, data in memory.freeze().items():
        target = bench.root / "copy" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    need(shown_texts(bench.open("copy").read(QUERY, WIDE)) == shown, "the frozen store shows something else")
    return f"{len(shown)} items"


def ordered_and_dated(bench: Bench) -> str:
    """Records are listed in the order told; a date shown is the right one, and is shown if the card claims dates."""
    memory = bench.open("order")
    tell(bench, memory, *story())
    marks = list(MARKS.values())
    held = [[m for m in marks if m in text] for text in texts_of(memory)]
    alone = [found[0] for found in held if len(found) == 1]
    need(alone == sorted(alone, key=marks.index), "records are not listed in the order told")
    for item in memory.read(QUERY, WIDE).items:
        told = [date for date, mark in MARKS.items() if mark in item.text]
        need(item.date is not None or not bench.claims("dates"), "an item has no date, though the card claims dates")
        if told and item.date is not None:
            need(item.date == max(told), f"an item of {max(told)} shows the date {item.date}")
    return "order and dates as told"


def reads_its_writes(bench: Bench) -> str:
    """After settling and sleeping, each session's event is in the view that asks for it."""
    memory = bench.open("writes")
    for episode in story():
        tell(bench, memory, episode)
        mark = MARKS[episode.date]
        shown = memory.read(QUERY, WIDE).items
        need(any(mark in item.text for item in shown), f"session {episode.number} is not in the view after settling")
    return "each session is shown once it is settled"


def loud(bench: Bench) -> str:
    """A damaged store raises MemoryFault when it is opened or read."""
    memory = bench.open("hurt")
    tell(bench, memory, *story())
    bench.opened.remove(memory)
    memory.close()
    files = [path for path in sorted((bench.root / "hurt").rglob("*")) if path.is_file()]
    need(bool(files), "nothing is stored in the namespace")
    for path in files:
        path.write_bytes(b"\x00not a store\n" * 400)
    try:
        view = bench.open("hurt").read(QUERY, WIDE)
    except MemoryFault as error:
        return str(error)
    raise Failed(f"a damaged store was read as {len(view.items)} items")


def honest(bench: Bench) -> str:
    """No item shows a field that the card does not claim."""
    memory = bench.open("fields")
    tell(bench, memory, *story())
    for item in memory.read(QUERY, WIDE).items:
        shown = {
            "dates": item.date is not None,
            "types": item.type is not None,
            "scopes": bool(item.scope.files or item.scope.symbols),
            "tasks": bool(item.scope.task) and not bench.claims("scopes"),
            "state": item.state not in (None, "unknown"),
            "successor": item.successor is not None,
            "provenance": item.provenance is not None,
        }
        false = [name for name, there in shown.items() if there and not bench.claims(name)]
        need(not false, f"an item shows {', '.join(false)}, which the card does not claim")
    return f"claims {', '.join(bench.condition.card.capabilities) or 'nothing'} and shows no more"


def lists_states(bench: Bench) -> str:
    """What is replaced or deleted leaves the short listing and stays in the full one, with its state."""
    memory = bench.open("states")
    tell(bench, memory, *story())
    short, full = memory.records(include_inactive=False), memory.records(include_inactive=True)
    if isinstance(short, Unlisted) or isinstance(full, Unlisted):
        return "the store cannot be listed, and says so"
    rest = list(full)
    for record in short:
        need(record.state in ("active", "unknown"), f"a {record.state} record is listed among those in force")
        need(record in rest, "a record in force is missing from the full listing")
        rest.remove(record)
    need(bool(rest) or bool(texts_of(memory)), "nothing is listed")
    return f"{len(rest)} records out of force"


def within_budget(bench: Bench) -> str:
    """A view holds neither more than k items nor more words than the budget, and never a shortened record."""
    memory = bench.open("budget")
    texts = [f"beds {n} {'seed ' * 30}beds {n} end" for n in range(4)]
    tell(bench, memory, *(session(n, FIRST, text) for n, text in enumerate(texts, 1)))
    held = texts_of(memory)
    for budget in (Budget(2, 1200), Budget(6, 100), Budget(6, 5), Budget(1, 1)):
        items = memory.read(QUERY, budget).items
        used = sum(count_tokens(item.text) for item in items)
        need(used <= budget.tokens, f"{used} words for a budget of {budget.tokens}")
        need(len(items) <= (budget.k or 0) or bench.claims("no-k"), f"{len(items)} items for k = {budget.k}")
        need(all(item.text in held for item in items), "an item is not the whole text of a record")
    return "four budgets kept"


def repeatable(bench: Bench) -> str:
    """Two runs over the same history give the same view: items, order and every field. Where a model is asked, a
    difference is its own: it is shown and decides nothing."""
    views = []
    for name in ("once/own", "twice/own"):
        memory = bench.open(name)
        tell(bench, memory, *story())
        views.append(memory.read(QUERY, WIDE).items)
    if views[0] != views[1]:
        need(bench.condition.card.needs_model, "two runs over the same history give different views")
        raise NotApplicable("two runs over the same history give different views: a model was asked twice")
    return f"{len(views[0])} items, the same twice"


def measured(bench: Bench) -> str:
    """Latency of each call and the size of the store are measured; a call over the limit fails."""
    memory = bench.open("measured")
    first, second = story()
    _timed(bench, "record", lambda: memory.record(first))
    _timed(bench, "settle", lambda: memory.settle(SETTLE_SECONDS))
    _timed(bench, "sleep", lambda: memory.sleep(NOW))
    _timed(bench, "record again", lambda: memory.record(second))
    _timed(bench, "settle again", lambda: memory.settle(SETTLE_SECONDS))
    _timed(bench, "read", lambda: memory.read(QUERY, WIDE))
    files = _timed(bench, "freeze", memory.freeze)
    bench.figures["bytes"] = float(sum(len(data) for data in files.values()))
    late = [
        f"{what} took {value:.2f} s" for what, value in bench.figures.items() if what != "bytes" and value > bench.slow
    ]
    need(not late, "; ".join(late))
    return ", ".join(f"{what} {value:.4g}{'' if what == 'bytes' else ' s'}" for what, value in bench.figures.items())


def _timed(bench: Bench, what: str, call: Callable[[], T]) -> T:
    begun = time.perf_counter()
    got = call()
    bench.figures[what] = time.perf_counter() - begun
    return got


PROBES: tuple[tuple[str, Probe], ...] = (
    ("byte-exact round trip", byte_exact),
    ("namespace isolation", isolated),
    ("survives a restart", restarted),
    ("survives freezing", frozen),
    ("order and dates kept", ordered_and_dated),
    ("reads its writes", reads_its_writes),
    ("no silent fallback", loud),
    ("shows only what it claims", honest),
    ("update and delete as claimed", lists_states),
    ("within the budget", within_budget),
    ("repeatable", repeatable),
    ("latency and size", measured),
)
