"""Coming runs as a calendar (iCalendar, RFC 5545).

A server that takes the file in a second time updates the entries it knows by their UID.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice

from tempo.clock import minute
from tempo.errors import ScheduleError, TempoError
from tempo.model import Job

DOMAIN = "<< domain >>"
MOST = 50  # entries of one job
WIDTH = 75  # bytes of a line


def feed(jobs: Iterable[Job], now: datetime, days: int) -> list[str]:
    """The lines of the calendar for the slots s with ``now <= s < now + days``, without line ends."""
    if days < 1:
        raise TempoError("a feed has at least one day")
    start = minute(now)
    runs = [(slot, job) for job in jobs if job.enabled for slot in _slots(job, start, days)]
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tempo//feed//EN"]
    for slot, job in sorted(runs, key=lambda run: run[0]):
        lines += _entry(slot, job, start)
    return [*lines, "END:VCALENDAR"]


def _slots(job: Job, start: datetime, days: int) -> list[datetime]:
    try:
        found = list(islice(job.schedule.between(start, start + timedelta(days=days)), MOST + 1))
    except ScheduleError:
        return []
    return found if len(found) <= MOST else []


def _entry(slot: datetime, job: Job, stamp: datetime) -> list[str]:
    name = _escaped(job.name)
    return [
        "BEGIN:VEVENT",
        f"UID:{name}-{slot:%Y%m%dT%H%M}@{DOMAIN}",
        f"DTSTAMP:{stamp:%Y%m%dT%H%M%S}",
        f"DTSTART:{slot:%Y%m%dT%H%M%S}",
        f"DURATION:PT{math.ceil(job.timeout / 60)}M",
        f"SUMMARY:{name}",
        "END:VEVENT",
    ]


def _escaped(text: str) -> str:
    for character in "\\,;":
        text = text.replace(character, "\\" + character)
    return text


def folded(line: str) -> str:
    """`line` in pieces of at most WIDTH bytes; every further piece begins with a blank."""
    pieces, size = [""], 0
    for character in line:
        length = len(character.encode())
        if size + length > WIDTH:
            pieces.append(" ")
            size = 1
        pieces[-1] += character
        size += length
    return "\r\n".join(pieces)
