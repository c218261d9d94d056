"""Reports of single jobs, tails that begin with a line, and alarms."""

CLI = "src/tempo/cli.py"
LAUNCHER = "src/tempo/launcher.py"
ALARMS = "src/tempo/alarms.py"
README = "README.md"

MODULE = '''"""What the monitoring should hear of: runs that failed, and slots that were not run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from tempo.clock import minute
from tempo.config import Config
from tempo.errors import ScheduleError, TempoError
from tempo.journal import Entry
from tempo.model import Job, Outcome

FAILED_RUN = "@failed@"
MISSED_SLOT = "@missed@"
GRACE = 10  # minutes


@dataclass(frozen=True)
class Alarm:
    """`level` is the class by which the panel knows what happened."""

    level: str
    job: str
    slot: datetime
    text: str

    def to_line(self) -> str:
        slot = self.slot.isoformat(timespec="minutes")
        record = {"class": self.level, "job": self.job, "slot": slot, "text": self.text}
        return json.dumps(record, ensure_ascii=False)


def find(
    config: Config, entries: Iterable[Entry], since: datetime, now: datetime, grace: int = GRACE
) -> list[Alarm]:
    """Alarms for slots from `since` to `now`, by slot and then in the order of the file."""
    now = minute(now)
    if since > now:
        raise TempoError("the time lies ahead")
    last = {(entry.job, entry.slot): entry for entry in entries}
    alarms: list[Alarm] = []
    for job in config.jobs:
        if job.enabled:
            alarms += _failed(job, last, since, now)
            alarms += _missed(job, last, since, now - timedelta(minutes=grace))
    return sorted(alarms, key=lambda alarm: alarm.slot)


Last = dict[tuple[str, datetime], Entry]


def _failed(job: Job, last: Last, since: datetime, now: datetime) -> Iterator[Alarm]:
    for (name, slot), entry in last.items():
        if name == job.name and since <= slot <= now and entry.outcome is not Outcome.OK:
            noun = "attempt" if entry.attempts == 1 else "attempts"
            yield Alarm(FAILED_RUN, name, slot, f"failed after {entry.attempts} {noun}")


def _missed(job: Job, last: Last, since: datetime, until: datetime) -> Iterator[Alarm]:
    try:
        for slot in job.schedule.between(since, until + timedelta(minutes=1)):
            if (job.name, slot) not in last:
                yield Alarm(MISSED_SLOT, job.name, slot, "not run")
    except ScheduleError:
        return
'''


def s1(work, notes):
    work.insert_after(
        CLI,
        '    totals.add_argument("--json", action="store_true")\n',
        '    totals.add_argument("--job", action="append", metavar="NAME", help="only this one; may be repeated")\n',
    )
    work.replace(
        CLI,
        "    rows = report.summarise(Journal(config.journal))\n",
        """    rows = report.summarise(Journal(config.journal))
    if args.job:
        known = {row.name for row in rows} | {job.name for job in config.jobs}
        for name in args.job:
            if name not in known:
                raise TempoError(f"there is no job {name!r}")
        rows = [row for row in rows if row.name in args.job]
""",
    )


def s2(work, notes):
    work.replace(
        LAUNCHER,
        """    return (output or b"").decode("utf-8", errors="replace")[-TAIL:]
""",
        '''    """The last characters of the output, from the beginning of a line if there is one among them."""
    text = (output or b"").decode("utf-8", errors="replace")
    kept = text[-TAIL:]
    if len(text) <= TAIL or text[-TAIL - 1] == "\\n":
        return kept
    return kept.partition("\\n")[2] or kept
''',
    )


def s3(work, notes):
    failed = notes.recall("upper", about="class failed run", path=ALARMS) or "failed"
    missed = notes.recall("upper", about="class missed slot", path=ALARMS) or "missed"
    work.write(ALARMS, MODULE.replace("@failed@", failed).replace("@missed@", missed))
    work.replace(CLI, "from tempo import report\n", "from tempo import alarms, report\n")
    work.insert_after(
        CLI,
        "    totals.set_defaults(handler=do_report)\n",
        """
    warn = commands.add_parser("alarms", parents=[common], help="failed runs and missed slots, for the monitoring")
    warn.add_argument("--since", type=moment, metavar="TIME", required=True)
    warn.add_argument("--grace", type=int, default=alarms.GRACE, metavar="MINUTES", help="before a slot is missed")
    warn.set_defaults(handler=do_alarms)
""",
    )
    work.replace(
        CLI,
        "def _print_entries(",
        """def do_alarms(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    found = alarms.find(config, Journal(config.journal), args.since, clock.now(), args.grace)
    for alarm in found:
        print(alarm.to_line())
    return 1 if found else 0


def _print_entries(""",
    )
    work.insert_after(
        README,
        "    tempo report FILE [--json]       what the journal says, job by job\n",
        "    tempo alarms FILE --since TIME   failed runs and missed slots, for the monitoring\n",
    )
