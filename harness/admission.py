"""Check a trap: the static gates, then everything that has to be run to be believed.

Invariant: a gate reports what it saw and never mends or guesses; every run happens in a sandbox, on a draw of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from containers.sandbox import Sandbox, SandboxError
from harness.config import RunConfig
from harness.delta import Change, changes, classify
from harness.draw import Draw
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.outcome import Fault, Outcome
from harness.records import ArmRecord
from harness.run import Prepared, execute, prepare
from harness.score import Scorer
from harness.snapshot import Entry
from oracles.folder import MUTATED, NOTHING
from oracles.solutions import Expectation, SolutionError
from traps.gates import Problem, static_problems
from traps.load import Trap
from traps.schema import History, TrapError

_INSTRUMENTS = ("B0", "EVIDENCE", "POISON")


@dataclass(frozen=True)
class Seen:
    """What one solution was declared to get in one history, and what it got."""

    solution: str
    history: str
    declared: str
    got: str
    cause: str


@dataclass(frozen=True)
class Report:
    """The problems of a trap, the solutions as seen, and one line of evidence."""

    trap: str
    problems: tuple[Problem, ...]
    seen: tuple[Seen, ...]
    evidence: str


def check_trap(config: RunConfig, trap: Trap, sandbox: Sandbox) -> Report:
    """Run every gate on one trap. Raises UsageFault only for what keeps the check itself from running."""
    problems = list(static_problems(trap))
    seen: list[Seen] = []
    instruments = config.model_copy(
        update={"traps": (trap.id,), "conditions": _INSTRUMENTS, "seeds": 1, "readers": ("careful",), "facts_from": ""}
    )
    with tempfile.TemporaryDirectory() as folder:
        ready = prepare(instruments, Path(folder) / "run")
        execute(ready, lambda record: None, sandbox=sandbox)
        with Ledger(ready.folder.ledger, read_only=True) as ledger:
            records = list(ledger.arms())
            starts = {r.history: _start(ledger, ready, r) for r in records if r.condition == "EVIDENCE"}
        problems += instrument_problems(trap, records)
        try:
            seen = list(_solutions(ready, trap, sandbox, starts))
        except (Fault, SandboxError, SolutionError, TrapError) as error:
            problems.append(Problem("wrong answers", "oracle", str(error)))
    problems += [
        Problem(
            "wrong answers", f"solutions/{s.solution} ({s.history})", f"declared {s.declared}, got {s.got}: {s.cause}"
        )
        for s in seen
        if s.declared != s.got
    ]
    right = sum(s.declared == s.got for s in seen)
    evidence = f"{right} of {len(seen)} solutions as declared, {len(records)} instrument arms"
    return Report(trap.id, tuple(problems), tuple(seen), evidence)


def instrument_problems(trap: Trap, records: Iterable[ArmRecord]) -> Iterator[Problem]:
    """The gates reference, no memory, bad memory and solvable, from arms of the instruments."""
    for record in records:
        where = f"{record.condition}/{record.history}"
        if not all(record.warm_up):
            yield Problem("reference", where, f"public checks of S1, S2: {record.warm_up}")
        if record.carried_by_tree:
            yield Problem("leak", where, f"the S3 tree holds {', '.join(record.carried_by_tree)}")
        for ending in record.endings:
            passed = ending.outcome == Outcome.PASS
            if ending.outcome == Outcome.INVALID:
                yield Problem("reference", where, f"{ending.boundary}: {ending.cause}")
            elif record.condition == "EVIDENCE" and not passed:
                yield Problem("solvable", where, f"{ending.outcome.value}: {ending.cause}")
            elif record.condition == "B0" and passed != (record.expect == "abstain"):
                yield Problem("no memory", where, f"{ending.outcome.value}: {ending.cause}")
            elif record.condition == "POISON" and passed and trap.has_poison():
                yield Problem("bad memory", where, "passes on poison")


def _start(ledger: Ledger, ready: Prepared, record: ArmRecord) -> Mapping[bytes, Entry] | None:
    """The S3 start tree of an arm; None when it never got there."""
    last = [s for s in ledger.sessions(record.arm, record.attempt) if s.number == 3]
    return ObjectStore(ready.folder.objects).get(last[0].tree_in) if last else None


def _solutions(
    ready: Prepared, trap: Trap, sandbox: Sandbox, starts: Mapping[str, Mapping[bytes, Entry] | None]
) -> Iterator[Seen]:
    scorer = Scorer(sandbox, ready.plan, ready.config)
    draw = ready.draws[trap.id, ready.plan.seeds[0]]
    for history in trap.spec.history:
        start = starts.get(history.name)
        if start is None:
            raise SolutionError(f"S3 of {history.name} was never reached")
        for row in ready.plan.oracles[trap.id].expectations:
            if row.history in (None, history.name) and not (row.name == MUTATED and history.expect != "use"):
                yield _try(ready, scorer, trap, history, draw, start, row)


def _try(
    ready: Prepared,
    scorer: Scorer,
    trap: Trap,
    history: History,
    draw: Draw,
    start: Mapping[bytes, Entry],
    row: Expectation,
) -> Seen:
    shown = draw
    if row.name == NOTHING:
        tree = dict(start)
    else:
        chosen = row
        if row.name == MUTATED:
            chosen = ready.plan.oracles[trap.id].reference(history.name)
            shown = replace(draw, facts=mutate(trap, draw))
        tree = scorer.solved(trap, history, shown, start, chosen)
    found: list[Change] = changes(start, tree)
    delta = classify(found, trap.spec.allow, trap.fixture.spec.roots)
    ending = scorer.end(trap, history, draw, "-", start, delta)
    return Seen(row.name, history.name, row.outcome, ending.outcome.value, ending.cause)


def mutate(trap: Trap, draw: Draw) -> dict[str, str]:
    """The facts with the last letter or digit of every token changed."""
    changed = dict(draw.facts)
    for name, fact in trap.spec.facts.items():
        if fact.kind == "token":
            last = changed[name][-1]
            changed[name] = changed[name][:-1] + ("1" if last != "1" else "2")
    return changed
