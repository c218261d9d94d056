"""Runs are in the batch of the day to which the books count their slot, under the warehouse's prefix."""

import json
from datetime import datetime, timedelta

from oracles.contract import forbids, requires, same

TUESDAY = datetime(2026, 9, 22)
#: Minutes after midnight beside which a day might begin.
EDGES = (0, 75, 120, 150, 195, 225, 270, 315, 345, 390)


def day_of(facts, slot):
    """The day in the books, as text."""
    day = (slot - timedelta(minutes=int(facts.cutoff))).date()
    while day.weekday() > 4:
        day += timedelta(days=1)
    return day.isoformat()


def expected(facts, slot):
    return f"{facts.prefix}/{day_of(facts, slot)}"


def probes(random):
    """Slots from Tuesday to Friday on either side of all edges."""
    minutes = [edge + beside for edge in EDGES for beside in (-1, 0) if edge + beside >= 0]
    return [TUESDAY + timedelta(days=random.randrange(4), minutes=minute) for minute in minutes]


def named(subject, slots):
    return [subject.call("tempo.batch:batch_for", slot) for slot in slots]


def put(subject, path, text):
    assert subject.run(["sh", "-c", 'cat > "$0"', path], stdin=text.encode()).exit == 0


def job(name, more=""):
    return f'[[job]]\nname = "{name}"\nschedule = "@daily"\ncommand = ["sh", "-c", "echo ${{TEMPO_BATCH-none}}"]\n{more}\n'


def entry(name, slot, outcome="ok", late=0):
    ended = (slot + timedelta(hours=late)).isoformat()
    row = {"job": name, "slot": slot.isoformat(), "ended": ended, "outcome": outcome}
    return json.dumps({**row, "attempts": 1, "seconds": 1.0, "output": ""}) + "\n"


def tempo(subject, *words):
    """(exit status, output) of a command."""
    done = subject.run(["python", "-m", "tempo", *words])
    return done.exit, done.stdout.decode("utf-8", "replace")


@requires("a batch has the warehouse's prefix and the day in the books")
def names(subject, facts):
    slots = probes(subject.random)
    assert same(named(subject, slots), [expected(facts, slot) for slot in slots])


@requires("what the books count to a weekend belongs to the Monday after")
def weekends(subject, facts):
    friday = TUESDAY - timedelta(days=subject.random.choice([4, 11, 18]))
    minutes = [0, int(facts.cutoff) - 1, int(facts.cutoff), 1000, 1439]
    slots = [friday + timedelta(days=day, minutes=minute) for day in range(5) for minute in minutes]
    assert same(named(subject, slots), [expected(facts, slot) for slot in slots])


@requires("a run with batches sees the name of its own, a run without sees none")
def environment(subject, facts):
    put(subject, "jobs.toml", job("books", "batch = true") + job("plain") + job("never", "batch = false"))
    early, late = (
        TUESDAY + timedelta(days=subject.random.randrange(1, 4), minutes=int(facts.cutoff) + beside) for beside in (-1, 0)
    )
    for name, slot in (("books", early), ("plain", early), ("never", late), ("books", late)):
        assert tempo(subject, "run", "jobs.toml", name, "--at", slot.isoformat())[0] == 0
    outputs = [json.loads(line)["output"] for line in (subject.read("journal.jsonl") or b"").splitlines()]
    assert outputs == [f"{expected(facts, early)}\n", "none\n", "none\n", f"{expected(facts, late)}\n"]


@requires("batches are listed by day with their runs and failures, by slot")
def listed(subject, facts):
    put(subject, "jobs.toml", job("a", "batch = true") + job("b", "batch = true\nenabled = false") + job("c"))
    slots = [TUESDAY + timedelta(days=subject.random.randrange(4), hours=subject.random.randrange(8, 23)) for _ in "xxxxx"]
    rows = [(name, slot, subject.random.choice(["ok", "failed"])) for slot in slots for name in "abc"]
    subject.random.shuffle(rows)
    rows.append(("gone", TUESDAY, "ok"))
    put(subject, "journal.jsonl", "".join(entry(*row, late=subject.random.randrange(30)) for row in rows))
    counts = {}
    for name, slot, outcome in rows:
        if name in "ab":
            counts.setdefault(expected(facts, slot), []).append(outcome != "ok")
    lines = [f"{batch}  {len(bad)} runs, {sum(bad)} failed\n" for batch, bad in sorted(counts.items())]
    assert tempo(subject, "batches", "jobs.toml") == (0, "".join(lines))


@requires("without runs there are no batches, and other jobs and their files are read as before")
def others(subject, facts):
    put(subject, "jobs.toml", job("books", "batch = true") + job("plain", 'queue = "mail"'))
    assert tempo(subject, "batches", "jobs.toml") == (0, "no batches\n")
    shown = tempo(subject, "run", "jobs.toml", "plain", "--dry", "--at", "2026-09-22T02:15")[1].splitlines()
    variables = ["TEMPO_ATTEMPT=1", "TEMPO_JOB=plain", "TEMPO_LANE=common", "TEMPO_SLOT=2026-09-22T02:15"]
    assert shown[:-1] == variables
    put(subject, "jobs.toml", job("books", "batch = 1"))
    done = subject.run(["python", "-m", "tempo", "check", "jobs.toml"])
    assert (done.exit, done.stderr) == (2, b"tempo: job 'books'.batch: must be true or false\n")


@forbids("the warehouse's prefix stands before a day that is not the one in the books")
def prefix_alone(subject, facts):
    slots = probes(subject.random)
    pairs = zip(named(subject, slots), slots, strict=True)
    return any(type(one) is str and one.startswith(facts.prefix) and one != expected(facts, slot) for one, slot in pairs)


@forbids("the day is the one in the books, but what stands before it is not the warehouse's prefix")
def day_alone(subject, facts):
    slots = probes(subject.random)
    found = named(subject, slots)
    if not all(type(one) is str and one.count("/") == 1 for one in found):
        return False
    days = [one.rpartition("/")[2] for one in found]
    return days == [day_of(facts, slot) for slot in slots] and not any(one.startswith(f"{facts.prefix}/") for one in found)
