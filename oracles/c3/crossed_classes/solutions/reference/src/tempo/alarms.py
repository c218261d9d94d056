"""What the monitoring should hear of: runs that failed, and slots that were not run."""

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

FAILED_RUN = "<< class_two >>"
MISSED_SLOT = "<< class_one >>"
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
