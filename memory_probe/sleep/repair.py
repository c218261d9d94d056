"""Operator `repair`: contradictions link both sides, and the newer side supersedes the older where it may.

Invariant: nothing is superseded without a link to its successor; a side that an authority outranks is never the
successor, it waits for review.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from memory_probe import judge, text
from memory_probe.sleep.base import Settings, one_topic, related, scopes_meet, standing
from memory_probe.store.derived import Append, Change, Proposal
from memory_probe.store.model import Link, Memory, Provenance, Status
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView

_SHORTEST_QUOTE = 3
_LIVE = ("active", "requires_review", "stale")
_OWN_WORK = ("dream_artifact", "failure")


def repair(view: StoreView, new: Sequence[Recorded], now: dt.date, settings: Settings) -> Proposal:
    """Judge the memories of the new episodes against the store, oldest first."""
    if not new:
        return Proposal()
    work = _Repair(view, now, settings)
    fresh = [n for n in view.born_since(min(r.seq for r in new)) if _speaks(view.memory(n))]
    for number in sorted(fresh, key=lambda n: (view.memory(n).told, n)):
        work.against(number)
    work.precedence(fresh)
    return work.proposal()


def _speaks(memory: Memory) -> bool:
    return memory.kind not in ("", "outcome") and memory.type not in _OWN_WORK


class _Repair:
    def __init__(self, view: StoreView, now: dt.date, settings: Settings) -> None:
        self._view, self._now, self._settings = view, now, settings
        self._status: dict[int, tuple[Status, str]] = {}
        self._links: list[Link] = []
        self._disputes: dict[int, list[tuple[int, str]]] = {}
        self._rules = self._find_rules()

    # -- finding ---------------------------------------------------------------------------------------------

    def against(self, number: int) -> None:
        """What one memory says against older ones."""
        memory, reading = self._view.memory(number), judge.read(self._view.memory(number).content)
        found: dict[int, str] = {}
        for target in reading.targets:
            for old in self._resolve(number, target):
                found.setdefault(old, target.relation)
        if self._settings.global_scope and (found or memory.kind in ("contradiction", "staleness")):
            for old in related(self._view, memory.repository, memory.scope, "", memory.told, self._settings):
                if self._one_channel(number, old):
                    found.setdefault(old, "disputes")
        elif memory.kind == "contradiction" and not found and not reading.ranks:
            best = self._closest(number)
            if best:
                found[best] = "disputes"
        for old, relation in found.items():
            self._settle(number, old, relation)

    def _resolve(self, number: int, target: judge.Target) -> Iterable[int]:
        """Older live memories that a target names: by note number, or by a quoted span within an overlapping scope."""
        if target.kind == "number":
            return [n for n in self._view.numbered(target.value) if self._older(number, n)]
        if len(target.value) < _SHORTEST_QUOTE:
            return []
        scope = self._view.memory(number).scope
        held = self._view.with_words(text.words(target.value))
        return [
            n
            for n in held
            if self._older(number, n)
            and target.value in self._view.memory(n).content
            and scopes_meet(scope, self._view.memory(n).scope)
        ]

    def _closest(self, number: int) -> int | None:
        """The memory on the same scope and topic with most words in common, the latest among equals."""
        memory = self._view.memory(number)
        wanted = text.words(memory.content)
        near = related(self._view, memory.repository, memory.scope, memory.content, memory.told, self._settings)
        scored = [
            (len(wanted & text.words(self._view.memory(n).content)), self._view.memory(n).told, n)
            for n in near
            if self._older(number, n)
        ]
        return max(scored)[2] if scored else None

    def _older(self, number: int, other: int) -> bool:
        new, old = self._view.memory(number), self._view.memory(other)
        same = new.repository == old.repository and self._one_channel(number, other)
        return same and _speaks(old) and old.told < new.told and self._now_is(other) in _LIVE

    def _one_channel(self, one: int, other: int) -> bool:
        """Capsules answer capsules and typed memories typed ones, so that each reader's channel stays whole."""
        return (self._view.memory(one).type == "episodic") == (self._view.memory(other).type == "episodic")

    # -- precedence ------------------------------------------------------------------------------------------

    def _find_rules(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """(memory, winner, losers) of every live memory that states a precedence."""
        found = []
        stated: set[int] = set()
        for word in judge.RANK_WORDS:
            stated |= set(self._view.with_words(frozenset({word})))
        for number in sorted(stated):
            if self._view.status(number) == "active" and _speaks(self._view.memory(number)):
                for rank in judge.read(self._view.memory(number).content).ranks:
                    winner, losers = judge.winners_and_losers(rank, self._view.authors())
                    if winner:
                        found.append((number, winner, losers))
        return found

    def precedence(self, fresh: list[int]) -> None:
        """Let every stated precedence decide between the two sides, where rule, winner or loser is new."""
        new = set(fresh)
        told = {self._view.memory(n).author.lower() for n in fresh}
        told |= {self._view.own_number(n) for n in fresh}
        for rule, winner, losers in self._rules:
            if rule not in new and told.isdisjoint({winner, *losers}):
                continue
            above = self._side(rule, winner)
            for low in (n for loser in losers for n in self._side(rule, loser)):
                for high in reversed(above):
                    if new & {rule, high, low} and self._one_channel(high, low) and self._about_one(high, low):
                        newer, older = sorted((high, low), key=lambda n: self._view.memory(n).told, reverse=True)
                        self._settle(newer, older, "disputes")
                        break

    def _side(self, rule: int, name: str) -> list[int]:
        """Live memories of an author or note number, within the repository and scope of the rule and its channel."""
        law = self._view.memory(rule)
        members = self._view.authored(name) or self._view.numbered(name)
        return [
            n
            for n in members
            if n != rule
            and self._view.memory(n).repository == law.repository
            and self._one_channel(rule, n)
            and self._now_is(n) == "active"
            and (self._settings.global_scope or scopes_meet(law.scope, self._view.memory(n).scope))
        ]

    def _about_one(self, one: int, other: int) -> bool:
        if self._settings.global_scope:
            return True
        a, b = self._view.memory(one), self._view.memory(other)
        return scopes_meet(a.scope, b.scope) and one_topic(
            (a.scope, a.content), (b.scope, b.content), self._settings.weights
        )

    def _outranked(self, newer: int, older: int) -> str:
        """Who outranks the newer side, or ""."""
        new, old = self._view.memory(newer), self._view.memory(older)
        names = {new.author.lower(), self._view.own_number(newer)} - {""}
        others = {old.author.lower(), self._view.own_number(older)} - {""}
        for rule, winner, losers in self._rules:
            if winner in others and names & set(losers) and self._view.memory(rule).repository == new.repository:
                return f"{winner} outranks it, by memory {rule}"
        return f"authority {old.authority} over {new.authority}" if old.authority > new.authority else ""

    # -- settling --------------------------------------------------------------------------------------------

    def _settle(self, newer: int, older: int, relation: str) -> None:
        if self._now_is(older) not in _LIVE:
            return
        self._links.append(Link(newer, "contradicts", older))
        self._disputes.setdefault(newer, []).append((older, relation))
        if why := self._waits(newer, older):
            if self._now_is(newer) == "active":
                self._status[newer] = ("requires_review", f"contradicts memory {older}: {why}")
        else:
            self._links.append(Link(newer, "supersedes", older))
            self._status[older] = ("superseded", f"memory {newer} {relation} it")

    def _waits(self, newer: int, older: int) -> str:
        """Why the newer side may not supersede, or ""."""
        if not self._view.memory(newer).provenance.grounded:
            return "it names no evidence"
        mine, theirs = self._view.standing(newer).confidence, self._view.standing(older).confidence
        if mine < theirs:
            return f"confidence {mine:.2f} below {theirs:.2f}"
        return self._outranked(newer, older)

    def _now_is(self, number: int) -> Status:
        return self._status[number][0] if number in self._status else self._view.status(number)

    def proposal(self) -> Proposal:
        changes = [Change(n, {"status": s}, why) for n, (s, why) in sorted(self._status.items())]
        records = {self._view.memory(n).told: self._record(n, olds) for n, olds in self._disputes.items()}
        return Proposal(tuple(records.values()), tuple(changes), tuple(dict.fromkeys(self._links)))

    def _record(self, newer: int, olds: list[tuple[int, str]]) -> Append:
        """One contradiction record an event that disputes others; it names them and does not repeat them."""
        new, old = self._view.memory(newer), [self._view.memory(n) for n, _ in olds]
        state = self._now_is(newer)
        verdict = "The newer holds." if state == "active" else "The newer one waits for review."
        if state == "active" and any(self._now_is(n) != "superseded" for n, _ in olds):
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
