"""Summaries of captures."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from wirespec.capture import Entry, parse_capture
from wirespec.codec import decode
from wirespec.errors import WireError


@dataclass
class Summary:
    """What a capture holds.

    ``sizes`` is in bytes by message; ``refused`` counts by name of the error table.
    """

    frames: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    messages: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
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
        summary.sizes[frame.name] += len(entry.data)
        if frame.name == "alarm":
            summary.alarms.append(str(frame.values["text"]))
    return summary


def render_text(summary: Summary) -> str:
    """The summary for a terminal, most frequent message first."""
    lines = [f"{summary.frames} frames in {summary.duration_s:.1f} s"]
    lines += [f"  {name}: {count}" for name, count in _ordered(summary.messages)]
    if summary.sizes:
        shares = ", ".join(f"{name} {size}" for name, size in _ordered(summary.sizes))
        lines.append(f"  bytes: {summary.sizes.total()}, of them {shares}")
    lines += [f"  refused, {name}: {count}" for name, count in _ordered(summary.refused)]
    lines += [f"  ! {text}" for text in summary.alarms]
    return "\n".join(lines) + "\n"


def export_csv(lines: Iterable[str]) -> str:
    """The summary of a capture's lines as CSV; raises CaptureError."""
    summary = summarise(parse_capture(lines))
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["kind", "name", "frames", "bytes"])
    for name, count in _ordered(summary.messages):
        rows.writerow(["message", name, count, summary.sizes[name]])
    for name, count in _ordered(summary.refused):
        rows.writerow(["refused", name, count, ""])
    for text in summary.alarms:
        rows.writerow(["alarm", text, "", ""])
    return out.getvalue()


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
