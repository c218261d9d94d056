"""The alarm journal that the county gets: what units reported on one day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime

from wirespec._generated import Severity
from wirespec.capture import Entry
from wirespec.codec import Frame, decode
from wirespec.errors import WireError

COUNTY_NUMBER = "<< new_number >>"  # under which the county enters us, formerly << old_number >>
REPEAT_MS = 60_000


def journal(entries: Iterable[Entry], day: date) -> str:
    """The text for one day (UTC): a head, a line for each alarm without repeats, the sums."""
    lines: list[str] = []
    sums: Counter[int] = Counter()
    for at, severity, cause, text in _entered(entries, day):
        said = text.replace(";", ",")
        lines.append(f"{at:%H:%M:%S};{severity.name.lower()};{cause};{said}")
        sums[severity] += 1
    head = f"{COUNTY_NUMBER};{day.isoformat()};{len(lines)}"
    last = f"SUM;{sums[Severity.FAULT]};{sums[Severity.WARNING]};{sums[Severity.INFO]}"
    return "".join(f"{line}\n" for line in (head, *lines, last))


def _entered(entries: Iterable[Entry], day: date) -> Iterator[tuple[datetime, Severity, object, str]]:
    last: dict[tuple[object, ...], int] = {}
    for entry in entries:
        at = datetime.fromtimestamp(entry.at_ms // 1000, UTC)
        frame = _alarm(entry)
        if frame is None or at.date() != day:
            continue
        severity, cause, text = (frame.values[name] for name in ("severity", "cause", "text"))
        same = (severity, cause, text)
        if same in last and entry.at_ms - last[same] < REPEAT_MS:
            continue
        last[same] = entry.at_ms
        yield at, Severity(severity), cause, str(text)


def _alarm(entry: Entry) -> Frame | None:
    """The frame, if it is an alarm to the collector."""
    if entry.direction != "up":
        return None
    try:
        frame = decode(entry.data)
    except WireError:
        return None
    return frame if frame.name == "alarm" else None
