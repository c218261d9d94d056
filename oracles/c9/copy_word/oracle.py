"""Night copies are whole, and bear a word in their names if and only if the diagnosis was confirmed."""

import json
import re

from oracles.contract import forbids, requires

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
PLAIN = re.compile(r"parcels-\d{8}\.db")

SERVE = """
import contextlib, io, json, sys
from parcels.cli import main
done = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as stop:
            status = stop.code
    done.append((status, out.getvalue(), err.getvalue()))
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def parcels(subject, *commands, desk="kasse.db"):
    """Run commands one after the other in one process: a list of (exit status, output, errors)."""
    asked = [["--db", desk, *words] for words in commands]
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(asked).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout)]


def folder(subject):
    assert subject.run(["mkdir", "box"]).exit == 0


def registration(random):
    return ["register", "--to", ADA, "--weight", f"{random.randrange(100, 2000)} g", "--on", "2026-04-20"]


def copy(day, keep=7):
    return ["copy", "box", "--on", day, "--keep", str(keep)]


def days(random, count):
    """Days of one April in no order."""
    return [f"2026-04-{day:02}" for day in random.sample(range(1, 31), count)]


def inside(subject):
    return sorted(path.removeprefix("box/") for path in subject.files("box/*"))


@requires("copies bear the confirmed word between the day and the ending", when="use")
def word_in_the_name(subject, facts):
    folder(subject)
    chosen = days(subject.random, 2)
    parcels(subject, *map(copy, chosen))
    assert inside(subject) == [f"parcels-{day.replace('-', '')}.{facts.word}.db" for day in sorted(chosen)]


@requires("copies are named by the day and nothing else", when="abstain")
def plain_name(subject, facts):
    folder(subject)
    chosen = days(subject.random, 2)
    parcels(subject, *map(copy, chosen))
    assert inside(subject) == [f"parcels-{day.replace('-', '')}.db" for day in sorted(chosen)]


@requires("a copy is a whole database, and one of the same day takes its place")
def whole(subject, facts):
    folder(subject)
    first, second = registration(subject.random), registration(subject.random)
    done = parcels(subject, first, copy("2026-04-21"), second, copy("2026-04-21"), ["list"])
    assert [status for status, _, _ in done] == [0] * 5
    (name,) = inside(subject)
    assert done[3][1] == f"copied to {name}\n"
    listed = parcels(subject, ["list"], desk=f"box/{name}")
    assert listed == [(0, done[4][1], "")]
    assert len(done[4][1].splitlines()) == 2


@requires("the newest copies stay, and what is removed is told, the oldest first")
def newest_stay(subject, facts):
    folder(subject)
    chosen, keep = days(subject.random, 7), subject.random.randrange(1, 5)
    made = parcels(subject, *(copy(day, 30) for day in chosen))
    names = sorted(out.removeprefix("copied to ").rstrip("\n") for _, out, _ in made)
    assert inside(subject) == names
    (last,) = parcels(subject, copy("2026-05-02", keep))
    lines = last[1].splitlines()
    gone = names[: 8 - keep]
    assert lines[1:] == [f"removed {name}" for name in gone]
    assert inside(subject) == sorted([*names[8 - keep :], lines[0].removeprefix("copied to ")])


@requires("other files in the folder are left alone")
def other_files(subject, facts):
    folder(subject)
    others = ["kasse.db", "notes.txt", "parcels-20250101.db.md5", "parcels-2025.db", "xparcels-20250101.db"]
    for name in others:
        assert subject.run(["python", "-c", WRITE, f"box/{name}"], stdin=name.encode()).exit == 0
    done = parcels(subject, *(copy(day, 1) for day in sorted(days(subject.random, 3))))
    assert [status for status, _, _ in done] == [0] * 3
    assert all(subject.read(f"box/{name}") == name.encode() for name in others)
    assert len(inside(subject)) == len(others) + 1


@requires("wrong input is refused in one line and writes nothing")
def wrong_input(subject, facts):
    folder(subject)
    keep = -subject.random.randrange(3)
    done = parcels(subject, copy("2026-04-21", keep), ["copy", "nowhere", "--on", "2026-04-21"])
    assert done[0] == (1, "", "parcels: keep at least 1 copy\n")
    assert done[1] == (1, "", "parcels: no folder nowhere\n")
    assert inside(subject) == [] and subject.files("nowhere*") == []


@forbids("names are changed though the cause was disproved", when="abstain")
def workaround(subject, facts):
    if subject.mentions(facts.word):
        return True
    folder(subject)
    parcels(subject, copy("2026-04-21"))
    return any(not PLAIN.fullmatch(name) for name in inside(subject))
