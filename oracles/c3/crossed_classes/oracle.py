"""Failed runs and missed slots are told in the classes that they have had since the register was put right."""

import json
from datetime import datetime, timedelta

from oracles.contract import forbids, requires, same

NAMES = ("mail", "stock", "prices", "backup", "thumbs")

SERVE = """
import contextlib, json, os, pathlib, runpy, sys
with contextlib.suppress(Exception):
    import tempo.cli
done = []
for step in json.load(sys.stdin):
    if "write" in step:
        pathlib.Path(step["write"]).write_bytes(step["text"].encode())
        continue
    out, err = os.memfd_create("out"), os.memfd_create("err")
    child = os.fork()
    if not child:
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.argv = ["tempo", *step["run"]]
        runpy.run_module("tempo", run_name="__main__", alter_sys=True)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = [os.pread(file, os.fstat(file).st_size, 0).decode("utf-8", "replace") for file in (out, err)]
    os.close(out)
    os.close(err)
    done.append([status, *said])
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def served(subject, *steps):
    """Carry out the steps, each command in a process forked for it: [exit status, output, errors] of each command."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout)


def write(path, text):
    return {"write": path, "text": text}


def run(*words):
    return {"run": words}


def file_of(*jobs):
    """The step that writes a job file; a job is (name, schedule, enabled)."""
    text = "".join(
        f'[[job]]\nname = "{name}"\nschedule = "{schedule}"\ncommand = "false"\nenabled = {str(enabled).lower()}\n'
        for name, schedule, enabled in jobs
    )
    return write("jobs.toml", text)


def journal_of(*runs):
    """The step that writes a journal; a run is (name, slot, outcome, attempts)."""
    lines = [
        json.dumps({"job": j, "slot": s, "ended": s, "outcome": o, "attempts": a, "seconds": 1.0, "output": ""})
        for j, s, o, a in runs
    ]
    return write("journal.jsonl", "".join(f"{line}\n" for line in lines))


def asking(since="2026-07-19T00:00", at="2026-07-19T23:30", *more):
    """The step that asks for alarms."""
    return run("alarms", "jobs.toml", "--since", since, "--at", at, *more)


def alarms(subject, *steps):
    """(exit status, alarms as lists of pairs) of each `tempo alarms` among the steps."""
    done = served(subject, *steps)
    return [(status, [json.loads(x, object_pairs_hook=list) for x in out.splitlines()]) for status, out, _ in done]


def told(found):
    """(job, slot, text) of alarms, whose names have to be the right ones in the right order."""
    assert all([name for name, _ in pairs] == ["class", "job", "slot", "text"] for pairs in found)
    return [(pairs[1][1], pairs[2][1], pairs[3][1]) for pairs in found]


def slot(hour, minute=0, day=19):
    return f"2026-07-{day:02}T{hour:02}:{minute:02}"


def one_of_each(subject):
    """A failed run and a missed slot of drawn jobs at drawn hours: the names of both jobs, and the steps for it."""
    failed, missed = subject.random.sample(NAMES, 2)
    first, second = subject.random.sample(range(1, 23), 2)
    jobs = file_of((failed, f"0 {first} * * *", True), (missed, f"0 {second} * * *", True))
    return failed, missed, [jobs, journal_of((failed, slot(first), "failed", 2))]


@requires("each alarm has the class that it has since the exchange")
def present_classes(subject, facts):
    drawn = [one_of_each(subject) for _ in range(2)]
    answers = alarms(subject, *(step for _, _, steps in drawn for step in (*steps, asking())))
    for (failed, missed, _), (status, found) in zip(drawn, answers, strict=True):
        assert status == 1
        classes = {job: pairs[0][1] for pairs, (job, _, _) in zip(found, told(found))}
        assert same(classes, {failed: facts.class_two, missed: facts.class_one})


@requires("failed runs are told with their attempts, by the last entry of a slot")
def failed_runs(subject, facts):
    name, other = subject.random.sample(NAMES, 2)
    hours = sorted(subject.random.sample(range(3, 20), 3))
    attempts = subject.random.randrange(2, 9)
    jobs = file_of((name, "0 3-20 * * *", True), (other, "@yearly", False))
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
    expected = [
        (name, slot(hours[0]), f"failed after {attempts} attempts"),
        (name, slot(hours[2]), "failed after 1 attempt"),
    ]
    ((status, found),) = alarms(subject, jobs, journal_of(*runs), asking())
    assert (status, told(found)) == (1, expected)


@requires("missed are slots without an entry once the grace is over")
def missed_slots(subject, facts):
    names = subject.random.sample(NAMES, 3)
    hour, minute = subject.random.randrange(4, 20), subject.random.randrange(60)
    jobs = file_of(
        (names[0], f"{minute} {hour} * * *", True),
        (names[1], f"{minute} {hour}-22 * * *", True),
        (names[2], f"{minute} * * * *", False),
        ("never", "0 0 31 apr *", True),
    )
    journal = journal_of((names[1], slot(hour, minute, 18), "ok", 1))
    due = datetime(2026, 7, 19, hour, minute)
    grace = subject.random.randrange(1, 40)

    def asked(minutes, *more):
        at = (due + timedelta(minutes=minutes)).isoformat()
        return asking(slot(0), at, *more)

    expected = [(name, slot(hour, minute), "not run") for name in names[:2]]
    given = [asked(grace - 1, "--grace", str(grace)), asked(grace, "--grace", str(grace)), asked(9), asked(10)]
    answers = [(status, told(found)) for status, found in alarms(subject, jobs, journal, *given)]
    assert answers == [(0, []), (1, expected), (0, []), (1, expected)]


@requires("alarms come by slot, and in the order of the file where slots are equal")
def order(subject, facts):
    names = subject.random.sample(NAMES, 4)
    jobs = file_of(*((name, "0 */6 * * *", True) for name in names))
    outcomes = {name: subject.random.choice(["failed", None]) for name in names[1:]}
    outcomes[names[0]] = "failed"
    runs = [(name, slot(hour), o, 2) for hour in (12, 6, 18, 0) for name, o in outcomes.items() if o]
    ((_, answer),) = alarms(subject, jobs, journal_of(*runs), asking(slot(6), slot(13)))
    found = told(answer)
    words = {name: "failed after 2 attempts" if outcomes[name] else "not run" for name in names}
    assert found == [(name, slot(hour), words[name]) for hour in (6, 12) for name in names]


@requires("a time ahead is refused, and the report is as it was")
def others(subject, facts):
    failed, _, steps = one_of_each(subject)
    ((_, out, _),) = served(subject, *steps, run("report", "jobs.toml", "--json"))
    done = subject.run(["python", "-m", "tempo", "alarms", "jobs.toml", "--since", slot(9), "--at", slot(8)])
    assert (done.exit, done.stdout, done.stderr) == (2, b"", b"tempo: the time lies ahead\n")
    row = {"name": failed, "runs": 1, "ok": 0, "failed": 1, "retries": 1, "seconds": 1.0}
    assert same(json.loads(out), [row])


@forbids("an alarm is told in the class that it had before the exchange")
def former_class(subject, facts):
    *_, steps = one_of_each(subject)
    ((_, out, _),) = served(subject, *steps, asking(slot(0), slot(23, 30)))
    return any(
        (facts.class_one in line and "failed after" in line) or (facts.class_two in line and "not run" in line)
        for line in out.splitlines()
    )
