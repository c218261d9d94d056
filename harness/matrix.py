"""The discrimination matrix: what each declared solution of a trap gets, and whether two draws ask for two changes.

Every stored solution, no edit at all, and the reference with one character of each token changed are scored over a real
S3 start tree. Invariant: a row holds what was seen beside what was declared; nothing is left out because it fits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from containers.sandbox import Sandbox
from harness.config import RunConfig
from harness.delta import changes
from harness.gates.answers import Seen, judged
from harness.gates.bench import Bench, narrowed, ran, starts
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.outcome import Outcome
from harness.records import ArmRecord
from harness.run import prepare
from harness.score import Scorer
from oracles.folder import MUTATED, NOTHING
from traps.load import Trap
from traps.schema import History

REFERENCE = "reference"


@dataclass(frozen=True)
class Row:
    """One trap in one history.

    seen       every declared solution with its outcome
    fresh      whether the evidence of two draws led to two different S3 changes; None where no token is due
    unsolved   arms with the evidence that did not pass, in words
    """

    trap: str
    history: str
    seen: tuple[Seen, ...]
    fresh: bool | None
    unsolved: tuple[str, ...] = ()

    @property
    def wrong(self) -> tuple[str, ...]:
        """What is not as declared, one text each; none in a sound trap."""
        found = [f"{s.solution}: declared {s.declared}, got {s.got} ({s.cause})" for s in self.seen if s.problem]
        same = ["the same S3 change for two draws"] * (self.fresh is False)
        return (*found, *self.unsolved, *same)


def matrix(config: RunConfig, traps: Iterable[Trap], sandbox: Sandbox) -> Iterator[Row]:
    """The rows of every trap, in the order given. Raises Fault, SandboxError, SolutionError, TrapError."""
    inner = config.model_copy(update={"jobs": 1})
    with ThreadPoolExecutor(config.workers) as pool:
        running = [pool.submit(rows, inner, trap, sandbox) for trap in traps]
        try:
            for done in running:
                yield from done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def rows(config: RunConfig, trap: Trap, sandbox: Sandbox) -> tuple[Row, ...]:
    """One row a history. The start trees come from two EVIDENCE arms, each with a draw of its own."""
    with tempfile.TemporaryDirectory() as name:
        ready = prepare(narrowed(config, trap, ("EVIDENCE",), 2), Path(name) / "run")
        scorer = Scorer(sandbox, ready.plan, ready.config)
        records = ran(ready, sandbox, scorer)
        bench = Bench(trap, ready, sandbox, scorer, starts(ready, records))
        seen = judged(bench, config.workers)
        return tuple(
            Row(
                trap.id,
                history.name,
                tuple(s for s in seen if s.history == history.name),
                _fresh(bench, [r for r in records if r.history == history.name], history),
                tuple(_unsolved(r for r in records if r.history == history.name)),
            )
            for history in trap.spec.history
        )


def _unsolved(records: Iterable[ArmRecord]) -> Iterator[str]:
    for record in records:
        for ending in record.endings:
            if ending.outcome != Outcome.PASS:
                yield f"the evidence does not suffice (seed {record.seed}): {ending.outcome.value} ({ending.cause})"


def _fresh(bench: Bench, records: Sequence[ArmRecord], history: History) -> bool | None:
    """Whether the S3 changes of the arms, each with a draw of its own, are all different."""
    if history.expect != "use":
        return None
    folder, found = bench.ready.folder, set()
    with Ledger(folder.ledger, read_only=True) as ledger:
        store = ObjectStore(folder.objects)
        for record in records:
            for session in ledger.sessions(record.arm, record.attempt):
                if session.number == 3:  # an arm that did not get there has no change, and is not fresh
                    change = bench.sorted(changes(store.get(session.tree_in), store.get(session.tree_out)))
                    found.add(tuple((c.path, c.new.data if c.new else b"") for c in change.production))
    return len(found) == len(records)


HEADS = ("trap", "history", "reference", "nothing", "one character", "two draws", "passes", "failed", "trapped")


def cells(row: Row) -> tuple[str, ...]:
    """A row as texts, one for each of HEADS; what is not as declared has a `!`. The last three list stored ones."""
    got = {s.solution: f"{s.got}{'!' if s.problem else ''}" for s in row.seen}
    written = {name: text for name, text in got.items() if name not in (REFERENCE, NOTHING, MUTATED)}
    two = "-" if row.fresh is None else "differ" if row.fresh else "same!"
    lists = (
        ", ".join(name + text[len(kind) :] for name, text in written.items() if text.startswith(kind)) or "-"
        for kind in ("pass", "failed", "trapped")
    )
    return row.trap, row.history, *(got.get(name, "-") for name in (REFERENCE, NOTHING, MUTATED)), two, *lists
