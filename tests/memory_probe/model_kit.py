"""Memories that ask a model: the scripted endpoint, asked through the relay, and a script that answers every prompt.

Invariant: between a memory and the script is the real thing: sockets, relay, dialect; the script sees what was sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from containers.relay import Dialect, Patience, Quota, Relay, Upstream, routes
from harness.asking import Asked
from tests.model.faults import Fault
from tests.model.script import Function, Say, Script, Seen, Turn
from tests.model.server import ModelServer

MODEL = "scripted-1"
EAGER = Patience(attempts=3, first=0.001, longest=0.001)
_EVENT = re.compile(r"=== event \d+: [^\n]* ===\n(.*?)(?=\n\n=== )", re.S)
_STANDS = re.compile(r"=== the list as it stands ===\n(.*?)\n\nSession \d+", re.S)
_NEW = re.compile(r"=== new note: [^\n]* ===\n(.*?)(?=\n\n=== |\Z)", re.S)
_EARLIER = re.compile(r"=== earlier note \d+: [^\n]* ===\n(.*?)(?=\n\n=== |\Z)", re.S)
_NUMBER = re.compile(r"[A-Z]{2}-\d{2,}")


@contextmanager
def asking(
    script: Script,
    folder: Path,
    dialect: Dialect = Dialect.CHAT,
    quota: Quota | None = None,
    faults: Sequence[Fault] = (),
    patience: Patience = EAGER,
) -> Iterator[tuple[Asked, ModelServer]]:
    """A model to ask, and the endpoint behind it; the exchange goes to `folder`."""
    key = "sk-Yb2/qW+7vR9tLm4Xz8Kc"
    with ModelServer(script, faults=faults, key=key) as server:
        base = server.url if dialect is Dialect.ANTHROPIC else f"{server.url}/v1"
        upstream = Upstream(base, key, routes(dialect, MODEL), models=(MODEL,))
        number = next(n for n in count() if not (folder / f"exchange-{n}.jsonl").exists())
        with (
            Relay(upstream, patience) as relay,
            Asked(relay, quota or Quota(), folder / f"exchange-{number}.jsonl") as asked,
        ):
            yield asked, server


def saying(function: Callable[[Seen], object]) -> Script:
    """A script that says the text, or the JSON, that `function` gives."""

    def turn(seen: Seen) -> Turn:
        found = function(seen)
        return Say(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False))

    return Function(turn)


def events(text: str) -> list[str]:
    """The events of a session as it was told."""
    return _EVENT.findall(text)


def listed(text: str) -> str:
    """The lines of a text as a list."""
    return "\n".join(f"- {line}" for line in text.split("\n") if line.strip())


def faithful(seen: Seen) -> object:
    """Writes down what was told, event by event; sorts every note as feedback; finds that a note replaces the earlier
    ones whose numbers it names after that word."""
    told = seen.last()
    if "one type for each note" in seen.system:
        return {"types": ["human_feedback"] * len(re.findall(r"^=== note \d+: ", told, re.M))}
    if '"contradicts"' in seen.system:
        return _replaced(told)
    told_events = events(told) or ["nothing was said"]
    if '"task"' in seen.system:
        return [{"task": "beds", "text": event} for event in told_events[:3]]
    stands = _STANDS.search(told)
    old = [] if stands is None or stands[1] == "(nothing yet)" else [stands[1].replace("- ", "")]
    return listed("\n".join([*told_events, *old]))


def _replaced(told: str) -> dict[str, Any]:
    new, olds = _NEW.findall(told)[0], _EARLIER.findall(told)
    named = set(_NUMBER.findall(new.partition("replaces")[2]))
    places = [place for place, old in enumerate(olds, 1) if named & set(_NUMBER.findall(old)[:1])]
    return {"contradicts": [{"note": p, "grounded": True, "governs": "new"} for p in places], "decides": []}


FAITHFUL = saying(faithful)
