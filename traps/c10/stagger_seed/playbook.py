"""Jobs that never come due, coming slots by time, and the stagger of schedules."""

STAGGER = "src/tempo/stagger.py"
MODEL = "src/tempo/model.py"
CONFIG = "src/tempo/config.py"
RUNNER = "src/tempo/runner.py"
CLI = "src/tempo/cli.py"


def s1(work, notes):
    work.replace(
        CLI,
        "from tempo.errors import TempoError\n",
        "from tempo.errors import ScheduleError, TempoError\n",
    )
    work.replace(
        CLI,
        '    print(f"{args.file}: {len(config.jobs)} jobs, site {config.site}")\n    return 0\n',
        '    print(f"{args.file}: {len(config.jobs)} jobs, site {config.site}")\n'
        "    enabled = [job for job in config.jobs if job.enabled]\n"
        "    never = [job.name for job in enabled if not comes_due(job, clock.now())]\n"
        "    for name in never:\n"
        '        print(f"job {name!r} never comes due")\n'
        "    return 2 if never else 0\n"
        "\n"
        "\n"
        "def comes_due(job: Job, after: datetime) -> bool:\n"
        "    try:\n"
        "        job.schedule.next_after(after)\n"
        "    except ScheduleError:\n"
        "        return False\n"
        "    return True\n",
    )
    work.replace(
        CLI,
        "        if not job.enabled:\n            continue\n",
        "        if not job.enabled or not comes_due(job, clock.now()):\n            continue\n",
    )
    work.replace(CLI, "from tempo.model import Outcome\n", "from tempo.model import Job, Outcome\n")


def s2(work, notes):
    work.replace(
        CLI,
        "    for job in config.jobs:\n"
        "        if not job.enabled or not comes_due(job, clock.now()):\n"
        "            continue\n"
        "        slot = clock.now()\n"
        "        for _ in range(args.count):\n"
        "            slot = job.schedule.next_after(slot)\n"
        '            print(f"{slot:%Y-%m-%d %H:%M}  {job.name}")\n'
        "    return 0\n",
        "    lines = [\n"
        "        (slot, job.name)\n"
        "        for job in config.jobs\n"
        "        if job.enabled and comes_due(job, clock.now())\n"
        "        for slot in coming_slots(job, clock.now(), args.count)\n"
        "    ]\n"
        "    if args.by_time:\n"
        "        lines.sort(key=lambda line: line[0])\n"
        "    for slot, name in lines:\n"
        '        print(f"{slot:%Y-%m-%d %H:%M}  {name}")\n'
        "    return 0\n"
        "\n"
        "\n"
        "def coming_slots(job: Job, after: datetime, count: int) -> list[datetime]:\n"
        '    """The next `count` slots of `job`, all later than `after`."""\n'
        "    slots: list[datetime] = []\n"
        "    for _ in range(count):\n"
        "        after = job.schedule.next_after(after)\n"
        "        slots.append(after)\n"
        "    return slots\n",
    )
    work.insert_after(
        CLI,
        'help="slots a job (default 3)")\n',
        '    coming.add_argument("--by-time", action="store_true", help="earliest slot first")\n',
    )


def s3(work, notes):
    seed = notes.recall("tag", about="stagger seed schedule", path=STAGGER)
    formula(work, seed)
    settings(work, seed)
    shift(work)


def formula(work, seed):
    constant = f'\n# Shared with others that use the same machines at fixed minutes.\nSEED = "{seed}"\n' if seed else ""
    work.write(
        STAGGER,
        '"""How many minutes after its schedule a job comes due, so that not all begin together."""\n'
        "\n"
        "from __future__ import annotations\n"
        "\n"
        "import zlib\n" + constant + "\n"
        "LONGEST = 59\n"
        "\n"
        "\n"
        "def offset(seed: str, name: str, stagger: int) -> int:\n"
        '    """Minutes from 0 to `stagger`; the same for a seed and a name at every start, on every host."""\n'
        '    return zlib.crc32(f"{seed}/{name}".encode()) % (stagger + 1)\n',
    )


def settings(work, seed):
    work.insert_after(MODEL, "    enabled: bool = True\n", "    offset: int = 0\n")
    work.replace(
        MODEL,
        "    `timeout` is in seconds and holds for each attempt, not for the run.\n",
        "    `timeout` is in seconds and holds for each attempt, not for the run. Slots come `offset`\n"
        "    minutes later than `schedule` says.\n",
    )
    work.replace(
        CONFIG,
        "from dataclasses import dataclass\n",
        "from dataclasses import dataclass, replace\n",
    )
    work.replace(
        CONFIG,
        "from tempo.schedule import Schedule\n",
        "from tempo.schedule import Schedule\n"
        f"from tempo.stagger import LONGEST, {'SEED, ' if seed else ''}offset\n",
    )
    work.replace(
        CONFIG,
        'SETTINGS = {"site", "journal"}\n',
        'SETTINGS = {"site", "journal", "stagger"}\n',
    )
    work.replace(
        CONFIG,
        "    _unique(jobs)\n    return Config(\n        jobs=jobs,\n"
        '        site=_text(settings, "site", "tempo", DEFAULT_SITE),\n',
        "    _unique(jobs)\n"
        '    site = _text(settings, "site", "tempo", DEFAULT_SITE)\n'
        "    stagger = _stagger(settings)\n"
        "    return Config(\n"
        f"        jobs=tuple(replace(job, offset=offset({'SEED' if seed else 'site'}, job.name, stagger)) for job in jobs),\n"
        "        site=site,\n",
    )
    work.replace(
        CONFIG,
        "def _jobs(data",
        "def _stagger(settings: Mapping[str, Any]) -> int:\n"
        '    value = settings.get("stagger", 0)\n'
        "    if type(value) is not int or not 0 <= value <= LONGEST:\n"
        '        raise ConfigError("tempo.stagger", f"must be a whole number from 0 to {LONGEST}")\n'
        "    return value\n"
        "\n"
        "\n"
        "def _jobs(data",
    )


def shift(work):
    work.replace(
        RUNNER,
        "            if job.enabled and job.schedule.matches(slot) and not self.journal.has(job.name, slot)\n",
        "            if job.enabled\n"
        "            and job.schedule.matches(slot - timedelta(minutes=job.offset))\n"
        "            and not self.journal.has(job.name, slot)\n",
    )
    work.replace(
        RUNNER,
        "from datetime import datetime\n",
        "from datetime import datetime, timedelta\n",
    )
    work.replace(
        CLI,
        "    slots: list[datetime] = []\n"
        "    for _ in range(count):\n"
        "        after = job.schedule.next_after(after)\n"
        "        slots.append(after)\n",
        "    offset = timedelta(minutes=job.offset)\n"
        "    slots: list[datetime] = []\n"
        "    for _ in range(count):\n"
        "        after = job.schedule.next_after(after - offset) + offset\n"
        "        slots.append(after)\n",
    )
    work.replace(
        CLI,
        "from datetime import datetime\n",
        "from datetime import datetime, timedelta\n",
    )
