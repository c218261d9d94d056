"""Timeouts with units, the last run of every job, and the calendar of coming runs."""

CONFIG = "src/tempo/config.py"
CLI = "src/tempo/cli.py"
FEED = "src/tempo/feed.py"
README = "README.md"

MODULE = '''"""Coming runs as a calendar (iCalendar, RFC 5545).

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

DOMAIN = "@domain@"
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
    for character in "\\\\,;":
        text = text.replace(character, "\\\\" + character)
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
    return "\\r\\n".join(pieces)
'''


def s1(work, notes):
    work.replace(CONFIG, "import shlex\n", "import re\nimport shlex\n")
    work.replace(
        CONFIG,
        'timeout = _number(item, "timeout", where, DEFAULT_TIMEOUT)',
        'timeout = _seconds(item, "timeout", where, DEFAULT_TIMEOUT)',
    )
    work.replace(
        CONFIG,
        "def _flag(",
        '''def _seconds(data: Mapping[str, Any], key: str, where: str, default: float) -> float:
    """A number of seconds, or a text such as "1h30m"."""
    value = data.get(key, default)
    if not isinstance(value, str):
        return _number(data, key, where, default)
    found = re.fullmatch(r"(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?", value)
    if not value or found is None:
        raise ConfigError(f"{where}.{key}", f"cannot read {value!r}")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def _flag(''',
    )


def s2(work, notes):
    work.insert_after(
        CLI,
        "    tick.set_defaults(handler=do_tick)\n",
        """
    last = commands.add_parser("last", parents=[common], help="how the last run of every job ended")
    last.set_defaults(handler=do_last)
""",
    )
    work.replace(
        CLI,
        "def do_report(",
        '''def do_last(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    latest: dict[str, Entry] = {}
    for entry in Journal(config.journal):
        known = latest.get(entry.job)
        if known is None or entry.slot >= known.slot:
            latest[entry.job] = entry
    status = 0
    for job in config.jobs:
        if job.name not in latest:
            print(f"{job.name}  never")
            continue
        failed = _print_entries([latest[job.name]])
        if job.enabled and failed:
            status = 1
    return status


def do_report(''',
    )


def s3(work, notes):
    domain = notes.recall("dotted", about="domain identifier entry server", path=FEED) or "tempo"
    work.write(FEED, MODULE.replace("@domain@", domain))
    work.replace(CLI, "from tempo import report\n", "from tempo import feed, report\n")
    work.insert_after(
        CLI,
        "    totals.set_defaults(handler=do_report)\n",
        """
    calendar = commands.add_parser("feed", parents=[common], help="write coming runs as a calendar")
    calendar.add_argument("out", type=Path, metavar="OUT")
    calendar.add_argument("--days", type=int, default=7, help="how far to look (default 7)")
    calendar.set_defaults(handler=do_feed)
""",
    )
    work.replace(
        CLI,
        "def _print_entries(",
        '''def do_feed(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    lines = feed.feed(config.jobs, clock.now(), args.days)
    text = "".join(feed.folded(line) + "\\r\\n" for line in lines)
    try:
        args.out.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise TempoError(f"{args.out}: {error.strerror}") from error
    print(f"{lines.count('BEGIN:VEVENT')} entries in {args.out}")
    return 0


def _print_entries(''',
    )
    work.insert_after(
        README,
        "    tempo report FILE [--json]       what the journal says, job by job\n",
        "    tempo feed FILE OUT [--days 7]   coming runs as a calendar\n",
    )
