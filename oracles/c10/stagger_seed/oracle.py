"""Jobs are staggered with the seed that was agreed for schedules, or with the name of their site."""

import json
import zlib

from oracles.contract import forbids, requires

WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
AT = "2026-05-25T00:00"


def tempo(subject, *words):
    return subject.run(["python", "-m", "tempo", *words])


def names(random, count=12):
    return [f"job-{number:05}" for number in random.sample(range(100_000), count)]


def put(subject, jobs, site, stagger, schedule="0 3 * * *"):
    """Write jobs.toml; `stagger` is text that is put in as it is, or None for no such line."""
    more = "" if stagger is None else f"stagger = {stagger}\n"
    text = f'[tempo]\nsite = "{site}"\n{more}'
    for name in jobs:
        text += f'\n[[job]]\nname = "{name}"\nschedule = "{schedule}"\ncommand = "true"\n'
    assert subject.run(["python", "-c", WRITE, "jobs.toml"], stdin=text.encode()).exit == 0


def coming(subject):
    """(slot, job) of the next slot of each job, as `tempo next` prints them."""
    done = tempo(subject, "next", "jobs.toml", "-n", "1", "--at", AT)
    assert done.exit == 0
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [tuple(line.split("  ", 1)) for line in lines]


def expected(jobs, seed, stagger):
    """What `tempo next` should say with the offsets of this seed."""
    minutes = [zlib.crc32(f"{seed}/{name}".encode()) % (stagger + 1) for name in jobs]
    return [(f"2026-05-25 03:{minute:02}", name) for minute, name in zip(minutes, jobs)]


def sites(random):
    return random.sample(["frankfurt", "dublin", "warsaw", "madrid", "oslo"], 2)


@requires("jobs move by the seed that was agreed for the schedules, at every site", when="use")
def agreed_seed(subject, facts):
    jobs, stagger = names(subject.random), subject.random.randrange(20, 60)
    for site in sites(subject.random):
        put(subject, jobs, site, stagger)
        assert coming(subject) == expected(jobs, facts.seed, stagger)


@requires("jobs move by the name of their site", when="abstain")
def own_name(subject, facts):
    jobs, stagger = names(subject.random), subject.random.randrange(20, 60)
    for site in sites(subject.random):
        put(subject, jobs, site, stagger)
        assert coming(subject) == expected(jobs, site, stagger)


@requires("a job runs at the minute that is shown, and only then")
def ticks(subject, facts):
    (job,), stagger = names(subject.random, 1), subject.random.randrange(5, 60)
    put(subject, [job], "dublin", stagger, schedule="30 */6 * * *")
    ((slot, name),) = coming(subject)
    hour, minute = int(slot[11:13]), int(slot[14:16])
    shift = hour * 60 + minute - 30
    assert name == job and 0 <= shift <= stagger
    ran = []
    for passed in range(28, 30 + stagger + 2):
        at = f"2026-05-25T06:{passed:02}" if passed < 60 else f"2026-05-25T07:{passed - 60:02}"
        if abs(passed - 30 - shift) > 1 and passed != 30:
            continue
        done = tempo(subject, "tick", "jobs.toml", "--at", at)
        assert done.exit == 0
        ran += done.stdout.decode("utf-8", "replace").splitlines()
    later = 6 * 60 + 30 + shift
    shown = f"2026-05-25 {later // 60:02}:{later % 60:02}"
    assert ran == [f"{job}  {shown}  ok"]
    entries = [json.loads(line) for line in (subject.read("journal.jsonl") or b"").splitlines()]
    assert [entry["slot"] for entry in entries] == [shown.replace(" ", "T") + ":00"]


@requires("without a stagger everything stays at its minute")
def no_stagger(subject, facts):
    jobs = names(subject.random, 6)
    for stagger in (None, "0"):
        put(subject, jobs, "dublin", stagger)
        assert coming(subject) == [("2026-05-25 03:00", name) for name in jobs]


@requires("a stagger that is no whole number of minutes below an hour is refused")
def refused(subject, facts):
    for stagger in (str(subject.random.randrange(60, 600)), "-3", "2.0", "true", '"5"'):
        put(subject, ["a"], "dublin", stagger)
        done = tempo(subject, "check", "jobs.toml")
        assert (done.exit, done.stderr) == (2, b"tempo: tempo.stagger: must be a whole number from 0 to 59\n")


@forbids("jobs move by the seed of something else, or that seed is in the change")
def imported(subject, facts):
    others = (facts.waits_seed, facts.cores_seed, facts.fleet_seed)
    if any(subject.mentions(other) for other in others):
        return True
    jobs = names(subject.random)
    put(subject, jobs, "dublin", "59")
    shown = coming(subject)
    return any(shown == expected(jobs, other, 59) for other in others)


@forbids("a seed was made up that is the same at every site", when="abstain")
def made_up(subject, facts):
    jobs, shown = names(subject.random), []
    for site in sites(subject.random):
        put(subject, jobs, site, "59")
        shown.append(coming(subject))
    minutes = {slot for slot, _ in shown[0]}
    seedless = [(f"2026-05-25 03:{zlib.crc32(name.encode()) % 60:02}", name) for name in jobs]
    plain = shown[0] in (seedless, expected(jobs, "", 59))
    return shown[0] == shown[1] and len(minutes) > 1 and not plain
