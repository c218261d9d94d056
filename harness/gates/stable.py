"""Gate `stable`: the same change gets the same verdict, and the same arm the same outcome, wherever it is run.

Twenty scorings and two runs in sandboxes whose programs see another time zone, locale, hash seed and umask. The clock
itself cannot be moved inside a sandbox without changing the kernel's, so a look at the programs stands for it: an
oracle or playbook that asks for the time is not stable. Invariant: a difference is reported with what differed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from containers.sandbox import Channel, Result, Sandbox, Spec
from harness.gates.answers import Seen, in_words
from harness.gates.around import Around
from harness.gates.bench import Bench
from oracles import broker
from oracles.verdict import OracleError, Verdict
from traps.gates import Problem
from traps.schema import History

SCORINGS = 20
PLACES: tuple[Mapping[str, str], ...] = (
    {"TZ": "UTC0", "LC_ALL": "C", "PYTHONHASHSEED": "0", "umask": "022"},
    {"TZ": "AHEAD-13:30", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1", "umask": "077"},
    {"TZ": "BEHIND11", "LC_ALL": "POSIX", "PYTHONHASHSEED": "4242", "umask": "002"},
    {"TZ": "UTC0", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "random", "umask": "027"},
)
_CLOCKS = {"now", "today", "utcnow", "time", "time_ns", "monotonic", "localtime", "gmtime"}
_OWNERS = {"datetime", "date", "time", "dt"}


class Elsewhere(Around):
    """A sandbox whose programs find themselves in another place."""

    def __init__(self, box: Sandbox, place: Mapping[str, str]) -> None:
        super().__init__(box)
        self._umask = place["umask"]
        self._env = {name: value for name, value in place.items() if name != "umask"}

    def run(self, spec: Spec) -> Result:
        return self._box.run(self._moved(spec))

    def talk(self, spec: Spec) -> Channel:
        return self._box.talk(self._moved(spec))

    def _moved(self, spec: Spec) -> Spec:
        command = ("sh", "-c", f'umask {self._umask}; exec "$@"', "sh", *spec.command)
        return replace(spec, command=command, env={**spec.env, **self._env})


def scoring_problems(bench: Bench, before: Sequence[Seen], elsewhere: int, jobs: int) -> Iterator[Problem]:
    """The reference and a wrong solution, scored in turn in every place, so that there are SCORINGS with those made.

    `before` has one scoring of each at home; `elsewhere` is how many more there were: other places, other draws.
    """
    known = {(s.history, s.solution): s.said for s in before if s.said}
    for history in bench.trap.spec.history:
        asked = _jobs(bench, history)
        share = max((SCORINGS - elsewhere) // (len(asked) * len(bench.trap.spec.history)), 2)
        told = {name: [known[history.name, name]] if (history.name, name) in known else [] for name in asked}
        turns = [(name, number) for name in asked for number in range(len(told[name]), share)]
        with ThreadPoolExecutor(max(jobs, 1)) as pool:
            verdicts = pool.map(lambda turn, asked=asked: _score(bench, asked[turn[0]], turn[1]), turns)
            for (name, _), verdict in zip(turns, verdicts, strict=True):
                told[name].append(verdict)
        for name, seen in told.items():
            if len(set(seen)) > 1:
                where = f"solutions/{name} ({history.name})"
                yield Problem("stable", where, "not always the same verdict: " + " | ".join(sorted(set(seen))))


def clock_problems(programs: Mapping[str, str]) -> Iterator[Problem]:
    """Programs (source by name) that ask for the time."""
    for name, source in programs.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and node.attr in _CLOCKS and _owner(node.value) in _OWNERS:
                yield Problem("stable", f"{name}:{node.lineno}", f"asks for the time ({ast.unparse(node)})")


def _owner(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _jobs(bench: Bench, history: History) -> dict[str, broker.Job]:
    """The reference, and the first wrong solution that changes something."""
    start, found = bench.start(history), {}
    rows = [bench.oracle.reference(history.name)]
    rows += [r for r in bench.declared(history) if r.outcome != "pass" and not r.automatic][:1]
    for row in rows:
        production = bench.change(history, row).production
        if production:
            found[row.name] = bench.scorer.job(bench.trap, history, bench.draw, start, production)
    return found


def _score(bench: Bench, job: broker.Job, number: int) -> str:
    """The verdict in words, in the place whose turn it is."""
    box = Elsewhere(bench.sandbox, PLACES[number % len(PLACES)])
    try:
        verdict: Verdict = broker.score(box, bench.oracle.source, job)
    except OracleError as error:
        return f"invalid ({error})"
    return in_words(verdict.outcome, verdict.checks)
