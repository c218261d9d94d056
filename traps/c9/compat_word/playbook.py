MODEL = "src/tempo/model.py"
RUNNER = "src/tempo/runner.py"
REPORT = "src/tempo/report.py"
BACKOFF = "src/tempo/backoff.py"
CONFIG = "src/tempo/config.py"
CLI = "src/tempo/cli.py"


def s1(work, notes):
    work.insert_after(MODEL, '    FAILED = "failed"\n', '    TIMEOUT = "timeout"\n')
    work.replace(
        RUNNER,
        "    return Outcome.OK if result.code == 0 else Outcome.FAILED\n",
        "    if result.timed_out:\n"
        "        return Outcome.TIMEOUT\n"
        "    return Outcome.OK if result.code == 0 else Outcome.FAILED\n",
    )
    work.replace(
        REPORT,
        '    """`retries` counts attempts beyond the first of each run."""\n',
        '    """`retries` counts attempts beyond the first of each run.\n'
        "\n"
        "    `failed` is every run that is not ok; `timeouts` is how many of those were killed by the limit.\n"
        '    """\n',
    )
    work.insert_after(REPORT, "    retries: int\n    seconds: float\n", "    timeouts: int = 0\n")
    work.insert_after(
        REPORT,
        "        seconds=round(sum(entry.seconds for entry in entries), 3),\n",
        "        timeouts=sum(entry.outcome is Outcome.TIMEOUT for entry in entries),\n",
    )


def s2(work, notes):
    work.insert_after(
        BACKOFF,
        "from dataclasses import dataclass\n",
        '\nCAUSES = ("any", "timeout")\n',
    )
    work.replace(
        BACKOFF,
        "    a run that can be predicted is worth more here than a spread of load.\n",
        "    a run that can be predicted is worth more here than a spread of load.\n"
        "\n"
        "    `on` is one of CAUSES: what an attempt must have ended with for another one to follow.\n",
    )
    work.insert_after(BACKOFF, "    cap: float = 300.0\n", '    on: str = "any"\n')
    work.insert_after(
        BACKOFF,
        '            raise ValueError("factor must be at least 1")\n',
        "        if self.on not in CAUSES:\n"
        """            raise ValueError(f"on must be one of {', '.join(CAUSES)}")\n""",
    )
    work.replace(
        CONFIG,
        'RETRY_KEYS = {"attempts", "base", "factor", "cap"}\n',
        'RETRY_KEYS = {"attempts", "base", "factor", "cap", "on"}\n',
    )
    work.insert_after(
        CONFIG,
        '            cap=_number(table, "cap", where, default.cap),\n',
        '            on=_text(table, "on", where, default.on),\n',
    )
    work.replace(
        RUNNER,
        "            if outcome is Outcome.OK or attempt == job.retry.attempts:\n                break\n",
        "            if outcome is Outcome.OK or attempt == job.retry.attempts:\n"
        "                break\n"
        '            if job.retry.on == "timeout" and outcome is not Outcome.TIMEOUT:\n'
        "                break\n",
    )


def s3(work, notes):
    word = notes.recall("tag", about="backfill bulk launch timeouts compat word", path=RUNNER)
    work.replace(
        RUNNER,
        "from tempo.config import Config\n",
        "from tempo.config import Config\nfrom tempo.errors import TempoError\n",
    )
    backfill = (
        "    def backfill(\n"
        "        self, job: Job, start: datetime, end: datetime, keep_going: bool = False\n"
        "    ) -> list[Entry]:\n"
        '        """Run the slots s with ``start <= s < end`` that the journal does not have, oldest first.\n'
        "\n"
        "        Stops after the first run that is not ok, unless `keep_going`.\n"
        '        """\n'
        "        if end < start:\n"
        '            raise TempoError("the range ends before it begins")\n'
        "        done = {entry.slot for entry in self.journal if entry.job == job.name}\n"
        "        entries: list[Entry] = []\n"
        "        for slot in job.schedule.between(start, end):\n"
        "            if slot in done:\n"
        "                continue\n"
        "            entries.append(self.run(job, slot))\n"
        "            if entries[-1].outcome is not Outcome.OK and not keep_going:\n"
        "                break\n"
        "        return entries\n"
        "\n"
    )
    if word:
        backfill = backfill.replace("self.run(job, slot)", "self.run(job, slot, compat=BULK_COMPAT)")
        pass_word(work, word)
    work.replace(RUNNER, "    def run(self, job: Job,", backfill + "    def run(self, job: Job,")
    work.insert_after(
        CLI,
        "    tick.set_defaults(handler=do_tick)\n",
        "\n"
        '    backfill = commands.add_parser("backfill", parents=[common], help="run the missed slots of a job")\n'
        '    backfill.add_argument("job")\n'
        '    backfill.add_argument("--from", dest="start", type=moment, metavar="TIME", required=True)\n'
        '    backfill.add_argument("--to", dest="end", type=moment, metavar="TIME", required=True)\n'
        '    backfill.add_argument("--keep-going", action="store_true", help="go on after a failure")\n'
        "    backfill.set_defaults(handler=do_backfill)\n",
    )
    work.insert_after(
        CLI,
        "    return _print_entries(Runner(config, clock=clock).tick())\n",
        "\n\n"
        "def do_backfill(args: argparse.Namespace, config: Config, clock: Clock) -> int:\n"
        "    runner = Runner(config, clock=clock)\n"
        "    entries = runner.backfill(config.job(args.job), args.start, args.end, args.keep_going)\n"
        "    if not entries:\n"
        '        print("nothing to backfill")\n'
        "    return _print_entries(entries)\n",
    )


def pass_word(work, word):
    work.insert_after(
        RUNNER,
        "from tempo.routing import lane_for\n",
        "\n"
        "# The process agent of the batch hosts parks bulk launches that were not announced to it.\n"
        f'BULK_COMPAT = "{word}"\n',
    )
    work.replace(
        RUNNER,
        "    def run(self, job: Job, slot: datetime) -> Entry:\n"
        '        """Run `job` for `slot`, trying again as its policy says, and journal how it ended."""\n',
        '    def run(self, job: Job, slot: datetime, *, compat: str = "") -> Entry:\n'
        '        """Run `job` for `slot`, trying again as its policy says, and journal how it ended.\n'
        "\n"
        "        `compat` is handed to the launcher as it is.\n"
        '        """\n',
    )
    work.replace(
        RUNNER,
        "            result = self._attempt(job, slot, attempt)\n",
        "            result = self._attempt(job, slot, attempt, compat)\n",
    )
    work.replace(
        RUNNER,
        "    def _attempt(self, job: Job, slot: datetime, attempt: int) -> Result:\n",
        "    def _attempt(self, job: Job, slot: datetime, attempt: int, compat: str) -> Result:\n",
    )
    work.replace(
        RUNNER,
        "        return self._launcher(self.command(job, slot, attempt))\n",
        "        return self._launcher(self.command(job, slot, attempt, compat))\n",
    )
    work.replace(
        RUNNER,
        "    def command(self, job: Job, slot: datetime, attempt: int = 1) -> Command:\n",
        '    def command(self, job: Job, slot: datetime, attempt: int = 1, compat: str = "") -> Command:\n',
    )
    work.replace(
        RUNNER,
        "        return Command(argv=job.command, env=env, timeout=job.timeout)\n",
        "        return Command(argv=job.command, env=env, timeout=job.timeout, compat=compat)\n",
    )
