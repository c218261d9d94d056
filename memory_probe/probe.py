"""The reference probe: a memory with an append-only log, typed memories, sleep in six operators and a gated read.

Invariant: every episode and every sleep is one transaction, so a kill leaves the old or the new state; reading writes
nothing. A store that is damaged, foreign or of another variant is a MemoryFault.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from memory_probe.model_judge import ModelJudge
from memory_probe.protocol import (
    Budget,
    Card,
    Episode,
    MemoryFault,
    Query,
    Receipt,
    SleepReport,
    StoredRecord,
    View,
)
from memory_probe.read.candidates import asked
from memory_probe.read.gate import Policy
from memory_probe.read.pack import STATE_OF, Refused, look_up
from memory_probe.read.score import Semantic, by_words
from memory_probe.sleep import OPERATORS
from memory_probe.sleep.base import Settings, outcome
from memory_probe.store import raw_log
from memory_probe.store.bases import Base, Bases, mark
from memory_probe.store.derived import Change, Derived, Proposal
from memory_probe.store.raw_log import Recorded
from memory_probe.store.schema import FILE, guarded, image, open_store
from memory_probe.store.view import StoreView
from memory_probe.weights import RULES, digest_of, plain

_IMPACT = {"passed": 1.0, "failed": -1.0}


@dataclass(frozen=True)
class Variant:
    """What makes one condition of the family: operators, read policy, maintenance settings with all weights.

    `judge` is the version of the model judge ("" = the rules), `semantic` that of the embedder ("" = shared words).
    """

    operators: tuple[str, ...]
    policy: Policy
    settings: Settings
    judge: str = ""
    semantic: str = ""

    def digest(self) -> str:
        """sha256 over all of it and the version of the rules. What is not used is not in it."""
        settings = {"typed": self.settings.typed, "global": self.settings.global_scope}
        used = {name: text for name, text in (("judge", self.judge), ("semantic", self.semantic)) if text}
        return digest_of(
            {
                **used,
                "rules": RULES,
                "operators": self.operators,
                "policy": asdict(self.policy),
                "settings": settings,
                "weights": plain(self.settings.weights),
            }
        )


@dataclass(frozen=True)
class Aids:
    """What a variant works with that is no rule: its judge if that is a model, and its measure of nearness."""

    judge: ModelJudge | None = None
    semantic: Semantic = by_words

    @property
    def named(self) -> tuple[bool, bool]:
        """(is the judge a model?, is nearness something else than shared words?)."""
        return self.judge is not None, self.semantic is not by_words


class ProbeMemory:
    """One namespace of the probe. Not for use by two threads at once; two processes may take turns."""

    def __init__(
        self, card: Card, variant: Variant, namespace: Path, bases: Bases | None = None, aids: Aids | None = None
    ) -> None:
        """`bases` spares reading a file again that is a copy of one frozen by a memory with the same `bases`.

        Raises ValueError for a variant that is not given the aids it names, or is given others.
        """
        self.card = card
        self._variant, self._bases, self._aids = variant, bases, aids or Aids()
        if (bool(variant.judge), bool(variant.semantic)) != self._aids.named:
            raise ValueError(f"{card.code}: the aids are not those of the variant")
        self._path = namespace / FILE
        self._shown: tuple[int, ...] = ()
        self._closed = False
        base = bases.find(self._path) if bases else None
        self._connection = open_store(namespace, f"{card.code} {variant.digest()}", sound=base is not None)
        try:
            with guarded(self._path):
                if base is None or mark(self._connection) != base.mark:
                    raw_log.require_whole(self._connection)
                    base = None
                self._load(base)
        except BaseException:
            self._connection.close()
            raise

    # -- the protocol ----------------------------------------------------------------------------------------

    def record(self, episode: Episode) -> list[Receipt]:
        """Append an episode to the raw log, with what its session was shown; its memories are born in sleep."""
        with self._transaction():
            viewed = tuple(n for n in self._shown if n <= len(self._derived.view))
            seq = raw_log.append(self._connection, episode, viewed)
            used = _use(self._derived.view, Recorded(seq, episode, viewed))
            self._derived.write(used, "record", episode.date)
        self._shown = ()
        return [Receipt("ok", note.text) for note in episode.notes]

    def settle(self, timeout: float) -> None:
        """A recorded episode is committed; nothing is left to wait for."""
        self._fresh()

    def sleep(self, now: dt.date) -> SleepReport:
        """Run the variant's operators over what came since the last sleep."""
        changes: dict[str, int] = {}
        judge = self._aids.judge
        operators = judge.operators if judge else OPERATORS
        with self._transaction():
            slept = int(self._meta("slept"))
            new = list(raw_log.since(self._connection, slept))
            for name in (n for n in operators if n in self._variant.operators):
                proposal = operators[name](self._derived.view, new, now, self._variant.settings)
                self._derived.write(proposal, name, now)
                changes[name] = len(proposal)
            if new:
                self._connection.execute("UPDATE meta SET value = ? WHERE name = 'slept'", (str(new[-1].seq),))
        return SleepReport(changes, *(judge.meter.take() if judge else ()))

    def read(self, query: Query, budget: Budget, *, history: bool = False) -> View:
        """The best memories for a session; with `history`, also those that no longer stand."""
        self._fresh()
        settings, ask = self._variant.settings, asked(query, history)
        view, self._shown = look_up(
            self._derived.view,
            ask,
            self._variant.policy,
            settings.weights,
            budget,
            self._refused,
            self._aids.semantic,
        )
        return view

    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        """All memories (only active ones without `include_inactive`), then notes that no sleep has seen yet."""
        self._fresh()
        view = self._derived.view
        found = [_stored(view, n) for n in view.ids()]
        with guarded(self._path):
            waiting = list(raw_log.since(self._connection, int(self._meta("slept"))))
        kept = [r for r in found if include_inactive or r.state == "active"]
        return iter(kept + [StoredRecord(note.text, "unknown") for w in waiting for note in w.episode.notes])

    def freeze(self) -> Mapping[str, bytes]:
        """The store as one file that opens anywhere."""
        self._fresh()
        with guarded(self._path):
            self._connection.execute("BEGIN")
            try:
                at = mark(self._connection)  # from here on the transaction sees no other's writes
                self._reload_if_changed()
                data = image(self._connection)
            finally:
                self._connection.execute("ROLLBACK")
        if self._bases is not None:
            self._bases.keep(data, self._derived.view, at)
        return {FILE: data}

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        if not self._closed:
            self._closed = True
            with guarded(self._path):
                self._connection.close()

    # -- beyond the protocol ---------------------------------------------------------------------------------

    def forget(self, memory: int, why: str, now: dt.date) -> None:
        """Delete a memory: no view shows it again, and the record of it stays. Raises MemoryFault for no such id."""
        with self._transaction():
            if memory not in self._derived.view.ids():
                raise MemoryFault(f"no memory {memory}")
            self._derived.write(Proposal(changes=(Change(memory, {"status": "deleted"}, why),)), "forget", now)

    # -- inside ----------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, in the file and in memory."""
        self._fresh()
        with guarded(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._reload_if_changed()
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._load()
                raise

    def _fresh(self) -> None:
        """Another process may have written since."""
        if self._closed:
            raise MemoryFault("the memory is closed")
        with guarded(self._path):
            self._reload_if_changed()

    def _reload_if_changed(self) -> None:
        if self._data_version() != self._version:
            self._load()

    def _load(self, base: Base | None = None) -> None:
        self._derived = Derived(self._connection, base.view.fork() if base else None)
        self._refused = Refused()
        self._version = self._data_version()

    def _data_version(self) -> int:
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def _meta(self, name: str) -> str:
        row: sqlite3.Row | None = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise MemoryFault(f"store {self._path.name}: meta has no {name}")
        return str(row[0])


def _stored(view: StoreView, number: int) -> StoredRecord:
    memory, line = view.memory(number), view.line(number)
    return StoredRecord(memory.content, STATE_OF[view.status(number)], tuple(view.memory(n).content for n in line))


def _use(view: StoreView, recorded: Recorded) -> Proposal:
    """Count the use of what the session was shown, and how the session ended."""
    impact = _IMPACT.get(outcome(recorded), 0.0)
    changes = []
    for number in recorded.viewed:
        held = view.standing(number)
        fields: dict[str, object] = {
            "last_used": recorded.episode.date,
            "use_count": held.use_count + 1,
            "outcome_impact": held.outcome_impact + impact,
        }
        changes.append(Change(number, fields, f"shown before {recorded.id}"))
    return Proposal(changes=tuple(changes))
