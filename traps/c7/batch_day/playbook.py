"""Shorthands with a time, a look at what would be started, and batches for the warehouse."""

SCHEDULE = "src/tempo/schedule.py"
CLI = "src/tempo/cli.py"
BATCH = "src/tempo/batch.py"
MODEL = "src/tempo/model.py"
CONFIG = "src/tempo/config.py"
RUNNER = "src/tempo/runner.py"
README = "README.md"

MODULE = '''"""Batches in which the warehouse loads what runs have booked. A batch belongs to a slot, not to a time of day."""

from __future__ import annotations

from datetime import date, datetime, timedelta

PREFIX = "@prefix@"
BEGINS = timedelta(minutes=@begins@)  # of a day in the books, after midnight
SATURDAY = 5


def batch_for(slot: datetime) -> str:
    """The name of the batch that a run for `slot` belongs to."""
    return f"{PREFIX}/{book_day(slot).isoformat()}"


def book_day(slot: datetime) -> date:
    """The day to which the books count `slot`; they have no weekends."""
    day = (slot - BEGINS).date()
    if day.weekday() >= SATURDAY:
        day += timedelta(days=7 - day.weekday())
    return day
'''


def s1(work, notes):
    work.insert_after(
        SCHEDULE,
        '    "@weekly": "0 0 * * 0",\n',
        '    "@weekdays": "0 0 * * mon-fri",\n',
    )
    work.replace(
        SCHEDULE,
        "        expression = ALIASES.get(text.strip().lower(), text)\n",
        "        expression = _written_out(text)\n",
    )
    work.replace(
        SCHEDULE,
        '        """Read an expression; raises ScheduleError with the offending field."""\n',
        '        """Read an expression or a shorthand; raises ScheduleError with the offending field."""\n',
    )
    work.append(
        SCHEDULE,
        '''

def _written_out(text: str) -> str:
    """`text` with a shorthand, and the time behind it if there is one, as five fields."""
    words = text.lower().split()
    if not words or words[0] not in ALIASES or len(words) > 2:
        return text
    fields = ALIASES[words[0]].split()
    if len(words) == 2:
        if fields[1] == "*":
            raise ScheduleError(f"{words[0]} takes no time")
        found = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", words[1])
        if found is None:
            raise ScheduleError(f"time: cannot read {words[1]!r}")
        fields[:2] = [str(int(found[2])), str(int(found[1]))]
    return " ".join(fields)
''',
    )
    work.replace(
        SCHEDULE,
        "from collections.abc import Iterator\n",
        "import re\nfrom collections.abc import Iterator\n",
    )


def s2(work, notes):
    work.replace(CLI, "import argparse\nimport sys\n", "import argparse\nimport shlex\nimport sys\n")
    work.insert_after(
        CLI,
        '    run.add_argument("job")\n',
        '    run.add_argument("--dry", action="store_true", help="show what would be started")\n',
    )
    work.replace(
        CLI,
        "    return _print_entries([runner.run(config.job(args.job), minute(clock.now()))])\n",
        """    job, slot = config.job(args.job), minute(clock.now())
    if not args.dry:
        return _print_entries([runner.run(job, slot)])
    command = runner.command(job, slot)
    for name, value in sorted(command.env.items()):
        print(f"{name}={value}")
    print(shlex.join(command.argv))
    return 0
""",
    )


def s3(work, notes):
    prefix = notes.recall("tag", about="batch prefix warehouse", path=BATCH) or "tempo"
    begins = notes.recall("count", about="day begins minutes midnight", path=BATCH) or "0"
    work.write(BATCH, MODULE.replace("@prefix@", prefix).replace("@begins@", begins))
    _job(work)
    _command(work)


def _job(work):
    work.insert_after(MODEL, "    enabled: bool = True\n", "    batch: bool = False\n")
    work.replace(
        CONFIG,
        '"retry", "env", "enabled"}\n',
        '"retry", "env", "enabled", "batch"}\n',
    )
    work.insert_after(
        CONFIG,
        '        enabled=_flag(item, "enabled", where, True),\n',
        '        batch=_flag(item, "batch", where, False),\n',
    )
    work.replace(
        RUNNER,
        '            "TEMPO_LANE": lane_for(job.queue, self.config.site),\n        }\n',
        '            "TEMPO_LANE": lane_for(job.queue, self.config.site),\n        }\n'
        '        if job.batch:\n            env["TEMPO_BATCH"] = batch_for(slot)\n',
    )
    work.replace(RUNNER, "from tempo.clock import", "from tempo.batch import batch_for\nfrom tempo.clock import")


def _command(work):
    work.replace(CLI, "from tempo.clock import", "from tempo.batch import batch_for\nfrom tempo.clock import")
    work.insert_after(
        CLI,
        "    totals.set_defaults(handler=do_report)\n",
        """
    batches = commands.add_parser("batches", parents=[common], help="runs by batch, from the journal")
    batches.set_defaults(handler=do_batches)
""",
    )
    work.replace(
        CLI,
        "def _print_entries(",
        '''def do_batches(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    names = {job.name for job in config.jobs if job.batch}
    found: dict[str, list[bool]] = {}
    for entry in Journal(config.journal):
        if entry.job in names:
            found.setdefault(batch_for(entry.slot), []).append(entry.outcome is Outcome.OK)
    for batch, ended in sorted(found.items()):
        noun = "run" if len(ended) == 1 else "runs"
        print(f"{batch}  {len(ended)} {noun}, {ended.count(False)} failed")
    if not found:
        print("no batches")
    return 0


def _print_entries(''',
    )
    work.insert_after(
        README,
        "    tempo report FILE [--json]       what the journal says, job by job\n",
        "    tempo batches FILE               what the journal says, batch by batch\n",
    )
    work.replace(
        README,
        "environment. Hosts whose",
        "environment, and `TEMPO_BATCH` if it has `batch = true`. Hosts whose",
    )
