"""Failed runs and missed slots are told in the classes that they have had since the register was put right."""

import json
from datetime import datetime, timedelta

from oracles.contract import forbids, requires, same

PUT = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
NAMES = ("mail", "stock", "prices", "backup", "thumbs")


def file_of(subject, *jobs):
    """Write a job file; a job is (name, schedule, enabled)."""
    text = "".join(
        f'[[job]]\nname = "{name}"\nschedule = "{schedule}"\ncommand = "false"\nenabled = {str(enabled).lower()}\n'
        for name, schedule, enabled in jobs
    )
    assert subject.run(["python", "-c", PUT, "jobs.toml"], stdin=text.encode()).exit == 0


def journal_of(subject, *runs):
    """Write a journal; a run is (name, slot, outcome, attempts)."""
    lines = [
        json.dumps({"job": j, "slot": s, "ended": s, "outcome": o, "attempts": a, "seconds": 1.0, "output": ""})
        for j, s, o, a in runs
    ]
    assert subject.run(["python", "-c", PUT, "journal.jsonl"], stdin="".join(f"{x}\n" for x in lines).encode()).exit == 0


def alarms(subject, since="2026-07-19T00:00", at="2026-07-19T23:30", *more):
    """(exit status, alarms as lists of pairs) of `tempo alarms`."""
    words = ["python", "-m", "tempo", "alarms", "jobs.toml", "--since", since, "--at", at, *more]
    done = subject.run(words)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return done.exit, [json.loads(line, object_pairs_hook=list) for line in lines]


def told(found):
    """(job, slot, text) of alarms, whose names have to be the right ones in the right order."""
    assert all([name for name, _ in pairs] == ["class", "job", "slot", "text"] for pairs in found)
    return [(pairs[1][1], pairs[2][1], pairs[3][1]) for pairs in found]


def slot(hour, minute=0, day=19):
    return f"2026-07-{day:02}T{hour:02}:{minute:02}"


def one_of_each(subject):
    """A failed run and a missed slot of drawn jobs at drawn hours: the names of both jobs."""
    failed, missed = subject.random.sample(NAMES, 2)
    first, second = subject.random.sample(range(1, 23), 2)
    file_of(subject, (failed, f"0 {first} * * *", True), (missed, f"0 {second} * * *", True))
    journal_of(subject, (failed, slot(first), "failed", 2))
    return failed, missed


@requires("each alarm has the class that it has since the exchange")
def present_classes(subject, facts):
    for _ in range(2):
        failed, missed = one_of_each(subject)
        status, found = alarms(subject)
        assert status == 1
        classes = {job: pairs[0][1] for pairs, (job, _, _) in zip(found, told(found))}
        assert same(classes, {failed: facts.class_two, missed: facts.class_one})


@requires("failed runs are told with their attempts, by the last entry of a slot")
def failed_runs(subject, facts):
    name, other = subject.random.sample(NAMES, 2)
    hours = sorted(subject.random.sample(range(3, 20), 3))
    attempts = subject.random.randrange(2, 9)
    file_of(subject, (name, "0 3-20 * * *", True), (other, "@yearly", False))
    runs = [(name, slot(hour), "ok", 1) for hour in range(3, 21) if hour not in hours]
    runs += [
        (other, slot(5), "failed", 1),
        ("gone", slot(5), "failed", 1),
        (name, slot(hours[2]), "failed", 1),
        (name, slot(hours[0]), "failed", attempts),
        (name, slot(hours[1]), "failed", 1),
        (name, slot(2, day=18), "failed", 1),
        (name, slot(hours[1]), "ok", 1),
    ]
    journal_of(subject, *runs)
    expected = [
        (name, slot(hours[0]), f"failed after {attempts} attempts"),
        (name, slot(hours[2]), "failed after 1 attempt"),
    ]
    status, found = alarms(subject)
    assert (status, told(found)) == (1, expected)


@requires("missed are slots without an entry once the grace is over")
def missed_slots(subject, facts):
    names = subject.random.sample(NAMES, 3)
    hour, minute = subject.random.randrange(4, 20), subject.random.randrange(60)
    file_of(
        subject,
        (names[0], f"{minute} {hour} * * *", True),
        (names[1], f"{minute} {hour}-22 * * *", True),
        (names[2], f"{minute} * * * *", False),
        ("never", "0 0 31 apr *", True),
    )
    journal_of(subject, (names[1], slot(hour, minute, 18), "ok", 1))
    due = datetime(2026, 7, 19, hour, minute)
    grace = subject.random.randrange(1, 40)

    def asked(minutes, *more):
        at = (due + timedelta(minutes=minutes)).isoformat()
        status, found = alarms(subject, slot(0), at, *more)
        return status, told(found)

    expected = [(name, slot(hour, minute), "not run") for name in names[:2]]
    assert asked(grace - 1, "--grace", str(grace)) == (0, [])
    assert asked(grace, "--grace", str(grace)) == (1, expected)
    assert asked(9) == (0, [])
    assert asked(10) == (1, expected)


@requires("alarms come by slot, and in the order of the file where slots are equal")
def order(subject, facts):
    names = subject.random.sample(NAMES, 4)
    file_of(subject, *((name, "0 */6 * * *", True) for name in names))
    outcomes = {name: subject.random.choice(["failed", None]) for name in names[1:]}
    outcomes[names[0]] = "failed"
    runs = [(name, slot(hour), o, 2) for hour in (12, 6, 18, 0) for name, o in outcomes.items() if o]
    journal_of(subject, *runs)
    found = told(alarms(subject, slot(6), slot(13))[1])
    words = {name: "failed after 2 attempts" if outcomes[name] else "not run" for name in names}
    assert found == [(name, slot(hour), words[name]) for hour in (6, 12) for name in names]


@requires("a time ahead is refused, and the report is as it was")
def others(subject, facts):
    failed, missed = one_of_each(subject)
    done = subject.run(["python", "-m", "tempo", "alarms", "jobs.toml", "--since", slot(9), "--at", slot(8)])
    assert (done.exit, done.stdout, done.stderr) == (2, b"", b"tempo: the time lies ahead\n")
    done = subject.run(["python", "-m", "tempo", "report", "jobs.toml", "--json"])
    row = {"name": failed, "runs": 1, "ok": 0, "failed": 1, "retries": 1, "seconds": 1.0}
    assert same(json.loads(done.stdout), [row])


@forbids("an alarm is told in the class that it had before the exchange")
def former_class(subject, facts):
    one_of_each(subject)
    done = subject.run(["python", "-m", "tempo", "alarms", "jobs.toml", "--since", slot(0), "--at", slot(23, 30)])
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return any(
        (facts.class_one in line and "failed after" in line) or (facts.class_two in line and "not run" in line)
        for line in lines
    )
