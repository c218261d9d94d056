"""A finished session as parts of text, for the conditions that store more than its events.

Invariant: the parts hold everything that a memory is told of a session; nothing is shortened.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

from memory_probe.protocol import Episode

What = Literal["prompt", "steps", "change", "check", "event"]


@dataclass(frozen=True)
class Part:
    """One part: what it is, its text, and its date (that of the session; an event has its own)."""

    what: What
    text: str
    date: dt.date


def parts(episode: Episode) -> tuple[Part, ...]:
    """The parts as they came about: prompt, steps, change, check, events. A part without text is left out."""
    told: list[Part] = [
        Part("prompt", episode.prompt, episode.date),
        Part("steps", episode.steps, episode.date),
        Part("change", episode.delta, episode.date),
        Part("check", check(episode), episode.date),
        *(Part("event", note.text, note.date) for note in episode.notes),
    ]
    return tuple(part for part in told if part.text.strip())


def check(episode: Episode) -> str:
    """How the public check ended, and what it printed. Our own words are few: they must not match a query by chance."""
    how = f"check: {'passed' if episode.check_passed else 'failed'}"
    return f"{how}\n{episode.check_output}" if episode.check_output else how


def ordered(episode: Episode, *order: What) -> tuple[Part, ...]:
    """The parts sorted by kind in the order given; a kind that is not named is left out."""
    told = parts(episode)
    return tuple(part for what in order for part in told if part.what == what)
