"""The command line. Exit status: 0 fine, 1 a run failed, 2 the request or the file is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from tempo import alarms, report
from tempo.clock import Clock, FixedClock, WallClock, minute
from tempo.config import Config, load
from tempo.errors import TempoError
from tempo.journal import Entry, Journal
from tempo.model import Outcome
from tempo.runner import Runner

Handler = Callable[[argparse.Namespace, Config, Clock], int]


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    clock = FixedClock(args.at) if args.at else WallClock()
    try:
        handler: Handler = args.handler
        return handler(args, load(args.file), clock)
    except TempoError as error:
        print(f"tempo: {error}", file=sys.stderr)
        return 2


def build_parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("file", type=Path, help="the job file")
    common.add_argument("--at", type=moment, metavar="TIME", help="instead of the wall clock")

    parser = argparse.ArgumentParser(prog="tempo", description="A job scheduler for one host.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser("check", parents=[common], help="read the file and report mistakes")
    check.set_defaults(handler=do_check)

    coming = commands.add_parser("next", parents=[common], help="show the coming slots")
    coming.add_argument("-n", "--count", type=int, default=3, help="slots a job (default 3)")
    coming.set_defaults(handler=do_next)

    run = commands.add_parser("run", parents=[common], help="run one job now")
    run.add_argument("job")
    run.set_defaults(handler=do_run)

    tick = commands.add_parser("tick", parents=[common], help="run what is due this minute")
    tick.set_defaults(handler=do_tick)

    totals = commands.add_parser("report", parents=[common], help="totals from the journal")
    totals.add_argument("--json", action="store_true")
    totals.add_argument("--job", action="append", metavar="NAME", help="only this one; may be repeated")
    totals.set_defaults(handler=do_report)

    warn = commands.add_parser("alarms", parents=[common], help="failed runs and missed slots, for the monitoring")
    warn.add_argument("--since", type=moment, metavar="TIME", required=True)
    warn.add_argument("--grace", type=int, default=alarms.GRACE, metavar="MINUTES", help="before a slot is missed")
    warn.set_defaults(handler=do_alarms)
    return parser


def moment(text: str) -> datetime:
    """A time as people type it: ISO, to the day or finer, without a zone."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is not None:
        raise argparse.ArgumentTypeError("times are local to the site; leave the zone out")
    return value


def do_check(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    print(f"{args.file}: {len(config.jobs)} jobs, site {config.site}")
    return 0


def do_next(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    for job in config.jobs:
        if not job.enabled:
            continue
        slot = clock.now()
        for _ in range(args.count):
            slot = job.schedule.next_after(slot)
            print(f"{slot:%Y-%m-%d %H:%M}  {job.name}")
    return 0


def do_run(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    runner = Runner(config, clock=clock)
    return _print_entries([runner.run(config.job(args.job), minute(clock.now()))])


def do_tick(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    return _print_entries(Runner(config, clock=clock).tick())


def do_report(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    rows = report.summarise(Journal(config.journal))
    if args.job:
        known = {row.name for row in rows} | {job.name for job in config.jobs}
        for name in args.job:
            if name not in known:
                raise TempoError(f"there is no job {name!r}")
        rows = [row for row in rows if row.name in args.job]
    print(report.as_json(rows) if args.json else report.as_table(rows))
    return 0


def do_alarms(args: argparse.Namespace, config: Config, clock: Clock) -> int:
    found = alarms.find(config, Journal(config.journal), args.since, clock.now(), args.grace)
    for alarm in found:
        print(alarm.to_line())
    return 1 if found else 0


def _print_entries(entries: Sequence[Entry]) -> int:
    for entry in entries:
        print(f"{entry.job}  {entry.slot:%Y-%m-%d %H:%M}  {entry.outcome.value}")
    return 0 if all(entry.outcome is Outcome.OK for entry in entries) else 1
