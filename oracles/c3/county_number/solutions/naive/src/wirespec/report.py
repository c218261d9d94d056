"""Summaries of captures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from wirespec.capture import Entry
from wirespec.codec import decode
from wirespec.errors import WireError

SHOWN_TEXTS = 20


@dataclass
class Summary:
    """What a capture holds; ``refused`` counts by name of the error table."""

    frames: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    messages: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    alarms: list[str] = field(default_factory=list)

    @property
    def duration_s(self) -> float:
        """Seconds between the first and the last frame; 0 for fewer than two."""
        if self.first_ms is None or self.last_ms is None:
            return 0.0
        return (self.last_ms - self.first_ms) / 1000


def summarise(entries: Iterable[Entry]) -> Summary:
    """Count a capture; damaged frames are counted, never raised."""
    summary = Summary()
    for entry in entries:
        summary.frames += 1
        if summary.first_ms is None:
            summary.first_ms = entry.at_ms
        summary.last_ms = entry.at_ms
        try:
            frame = decode(entry.data)
        except WireError as error:
            summary.refused[error.name] += 1
            continue
        summary.messages[frame.name] += 1
        if frame.name == "alarm":
            summary.alarms.append(str(frame.values["text"]))
    return summary


def render_text(summary: Summary) -> str:
    """The summary for a terminal, most frequent message first."""
    lines = [f"{summary.frames} frames in {summary.duration_s:.1f} s"]
    lines += [f"  {name}: {count}" for name, count in _ordered(summary.messages)]
    lines += [f"  refused, {name}: {count}" for name, count in _ordered(summary.refused)]
    lines += [f"  ! {text}" for text in _alarm_lines(summary.alarms)]
    return "\n".join(lines) + "\n"


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _alarm_lines(texts: list[str]) -> list[str]:
    """Each text once with how often it came, by first appearance, and a word on those left over."""
    counts = Counter(texts)
    lines = [text + _times(count) for text, count in list(counts.items())[:SHOWN_TEXTS]]
    rest = len(counts) - len(lines)
    if rest:
        lines.append(f"and {rest} other text{'s' if rest > 1 else ''}")
    return lines


def _times(count: int) -> str:
    return "" if count == 1 else " (twice)" if count == 2 else f" ({count} times)"
