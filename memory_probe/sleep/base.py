"""What the operators of sleep share: their settings, memories made from notes, and what counts as related.

Invariant: an operator is a pure function (store view, new episodes, now, settings) -> proposal; it reads, and only
the runner writes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from memory_probe import judge, text
from memory_probe.protocol import Scope
from memory_probe.store.derived import Append, Proposal
from memory_probe.store.model import Memory, MemoryType, Provenance, Standing
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView
from memory_probe.weights import Birth, Weights


@dataclass(frozen=True)
class Settings:
    """How a variant maintains: `typed` false writes every event as episodic; `global_scope` lets maintenance ignore
    scope and topic inside a repository."""

    weights: Weights = field(default_factory=Weights)
    typed: bool = True
    global_scope: bool = False


Operator = Callable[[StoreView, Sequence[Recorded], dt.date, Settings], Proposal]


def standing(birth: Birth, updated: dt.date, until: dt.date | None = None) -> Standing:
    """An active standing as written by an operator."""
    return Standing("active", birth.confidence, birth.utility, birth.risk, 0.0, until, updated)


def from_note(recorded: Recorded, index: int, type_: MemoryType, reason: str, birth: Birth, now: dt.date) -> Append:
    """A memory that holds note `index` (from 1) of an episode, whole."""
    episode = recorded.episode
    note = episode.notes[index - 1]
    origin = Provenance(
        trajectory=(recorded.id,),
        task=episode.task,
        path=note.scope.files,
        feedback=(recorded.note_id(index),),
    )
    memory = Memory(
        content=note.text,
        type=type_,
        provenance=origin,
        write_reason=reason,
        repository=episode.repository,
        scope=note.scope,
        created=now,
        valid_from=note.date,
        kind=note.kind,
        author=note.author,
        authority=note.authority,
        tags=tuple(t for t in (note.kind.replace("_", " "), note.author, note.scope.task) if t),
        human_verified=note.kind == "human_feedback",
        episode=recorded.seq,
        note=index,
    )
    until = note.until or judge.until(note.text)
    return Append(memory, standing(birth, now, until))


def outcome(recorded: Recorded) -> str:
    """passed, partial (passed without a change), failed, or unknown (the session left nothing to look at)."""
    episode = recorded.episode
    if not episode.delta.strip() and not episode.steps.strip():
        return "unknown"
    if not episode.check_passed:
        return "failed"
    return "passed" if episode.delta.strip() else "partial"


def session_line(recorded: Recorded) -> str:
    """One line that names a session: number, date, task."""
    episode = recorded.episode
    return f"Session {episode.number}, {episode.date.isoformat()}, task {episode.task or 'unnamed'}"


def session_scope(recorded: Recorded) -> Scope:
    """The files that a session changed, and its task."""
    return Scope(text.changed_files(recorded.episode.delta), (), recorded.episode.task)


def from_session(recorded: Recorded, type_: MemoryType, content: str, reason: str, now: dt.date) -> Memory:
    """A memory about a session as a whole."""
    episode, scope = recorded.episode, session_scope(recorded)
    origin = Provenance(trajectory=(recorded.id,), task=episode.task, path=scope.files, command=(recorded.check_id,))
    return Memory(
        content=content,
        type=type_,
        provenance=origin,
        write_reason=reason,
        repository=episode.repository,
        scope=scope,
        created=now,
        valid_from=episode.date,
        kind="outcome",
        tags=(episode.task,) if episode.task else (),
        episode=recorded.seq,
    )


def scopes_meet(one: Scope, other: Scope) -> bool:
    """Do two scopes overlap? Files decide where both state some, else symbols; nothing stated applies everywhere."""
    if one.files and other.files:
        return any(text.same_file(a, b) for a in one.files for b in other.files)
    if one.symbols and other.symbols:
        return any(text.same_symbol(a, b) for a in one.symbols for b in other.symbols)
    return True


def one_topic(one: tuple[Scope, str], other: tuple[Scope, str], weights: Weights) -> bool:
    """Are two (scope, text) about one thing? By their task words, or by their texts where a side names no task."""
    first, second = text.words(one[0].task), text.words(other[0].task)
    least = weights.topic
    if not first or not second:
        first, second, least = text.words(one[1]), text.words(other[1]), weights.topic_text
    smaller = min(len(first), len(second))
    return smaller > 0 and len(first & second) >= least * smaller


def related(
    view: StoreView, repository: str, scope: Scope, content: str, told: tuple[dt.date, int, int], settings: Settings
) -> Iterator[int]:
    """Active memories told earlier in the same repository whose scope and topic overlap; with a global maintenance
    scope, all that were told earlier there."""
    everything = settings.global_scope
    for number in view.near(repository, () if everything else scope.files):
        memory = view.memory(number)
        if view.status(number) != "active" or memory.told >= told:
            continue
        if everything or (
            scopes_meet(scope, memory.scope)
            and one_topic((scope, content), (memory.scope, memory.content), settings.weights)
        ):
            yield number
