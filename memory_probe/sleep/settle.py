"""What becomes of contradictions once a judge has found them: links, states, and a record of each.

Invariant: nothing is superseded without a link to its successor; a newer side that names no evidence, that is believed
less, or that the judge speaks against is never the successor, it waits for review.
"""

from __future__ import annotations

import datetime as dt

from memory_probe.sleep.base import Settings, standing
from memory_probe.store.derived import Append, Change, Proposal
from memory_probe.store.model import Link, Memory, Provenance, Status
from memory_probe.store.view import StoreView

_LIVE = ("active", "requires_review", "stale")
_OWN_WORK = ("dream_artifact", "failure")


def speaks(memory: Memory) -> bool:
    """Does it hold what somebody said? Only such memories contradict each other."""
    return memory.kind not in ("", "outcome") and memory.type not in _OWN_WORK


class Settlement:
    """What one run of `repair` proposes, growing: later questions see what earlier ones decided."""

    def __init__(self, view: StoreView, now: dt.date, settings: Settings) -> None:
        self._view, self._now, self._settings = view, now, settings
        self._status: dict[int, tuple[Status, str]] = {}
        self._links: list[Link] = []
        self._disputes: dict[int, list[tuple[int, str]]] = {}

    def older(self, number: int, other: int) -> bool:
        """Is `other` a live memory of the same repository and channel that was told before `number`?"""
        new, old = self._view.memory(number), self._view.memory(other)
        same = new.repository == old.repository and self.one_channel(number, other)
        return same and speaks(old) and old.told < new.told and self.now_is(other) in _LIVE

    def one_channel(self, one: int, other: int) -> bool:
        """Capsules answer capsules and typed memories typed ones, so that each reader's channel stays whole."""
        return (self._view.memory(one).type == "episodic") == (self._view.memory(other).type == "episodic")

    def now_is(self, number: int) -> Status:
        """Its status, with what is proposed so far."""
        return self._status[number][0] if number in self._status else self._view.status(number)

    def settle(self, newer: int, older: int, relation: str, against: str) -> None:
        """Two memories contradict each other; `against` is why the judge does not let the newer govern, or ""."""
        if self.now_is(older) not in _LIVE:
            return
        self._links.append(Link(newer, "contradicts", older))
        self._disputes.setdefault(newer, []).append((older, relation))
        if why := self._waits(newer, older, against):
            if self.now_is(newer) == "active":
                self._status[newer] = ("requires_review", f"contradicts memory {older}: {why}")
        else:
            self._links.append(Link(newer, "supersedes", older))
            self._status[older] = ("superseded", f"memory {newer} {relation} it")

    def _waits(self, newer: int, older: int, against: str) -> str:
        """Why the newer side may not supersede, or ""."""
        if not self._view.memory(newer).provenance.grounded:
            return "it names no evidence"
        mine, theirs = self._view.standing(newer).confidence, self._view.standing(older).confidence
        if mine < theirs:
            return f"confidence {mine:.2f} below {theirs:.2f}"
        return against

    def proposal(self) -> Proposal:
        """All of it."""
        changes = [Change(n, {"status": s}, why) for n, (s, why) in sorted(self._status.items())]
        records = {self._view.memory(n).told: self._record(n, olds) for n, olds in self._disputes.items()}
        return Proposal(tuple(records.values()), tuple(changes), tuple(dict.fromkeys(self._links)))

    def _record(self, newer: int, olds: list[tuple[int, str]]) -> Append:
        """One contradiction record an event that disputes others; it names them and does not repeat them."""
        new, old = self._view.memory(newer), [self._view.memory(n) for n, _ in olds]
        state = self.now_is(newer)
        verdict = "The newer holds." if state == "active" else "The newer one waits for review."
        if state == "active" and any(self.now_is(n) != "superseded" for n, _ in olds):
            verdict = "Not settled."
        names = dict.fromkeys(self._name(n) for n, _ in olds)
        content = f"Contradiction: {self._name(newer)} {olds[0][1]} {'; '.join(names)}. {verdict}"
        origin = Provenance(
            trajectory=tuple(dict.fromkeys(t for m in (new, *old) for t in m.provenance.trajectory)),
            task=new.provenance.task,
            path=new.scope.files,
            feedback=tuple(dict.fromkeys(f for m in (new, *old) for f in m.provenance.feedback)),
        )
        memory = Memory(
            content=content,
            type="contradiction",
            provenance=origin,
            write_reason="two memories contradict each other",
            repository=new.repository,
            scope=new.scope,
            created=self._now,
            valid_from=new.valid_from,
            tags=("contradiction", new.scope.task) if new.scope.task else ("contradiction",),
            episode=new.episode,
        )
        return Append(memory, standing(self._settings.weights.dispute, self._now))

    def _name(self, number: int) -> str:
        memory = self._view.memory(number)
        by = f" by {memory.author}" if memory.author else ""
        return f"{self._view.own_number(number) or 'a note'}{by}, {memory.valid_from.isoformat()}"
