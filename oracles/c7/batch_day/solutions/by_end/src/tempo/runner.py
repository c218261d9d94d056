"""Decides what is due, runs it with retries, and writes the journal."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from tempo.batch import batch_for
from tempo.clock import Clock, WallClock, minute
from tempo.config import Config
from tempo.journal import Entry, Journal
from tempo.launcher import Command, Launcher, Result, launch
from tempo.model import Job, Outcome
from tempo.routing import lane_for


class Runner:
    """One scheduler over one job file.

    `launcher`, `clock` and `pause` are what tests replace.
    """

    def __init__(
        self,
        config: Config,
        journal: Journal | None = None,
        *,
        launcher: Launcher = launch,
        clock: Clock | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.config = config
        self.journal = journal or Journal(config.journal)
        self._launcher = launcher
        self._clock = clock or WallClock()
        self._pause = pause

    def due(self) -> list[Job]:
        """Enabled jobs with a slot in this minute that the journal does not have."""
        slot = minute(self._clock.now())
        return [
            job
            for job in self.config.jobs
            if job.enabled and job.schedule.matches(slot) and not self.journal.has(job.name, slot)
        ]

    def tick(self) -> list[Entry]:
        """Run what is due, in the order of the file."""
        slot = minute(self._clock.now())
        return [self.run(job, slot) for job in self.due()]

    def run(self, job: Job, slot: datetime) -> Entry:
        """Run `job` for `slot`, trying again as its policy says, and journal how it ended."""
        seconds = 0.0
        attempt = 0
        while True:
            attempt += 1
            result = self._attempt(job, slot, attempt)
            seconds += result.seconds
            outcome = classify(result)
            if outcome is Outcome.OK or attempt == job.retry.attempts:
                break
        entry = Entry(
            job=job.name,
            slot=slot,
            ended=self._clock.now(),
            outcome=outcome,
            attempts=attempt,
            seconds=round(seconds, 3),
            output=result.output,
        )
        self.journal.append(entry)
        return entry

    def _attempt(self, job: Job, slot: datetime, attempt: int) -> Result:
        wait = job.retry.wait_before(attempt)
        if wait:
            self._pause(wait)
        return self._launcher(self.command(job, slot, attempt))

    def command(self, job: Job, slot: datetime, attempt: int = 1) -> Command:
        """What is launched for one attempt."""
        env = {
            **job.env,
            "TEMPO_JOB": job.name,
            "TEMPO_SLOT": slot.isoformat(timespec="minutes"),
            "TEMPO_ATTEMPT": str(attempt),
            "TEMPO_LANE": lane_for(job.queue, self.config.site),
        }
        if job.batch:
            env["TEMPO_BATCH"] = batch_for(slot)
        return Command(argv=job.command, env=env, timeout=job.timeout)


def classify(result: Result) -> Outcome:
    """The outcome that one attempt speaks for."""
    return Outcome.OK if result.code == 0 else Outcome.FAILED
