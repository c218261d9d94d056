"""Operator `repair`: contradictions link both sides, and the newer side supersedes the older where it may.

Invariant: what contradicts what follows from the rule judge alone; a side that an authority outranks is never the
successor, it waits for review.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from memory_probe import judge, text
from memory_probe.sleep.base import Settings, one_topic, related, scopes_meet
from memory_probe.sleep.settle import Settlement, speaks
from memory_probe.store.derived import Proposal
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView

_SHORTEST_QUOTE = 3


def repair(view: StoreView, new: Sequence[Recorded], now: dt.date, settings: Settings) -> Proposal:
    """Judge the memories of the new episodes against the store, oldest first."""
    if not new:
        return Proposal()
    work = _Repair(view, now, settings)
    fresh = [n for n in view.born_since(min(r.seq for r in new)) if speaks(view.memory(n))]
    for number in sorted(fresh, key=lambda n: (view.memory(n).told, n)):
        work.against(number)
    work.precedence(fresh)
    return work.proposal()


class _Repair:
    def __init__(self, view: StoreView, now: dt.date, settings: Settings) -> None:
        self._view, self._settings = view, settings
        self._made = Settlement(view, now, settings)
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
                if self._made.one_channel(number, old):
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
            return [n for n in self._view.numbered(target.value) if self._made.older(number, n)]
        if len(target.value) < _SHORTEST_QUOTE:
            return []
        scope = self._view.memory(number).scope
        held = self._view.with_words(text.words(target.value))
        return [
            n
            for n in held
            if self._made.older(number, n)
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
            if self._made.older(number, n)
        ]
        return max(scored)[2] if scored else None

    # -- precedence ------------------------------------------------------------------------------------------

    def _find_rules(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """(memory, winner, losers) of every live memory that states a precedence."""
        found = []
        stated: set[int] = set()
        for word in judge.RANK_WORDS:
            stated |= set(self._view.with_words(frozenset({word})))
        for number in sorted(stated):
            if self._view.status(number) == "active" and speaks(self._view.memory(number)):
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
                    if new & {rule, high, low} and self._made.one_channel(high, low) and self._about_one(high, low):
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
            and self._made.one_channel(rule, n)
            and self._made.now_is(n) == "active"
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

    def _settle(self, newer: int, older: int, relation: str) -> None:
        self._made.settle(newer, older, relation, self._outranked(newer, older))

    def proposal(self) -> Proposal:
        return self._made.proposal()
