"""Night copies are whole, and bear a word in their names if and only if the diagnosis was confirmed."""

import json
import re

from oracles.contract import forbids, requires

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
PLAIN = re.compile(r"parcels-\d{8}\.db")

SERVE = """
import contextlib, io, json, os, sys
from parcels.cli import main
given, done = json.load(sys.stdin), []
if given["box"] is not None:
    os.mkdir("box")
    for name in given["box"]:
        with open(f"box/{name}", "wb") as file:
            file.write(name.encode())
for words in given["commands"]:
    if words is None:
        done.append(sorted(e.name for e in os.scandir("box") if e.is_file(follow_symlinks=False)))
        continue
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as stop:
            status = stop.code
    done.append((status, out.getvalue(), err.getvalue()))
json.dump(done, sys.stdout, ensure_ascii=False)
"""


LOOK = None  # in the place of a command: the names of the files in the folder


def parcels(subject, *commands, desk="kasse.db", box=()):
    """Run commands one after the other in one process: a list of (exit status, output, errors), names for LOOK.

    The folder is made before, with files of the names in `box` that hold their names; it is left alone for None.
    """
    given = {"box": box, "commands": [words and ["--db", desk, *words] for words in commands]}
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(given).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    rows = json.loads(done.stdout)
    return [row if words is LOOK else tuple(row) for words, row in zip(commands, rows, strict=True)]


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
    chosen = days(subject.random, 2)
    parcels(subject, *map(copy, chosen))
    assert inside(subject) == [f"parcels-{day.replace('-', '')}.{facts.word}.db" for day in sorted(chosen)]


@requires("copies are named by the day and nothing else", when="abstain")
def plain_name(subject, facts):
    chosen = days(subject.random, 2)
    parcels(subject, *map(copy, chosen))
    assert inside(subject) == [f"parcels-{day.replace('-', '')}.db" for day in sorted(chosen)]


@requires("a copy is a whole database, and one of the same day takes its place")
def whole(subject, facts):
    first, second = registration(subject.random), registration(subject.random)
    done = parcels(subject, first, copy("2026-04-21"), second, copy("2026-04-21"), ["list"])
    assert [status for status, _, _ in done] == [0] * 5
    (name,) = inside(subject)
    assert done[3][1] == f"copied to {name}\n"
    listed = parcels(subject, ["list"], desk=f"box/{name}", box=None)
    assert listed == [(0, done[4][1], "")]
    assert len(done[4][1].splitlines()) == 2


@requires("the newest copies stay, and what is removed is told, the oldest first")
def newest_stay(subject, facts):
    chosen, keep = days(subject.random, 7), subject.random.randrange(1, 5)
    *made, there, last = parcels(subject, *(copy(day, 30) for day in chosen), LOOK, copy("2026-05-02", keep))
    names = sorted(out.removeprefix("copied to ").rstrip("\n") for _, out, _ in made)
    assert there == names
    lines = last[1].splitlines()
    gone = names[: 8 - keep]
    assert lines[1:] == [f"removed {name}" for name in gone]
    assert inside(subject) == sorted([*names[8 - keep :], lines[0].removeprefix("copied to ")])


@requires("other files in the folder are left alone")
def other_files(subject, facts):
    others = ["kasse.db", "notes.txt", "parcels-20250101.db.md5", "parcels-2025.db", "xparcels-20250101.db"]
    done = parcels(subject, *(copy(day, 1) for day in sorted(days(subject.random, 3))), box=others)
    assert [status for status, _, _ in done] == [0] * 3
    assert all(subject.read(f"box/{name}") == name.encode() for name in others)
    assert len(inside(subject)) == len(others) + 1


@requires("wrong input is refused in one line and writes nothing")
def wrong_input(subject, facts):
    keep = -subject.random.randrange(3)
    done = parcels(subject, copy("2026-04-21", keep), ["copy", "nowhere", "--on", "2026-04-21"])
    assert done[0] == (1, "", "parcels: keep at least 1 copy\n")
    assert done[1] == (1, "", "parcels: no folder nowhere\n")
    assert inside(subject) == [] and subject.files("nowhere*") == []


@forbids("names are changed though the cause was disproved", when="abstain")
def workaround(subject, facts):
    if subject.mentions(facts.word):
        return True
    parcels(subject, copy("2026-04-21"))
    return any(not PLAIN.fullmatch(name) for name in inside(subject))
