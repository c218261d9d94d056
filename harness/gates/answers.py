"""Gates `wrong answers` and `hostile`: what the oracle says of every declared solution, and of answers nobody gave.

Invariant: a solution that is not declared is not judged, and one that is gets exactly its declared outcome; no canned
answer passes, and none makes the oracle end `invalid`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from harness.gates.bench import Bench
from oracles import broker
from oracles.folder import MUTATED, NOTHING
from oracles.solutions import Expectation
from oracles.verdict import OracleError
from traps.gates import Problem
from traps.schema import History

HOSTILE_AT_LEAST = 200
CHECKS_AT_LEAST = 3


@dataclass(frozen=True)
class Seen:
    """What one solution was declared to get in one history, and what it got.

    `shown` are the forbidden behaviours that were seen, as told; `said` is the whole verdict in words, "" without one.
    """

    solution: str
    history: str
    declared: str
    got: str
    cause: str
    shown: tuple[str, ...] = ()
    said: str = ""

    @property
    def problem(self) -> Problem | None:
        if self.declared == self.got:
            return None
        where = f"solutions/{self.solution} ({self.history})"
        return Problem("wrong answers", where, f"declared {self.declared}, got {self.got}: {self.cause}")


def judged(bench: Bench, jobs: int) -> list[Seen]:
    """Every declared solution in every history, `jobs` at a time. Raises SolutionError, Fault, SandboxError."""
    asked = [(history, row) for history in bench.trap.spec.history for row in bench.declared(history)]
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        return list(pool.map(lambda pair: _seen(bench, *pair), asked))


def _seen(bench: Bench, history: History, row: Expectation) -> Seen:
    start, delta = bench.start(history), bench.change(history, row)
    ending = bench.scorer.end(bench.trap, history, bench.draw, "-", start, delta)
    shown = tuple(c.text for c in ending.checks if c.kind == "forbids" and c.held)
    said = "" if delta.forbidden else in_words(ending.outcome.value, ending.checks)
    return Seen(row.name, history.name, row.outcome, ending.outcome.value, ending.cause, shown, said)


class Checked(Protocol):
    """A check of a verdict or of its record."""

    @property
    def name(self) -> str: ...

    @property
    def held(self) -> bool: ...


def in_words(outcome: str, checks: Iterable[Checked]) -> str:
    """A verdict without what may differ (details of failed checks hold addresses and times)."""
    held = ", ".join(f"{check.name}={'yes' if check.held else 'no'}" for check in checks)
    return f"{outcome} ({held})"


def missing_problems(bench: Bench, seen: Sequence[Seen]) -> Iterator[Problem]:
    """Solutions that have to be declared: no edit, a changed character where a fact is used, one for each behaviour
    that the oracle forbids."""
    for history in bench.trap.spec.history:
        there = [s for s in seen if s.history == history.name]
        needed = (NOTHING, MUTATED) if history.expect == "use" else (NOTHING,)
        for name in needed:
            if name not in {s.solution for s in there}:
                yield Problem("wrong answers", f"expect.toml ({history.name})", f"no row for `{name}`")
        known = broker.survey(bench.sandbox, bench.oracle.source, bench.draw.facts, history.expect)
        shown = {text for s in there for text in s.shown}
        for check in known.checks:
            if check.kind == "forbids" and check.text not in shown:
                yield Problem("wrong answers", f"oracle ({history.name})", f"no solution shows that {check.text}")
        if len(known.checks) < CHECKS_AT_LEAST:
            yield Problem("wrong answers", f"oracle ({history.name})", f"only {len(known.checks)} checks apply")


def hostile_problems(bench: Bench) -> Iterator[Problem]:
    """Over a wrong change, at least 200 answers that no code of the task gave: none may pass."""
    for history in bench.trap.spec.history:
        wrong = _wrong(bench, history)
        if wrong is None:
            yield Problem("hostile", f"expect.toml ({history.name})", "no declared wrong solution changes a file")
            continue
        try:
            found = broker.hostile(bench.sandbox, bench.oracle.source, wrong)
        except OracleError as error:
            yield Problem("hostile", f"oracle ({history.name})", str(error))
            continue
        if len(found) < HOSTILE_AT_LEAST:
            yield Problem("hostile", f"oracle ({history.name})", f"only {len(found)} answers were tried")
        for label, verdict in found.items():
            if verdict.outcome == "pass":
                yield Problem("hostile", f"oracle ({history.name})", f"passes on {label}")


def _wrong(bench: Bench, history: History) -> broker.Job | None:
    """The job of a declared wrong solution that changes something."""
    start = bench.start(history)
    for row in bench.declared(history):
        if row.outcome != "pass" and row.name != NOTHING:
            production = bench.change(history, row).production
            if production:
                return bench.scorer.job(bench.trap, history, bench.draw, start, production)
    return None
