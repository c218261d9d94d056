"""What every running gate works with: one trap, one draw, a scorer, the start trees of S3, the stored solutions.

Invariant: nothing of a trap is run but in a sandbox, and the facts are of a draw made for this check alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from containers.sandbox import Sandbox
from harness.delta import Change, Delta, changes, classify
from harness.draw import Draw
from harness.run import Prepared
from harness.score import Scorer
from harness.snapshot import Entry
from oracles.folder import MUTATED, NOTHING, OracleFolder
from oracles.solutions import Expectation, SolutionError
from traps.load import Trap
from traps.schema import History

Start = Mapping[bytes, Entry]


@dataclass(frozen=True)
class Bench:
    """One trap under check. `starts` are the S3 start trees by history, where a session got so far."""

    trap: Trap
    ready: Prepared
    sandbox: Sandbox
    scorer: Scorer
    starts: Mapping[str, Start | None]

    @property
    def draw(self) -> Draw:
        return self.ready.draws[self.trap.id, self.ready.plan.seeds[0]]

    @property
    def oracle(self) -> OracleFolder:
        return self.ready.plan.oracles[self.trap.id]

    def start(self, history: History) -> Start:
        """Raises SolutionError when no arm reached S3."""
        found = self.starts.get(history.name)
        if found is None:
            raise SolutionError(f"S3 of {history.name} was never reached")
        return found

    def declared(self, history: History) -> Iterator[Expectation]:
        """What is declared for a history; the changed token only where one is due."""
        for row in self.oracle.expectations:
            if row.history in (None, history.name) and not (row.name == MUTATED and history.expect != "use"):
                yield row

    def change(self, history: History, row: Expectation) -> Delta:
        """The S3 change of a declared solution, sorted by path."""
        start = self.start(history)
        if row.name == NOTHING:
            return self.sorted([])
        shown, chosen = self.draw, row
        if row.name == MUTATED:
            chosen = self.oracle.reference(history.name)
            shown = replace(self.draw, facts=mutate(self.trap, self.draw))
        return self.sorted(changes(start, self.scorer.solved(self.trap, history, shown, start, chosen)))

    def sorted(self, found: list[Change]) -> Delta:
        return classify(found, self.trap.spec.allow, self.trap.fixture.spec.roots)


def mutate(trap: Trap, draw: Draw) -> dict[str, str]:
    """The facts with the last letter or digit of every token changed."""
    changed = dict(draw.facts)
    for name, fact in trap.spec.facts.items():
        if fact.kind == "token":
            last = changed[name][-1]
            changed[name] = changed[name][:-1] + ("1" if last != "1" else "2")
    return changed
