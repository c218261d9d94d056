"""Operator `replay`: what could have gone otherwise, after a session that did not end well.

Invariant: a replay is built from what the log holds (output, changed files, notes shown and told since) and waits for
review; it never enters a view by itself.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from memory_probe.sleep.base import Settings, from_session, outcome, session_line, session_scope, standing
from memory_probe.store.derived import Append, Proposal
from memory_probe.store.raw_log import Recorded
from memory_probe.store.view import StoreView

_TAIL_LINES = 3


def replay(view: StoreView, new: Sequence[Recorded], now: dt.date, settings: Settings) -> Proposal:
    """A dream artifact for every failed, partial or unknown outcome, and a failure memory where the check failed."""
    appends: list[Append] = []
    for recorded in new:
        ended = outcome(recorded)
        if ended == "passed":
            continue
        appends.append(_dream(view, recorded, ended, now, settings))
        if ended == "failed":
            appends.append(_failure(recorded, now, settings))
    return Proposal(tuple(appends))


def _dream(view: StoreView, recorded: Recorded, ended: str, now: dt.date, settings: Settings) -> Append:
    parts = [f"Replay. {session_line(recorded)}: {ended}.", *_circumstances(recorded)]
    names = [view.own_number(n) or view.memory(n).type for n in recorded.viewed if n <= len(view)]
    parts.append(f"Without what was shown then ({', '.join(names)}), it might have ended otherwise." if names else "")
    since = [n.author or n.kind for n in recorded.episode.notes]
    parts.append(f"With what was told since (by {', '.join(since)}), it might have ended otherwise." if since else "")
    content = " ".join(p for p in parts if p)
    memory = from_session(recorded, "dream_artifact", content, f"counterfactual after {ended}", now)
    return Append(memory, replace(standing(settings.weights.dream, now), status="requires_review"))


def _failure(recorded: Recorded, now: dt.date, settings: Settings) -> Append:
    content = " ".join([f"{session_line(recorded)}: the public check failed.", *_circumstances(recorded)])
    memory = from_session(recorded, "failure", content, "a failed public check", now)
    return Append(memory, standing(settings.weights.failure, now))


def _circumstances(recorded: Recorded) -> list[str]:
    changed = session_scope(recorded).files
    tail = [line.strip() for line in recorded.episode.check_output.splitlines() if line.strip()][-_TAIL_LINES:]
    said = [f"Changed: {', '.join(changed)}."] if changed else ["Nothing was changed."]
    return said + ([f"The check said: {' / '.join(tail)}"] if tail else [])
