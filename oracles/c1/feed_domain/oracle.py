"""A calendar of coming runs; every entry is identified in the domain that the server holds for the scheduler."""

import json
import re
from datetime import datetime, timedelta
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

START = datetime(2026, 6, 22, 0, 30)

SERVE = """
import contextlib, json, os, pathlib, runpy, sys
with contextlib.suppress(Exception):
    import tempo.cli
done = []
for step in json.load(sys.stdin):
    if "write" in step:
        pathlib.Path(step["write"]).write_bytes(step["text"].encode())
        continue
    if "read" in step:
        path = pathlib.Path(step["read"])
        done.append(path.read_bytes().decode("latin-1") if path.is_file() else "")
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
    """Carry out the steps, each command in a process forked for it.

    [exit status, output, errors] of each command and the bytes, as Latin-1, of each file that is read, in order.
    """
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout)


def write(path, text):
    return {"write": path, "text": text}


def run(*words):
    return {"run": words}


def job(name, schedule, timeout=300, more=""):
    return f'\n[[job]]\nname = "{name}"\nschedule = "{schedule}"\ncommand = "true"\ntimeout = {timeout}\n{more}'


def feed(text, days=1, site="frankfurt"):
    """The steps that write a job file, make a calendar of it and read that."""
    return [
        write("jobs.toml", f'[tempo]\nsite = "{site}"\n{text}'),
        run("feed", "jobs.toml", "runs.ics", "--days", str(days), "--at", START.isoformat()),
        {"read": "runs.ics"},
    ]


def printed_by(row):
    """What a command printed that has to succeed."""
    status, out, err = row
    assert status == 0, err[-200:]
    return out


def written(subject, text, days=1):
    """What `tempo feed` makes of a job file: (printed, bytes of the calendar)."""
    row, calendar = served(subject, *feed(text, days))
    return printed_by(row), calendar.encode("latin-1")


def entries(data):
    """The entries of a calendar, each a dictionary; what stands around them has to be right."""
    lines = data.decode("utf-8").replace("\r\n ", "").split("\r\n")
    assert lines[:3] == ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//tempo//feed//EN"]
    assert lines[-2:] == ["END:VCALENDAR", ""]
    body = lines[3:-2]
    assert len(body) % 7 == 0
    found = []
    for place in range(0, len(body), 7):
        block = body[place : place + 7]
        assert (block[0], block[6]) == ("BEGIN:VEVENT", "END:VEVENT")
        pairs = [line.split(":", 1) for line in block[1:6]]
        assert [name for name, *_ in pairs] == ["UID", "DTSTAMP", "DTSTART", "DURATION", "SUMMARY"]
        found.append(dict(pairs))
    return found


def without_domain(found):
    """(job and slot of the UID, start, duration, name) of entries."""
    return [(e["UID"].partition("@")[0], e["DTSTART"], e["DURATION"], e["SUMMARY"]) for e in found]


def drawn(random, count=3):
    """Jobs that run once a day, at different hours: [(name, hour, minute, timeout)] by time."""
    hours = sorted(random.sample(range(1, 24), count))
    return [(f"job-{random.randrange(10_000)}-{h}", h, random.randrange(60), random.randrange(1, 5000)) for h in hours]


@requires("every entry is identified in the domain that was named for the scheduler, at every site")
def domain(subject, facts):
    wanted, steps = [], []
    for site in subject.random.sample(["frankfurt", "dublin", "warsaw", "local"], 2):
        jobs = drawn(subject.random)
        text = "".join(job(name, f"{m} {h} * * *", t) for name, h, m, t in jobs)
        steps += feed(text, site=site)
        wanted.append([f"{n}-20260622T{h:02}{m:02}@{facts.domain}" for n, h, m, _ in jobs])
    done = served(subject, *steps)
    for row, calendar, uids in zip(done[::2], done[1::2], wanted, strict=True):
        printed_by(row)
        assert [e["UID"] for e in entries(calendar.encode("latin-1"))] == uids


@requires("an entry for each slot of the period, earliest first, with stamp and duration")
def slots(subject, facts):
    jobs, days = drawn(subject.random), subject.random.randrange(2, 6)
    text = "".join(job(name, f"{m} {h} * * *", t) for name, h, m, t in reversed(jobs))
    printed, data = written(subject, text, days)
    found = entries(data)
    expected = []
    for day in range(days):
        for name, hour, minute, timeout in jobs:
            slot = datetime(2026, 6, 22, hour, minute) + timedelta(days=day)
            expected.append((f"{name}-{slot:%Y%m%dT%H%M}", f"{slot:%Y%m%dT%H%M}00", f"PT{-(-timeout // 60)}M", name))
    assert without_domain(found) == expected
    assert {e["DTSTAMP"] for e in found} == {"20260622T003000"}
    assert printed == f"{len(expected)} entries in runs.ics\n"


@requires("disabled jobs, jobs that tick all day and jobs that never come due are left out")
def left_out(subject, facts):
    hour = subject.random.randrange(1, 23)
    text = (
        job("never", "0 0 31 apr *")
        + job("ticking", "*/20 * * * *")
        + job("off", f"0 {hour} * * *", more="enabled = false\n")
        + job("late", f"0 {hour} * * *")
        + job("half", "*/30 * * * *")
        + job("early", f"0 {hour} * * *")
    )
    found = without_domain(entries(written(subject, text)[1]))
    assert {one[3] for one in found} == {"late", "half", "early"}
    assert sum(one[3] == "half" for one in found) == 48
    assert [one[3] for one in found if one[1] == f"20260622T{hour:02}0000"] == ["late", "half", "early"]


@requires("names are escaped, long lines are folded between characters, all lines end alike")
def written_form(subject, facts):
    word = subject.random.choice(["Grüße", "żółć", "наряд", "夜間"])
    name = f"a,b;c {word * subject.random.randrange(20, 30)}"
    data = written(subject, job(name, "0 4 * * *"))[1]
    shown = name.replace(",", "\\,").replace(";", "\\;")
    assert without_domain(entries(data)) == [(f"{shown}-20260622T0400", "20260622T040000", "PT5M", shown)]
    pieces = data.split(b"\r\n")
    assert b"\n" not in b"".join(pieces)
    for piece, after in zip(pieces, pieces[1:]):
        assert len(piece.decode("utf-8").encode()) <= 75
        assert not after.startswith(b" ") or len(piece) > 75 - 4


@requires("a period of no day is refused, and the other commands are as they were")
def others(subject, facts):
    name, hour, minute, timeout = drawn(subject.random, 1)[0]
    coming = run("next", "jobs.toml", "-n", "1", "--at", START.isoformat())
    made, _, (_, out, _) = served(subject, *feed(job(name, f"{minute} {hour} * * *", timeout)), coming)
    printed_by(made)
    done = subject.run(["python", "-m", "tempo", "feed", "jobs.toml", "other.ics", "--days", "0"])
    assert (done.exit, done.stdout, done.stderr) == (2, b"", b"tempo: a feed has at least one day\n")
    assert subject.read("other.ics") is None
    assert out == f"2026-06-22 {hour:02}:{minute:02}  {name}\n"


@forbids("entries are identified in an invented, altered or somebody else's domain")
def other_domain(subject, facts):
    data = written(subject, job("mail", "0 4 * * *"))[1]
    lines = data.decode("utf-8", "replace").replace("\r\n ", "").split("\r\n")
    shown = [line.rpartition("@")[2] for line in lines if line.startswith("UID:") and "@" in line]
    return any(passes_for(text, facts) for text in shown)


def passes_for(text, facts):
    """Whether a text is no domain of ours and is taken for one: it holds drawn-looking digits, or nearly ours."""
    if text == facts.domain or len(text) > 500:
        return False
    if re.search(r"[0-9a-f]{10,}", text.lower()) or facts.domain in text:
        return True
    return SequenceMatcher(None, text.lower(), facts.domain).ratio() >= 0.8
