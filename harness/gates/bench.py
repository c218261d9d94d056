"""What every running gate works with: one trap, one draw, a scorer, the start trees of S3, the stored solutions.

Invariant: nothing of a trap is run but in a sandbox, and the facts are of a draw made for this check alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from containers.sandbox import Sandbox
from harness.config import RunConfig
from harness.delta import Change, Delta, changes, classify
from harness.draw import Draw
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.records import ArmRecord
from harness.run import Prepared, execute
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
        if row.name == NOTHING:
            return self.sorted([])
        return self.sorted(changes(self.start(history), self.tree(history, row)))

    def tree(self, history: History, row: Expectation) -> Start:
        """The S3 tree with a declared solution over it, tests and all."""
        start, shown, chosen = self.start(history), self.draw, row
        if row.name == MUTATED:
            chosen = self.oracle.reference(history.name)
            shown = replace(self.draw, facts=mutate(self.trap, self.draw))
        return self.scorer.solved(self.trap, history, shown, start, chosen)

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


def narrowed(config: RunConfig, trap: Trap, codes: tuple[str, ...], seeds: int) -> RunConfig:
    """The configuration for instruments over one trap: the careful reader, fresh facts, nothing else recorded."""
    wanted = {"traps": (trap.id,), "conditions": codes, "seeds": seeds, "first_seed": 1, "readers": ("careful",),
              "facts_from": "", "haystack": 0, "family": "", "fold": ""}  # fmt: skip
    return config.model_copy(update=wanted)


def ran(
    ready: Prepared, sandbox: Sandbox, scorer: Scorer | None = None, checked: Collection[int] = (1, 2)
) -> list[ArmRecord]:
    """Every arm of a prepared run, finished. Raises as `execute`.

    S3's public check is asked of the reference alone (gate `reference`), so it is not run here.
    """
    execute(ready, lambda record: None, sandbox=sandbox, unavailable={}, checked=checked, scorer=scorer)
    with Ledger(ready.folder.ledger, read_only=True) as ledger:
        return list(ledger.arms())


def starts(ready: Prepared, records: Sequence[ArmRecord]) -> Mapping[str, Start | None]:
    """The S3 start tree of each history, from its first EVIDENCE arm; None when that arm did not get there."""
    found: dict[str, Start | None] = {}
    with Ledger(ready.folder.ledger, read_only=True) as ledger:
        for record in records:
            if record.condition == "EVIDENCE" and record.history not in found:
                last = [s for s in ledger.sessions(record.arm, record.attempt) if s.number == 3]
                store = ObjectStore(ready.folder.objects)
                found[record.history] = store.get(last[0].tree_in) if last else None
    return found
