"""Gates that watch the careful reader do the work under chosen views: no memory, bad memory, solvable, single event.

Views are of instruments: what the trap needs, only what must not be used, every event, or one event alone. Invariant:
an arm that ends `invalid` is a problem of its own and answers no other question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from harness.draw import Draw
from harness.outcome import Outcome
from harness.records import ArmRecord, Ending
from memory_probe.baselines import FixedItems
from memory_probe.ladder import conditions
from memory_probe.opening import Condition, Opening
from memory_probe.protocol import Card, Memory
from traps.gates import Problem
from traps.load import Trap

EVERY, ONLY = "EVERY", "ONLY-"
_PLAIN = ("B0", "EVIDENCE", "POISON")
_CAPABILITIES = ("dates", "scopes")


def instruments(trap: Trap) -> dict[str, Condition]:
    """The conditions that a trap is checked with: the fold's instruments, every event, and each event alone."""
    known = conditions()
    found = {code: known[code] for code in _PLAIN}
    every = Card(EVERY, "instrument: every event of the history", "1", _CAPABILITIES, instrument=True)
    found[EVERY] = Condition(every, lambda opening: FixedItems(every, tuple(opening.told.values())))
    for event in trap.spec.event:
        card = Card(f"{ONLY}{event.id}", "instrument: one event alone", "1", _CAPABILITIES, instrument=True)
        found[card.code] = Condition(card, _only(card, event.id))
    return found


def _only(card: Card, event: str) -> Callable[[Opening], Memory]:
    def open_it(opening: Opening) -> Memory:
        return FixedItems(card, tuple(item for id_, item in opening.told.items() if id_ == event))

    return open_it


def covering(trap: Trap, first: Draw, draws: Mapping[tuple[str, int], Draw]) -> dict[tuple[str, int], Draw]:
    """The draws with every choice set so that they and the `first` one have all of its variants."""
    others = {
        name: [variant for variant in fact.variants if variant != first.facts[name]]
        for name, fact in trap.spec.facts.items()
        if fact.kind == "choice"
    }
    found = {}
    for number, (key, draw) in enumerate(draws.items()):
        chosen = {name: left[number % len(left)] for name, left in others.items()}
        found[key] = replace(draw, facts={**draw.facts, **chosen})
    return found


def further(trap: Trap) -> int:
    """How many draws beside the first it takes to meet every variant of every choice; 0 without choices."""
    return max((len(f.variants) - 1 for f in trap.spec.facts.values() if f.kind == "choice"), default=0)


def instrument_problems(trap: Trap, records: Iterable[ArmRecord]) -> Iterator[Problem]:
    """The gates reference, leak (by the tree), no memory, bad memory, solvable and single event."""
    for record in records:
        where = f"{record.condition}/{record.history}"
        if not all(record.warm_up):
            yield Problem("reference", where, f"public checks of S1, S2: {record.warm_up}")
        if record.carried_by_tree:
            yield Problem("leak", where, f"the S3 tree holds {', '.join(record.carried_by_tree)}")
        for ending in record.endings:
            if ending.outcome == Outcome.INVALID:
                yield Problem("reference", where, f"{ending.boundary}: {ending.cause}")
            elif problem := _problem(trap, record, ending):
                yield Problem(problem[0], where, problem[1])


def _problem(trap: Trap, record: ArmRecord, ending: Ending) -> tuple[str, str] | None:
    """(gate, what was seen) of an ending that speaks against the trap."""
    passed, says = ending.outcome == Outcome.PASS, f"{ending.outcome.value}: {ending.cause}"
    if record.condition in ("EVIDENCE", EVERY):
        return None if passed else ("solvable", f"seed {record.seed}: {says}")
    if record.condition == "B0":
        return None if passed == (record.expect == "abstain") else ("no memory", says)
    if record.condition == "POISON":
        return ("bad memory", "passes on poison") if passed and trap.has_poison() else None
    event = record.condition.removeprefix(ONLY)
    return ("single event", f"{event} alone suffices") if passed and event in forbidden_alone(trap, record) else None


def forbidden_alone(trap: Trap, record: ArmRecord) -> set[str]:
    """Events that may not suffice by themselves: in synthesis any, under supersession and contradiction all but the
    governing ones."""
    if record.expect != "use":
        return set()
    roles = trap.history(record.history).roles
    if trap.construct == "C7" or trap.spec.evidence == "synthesis":
        return set(roles)
    if trap.construct in ("C3", "C6"):
        return {event for event, role in roles.items() if role != "governing"}
    return set()


def sufficient(records: Iterable[ArmRecord]) -> tuple[str, ...]:
    """Events with which alone S3 passes where the evidence is to be used: what the published rule would reject."""
    return tuple(
        f"{record.condition.removeprefix(ONLY)} ({record.history})"
        for record in records
        if record.condition.startswith(ONLY) and record.expect == "use"
        if any(ending.outcome == Outcome.PASS for ending in record.endings)
    )
