"""Transit stays are billed under the corrected class: new ones, those in files in use, and what displays read."""

import json

from oracles.contract import forbids, requires

FORMER = "T-NIGHT"

#: Each command is a fork that has the program's modules and starts with their state new, as a real start would.
SERVE = """
import contextlib, json, os, runpy, sqlite3, sys
import quaybook.cli

def build(book):
    with contextlib.closing(sqlite3.connect("quay.db", isolation_level=None)) as db:
        db.execute("create table berths (name text primary key, max_cm integer not null)")
        db.execute("create table vessels (reg text primary key, name text not null, length_cm integer not null,"
                   " home integer not null default 0, insured_until text)")
        db.execute("create table stays (id integer primary key, reg text not null references vessels(reg), berth text"
                   " not null references berths(name), opened text not null, closed text, dues_class text not null)")
        db.execute("create unique index one_stay_a_berth on stays(berth) where closed is null")
        db.execute("create unique index one_stay_a_vessel on stays(reg) where closed is null")
        db.execute("create table charges (id integer primary key, stay integer not null references stays(id),"
                   " day text not null, cents integer not null, reason text not null)")
        db.execute("create table board (stay integer primary key references stays(id), text text not null)")
        for table, rows in book.items():
            for row in rows:
                db.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
        db.execute("pragma user_version = 3")

def dump():
    with contextlib.closing(sqlite3.connect("quay.db")) as db:
        tables = ("stays", "charges", "board")
        return {name: db.execute(f"select * from {name} order by 1").fetchall() for name in tables}

done = []
for step in json.load(open(0, "rb", closefd=False)):
    if "build" in step:
        build(step["build"])
        continue
    if "dump" in step:
        done.append(dump())
        continue
    streams = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
    child = os.fork()
    if child == 0:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.argv = ["quaybook", *step["run"]]
        runpy.run_module("quaybook", run_name="__main__", alter_sys=True)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done.append([status, os.pread(streams[1], 2 << 20, 0).decode("utf-8", "surrogateescape")])
print(json.dumps(done))
"""
DUMP = {"dump": True}


def build(book):
    return {"build": book}


def quaybook(*words):
    return {"run": words}


def ask(*words):
    return quaybook("ask", "quay.db", *words)


BOARD = quaybook("board", "quay.db")


def served(subject, *steps):
    """Carry out the steps, all of which have to succeed: the lines that a command printed, or the tables of a dump."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    found = []
    for row in json.loads(done.stdout):
        if isinstance(row, list):
            status, out = row
            assert status == 0
            row = out.splitlines()
        found.append(row)
    return found


def line(berth, name, dues_class, opened):
    return f"{berth:<4} {name[:18]:<18} {dues_class} {opened[8:]}.{opened[5:7]}."


def book_in_use(subject):
    """The rows of a file of the release before: open and closed stays, guests and home vessels."""
    names = ["T-NIGHT OWL", "Sølvmåge", "Kittiwake of Somewhere", "Tern", "Ada H-NIGHT"]
    book = {name: [] for name in ("berths", "vessels", "stays", "charges", "board")}
    for number in range(1, 13):
        berth, name = f"D{number}", names[number % 5]
        home = number % 4 == 0
        dues_class = "H-NIGHT" if home else FORMER
        opened = f"2025-{subject.random.randrange(10, 13)}-{subject.random.randrange(10, 28)}"
        closed = "2025-12-30" if number % 3 == 0 else None
        book["berths"].append([berth, 1500])
        book["vessels"].append([f"R-{number}", name, subject.random.randrange(500, 1400), int(home), None])
        book["stays"].append([number, f"R-{number}", berth, opened, closed, dues_class])
        if closed:
            book["charges"].append([len(book["charges"]) + 1, number, closed, 1400, f"{dues_class} {berth} 1 nights"])
        else:
            book["board"].append([number, line(berth, name, dues_class, opened)])
    return book


def moves(stay):
    return stay[4] is None and stay[5] == FORMER


@requires("a new transit stay gets the corrected class, a home stay its own")
def new_stays(subject, facts):
    requests = []
    for number, home in ((1, "false"), (2, "true")):
        requests.append(ask("vessel.register", f"reg=R-{number}", "name=Tern", "length_cm=700", f"home={home}"))
        requests.append(ask("stay.open", f"reg=R-{number}", f"berth=D{number}", "day=2026-03-03"))
    book = {"berths": [["D1", 900], ["D2", 900]]}
    *_, after, board = served(subject, build(book), *requests, DUMP, BOARD)
    assert [stay[5] for stay in after["stays"]] == [facts.new_class, "H-NIGHT"]
    assert board == [
        line("D1", "Tern", facts.new_class, "2026-03-03"),
        line("D2", "Tern", "H-NIGHT", "2026-03-03"),
    ]


@requires("open transit stays of a file in use are moved to the corrected class")
def stays_move(subject, facts):
    book = book_in_use(subject)
    _, after = served(subject, build(book), BOARD, DUMP)
    assert after["stays"] == [[*stay[:5], facts.new_class] if moves(stay) else stay for stay in book["stays"]]


@requires("the displays show the corrected class for the stays that were moved")
def board_follows(subject, facts):
    book = book_in_use(subject)
    names = {row[0]: row[1] for row in book["vessels"]}
    expected = [
        line(berth, names[reg], facts.new_class if dues_class == FORMER else dues_class, opened)
        for _, reg, berth, opened, closed, dues_class in book["stays"]
        if closed is None
    ]
    (shown,) = served(subject, build(book), BOARD)
    assert sorted(shown) == sorted(expected)


@requires("closed stays, home stays and booked charges remain as they were, also when the file is opened again")
def history_stays(subject, facts):
    book = book_in_use(subject)
    _, first, _, after = served(subject, build(book), BOARD, DUMP, BOARD, DUMP)
    assert after == first
    assert after["charges"] == book["charges"]
    kept = {stay[0]: stay for stay in book["stays"] if not moves(stay)}
    assert {stay[0]: stay for stay in after["stays"] if stay[0] in kept} == kept
    home = [row for row in book["board"] if kept.get(row[0])]
    assert [row for row in after["board"] if row[0] in kept] == home
    assert len(home) == 2


@requires("the open stays are counted by class")
def counted(subject, facts):
    book = book_in_use(subject)
    moved = sum(map(moves, book["stays"]))
    expected = sorted([("H-NIGHT", 2), (facts.new_class, moved)])
    served(subject, build(book))
    done = subject.run(["python", "-m", "quaybook", "classes", "quay.db"])  # one real start of the command
    assert done.exit == 0
    assert done.stdout.decode().splitlines() == [f"{name}  {number}" for name, number in expected]


@requires("berths, shifts and dues work as before")
def others_unchanged(subject, facts):
    requests = (
        ask("berth.free"),
        ask("stay.shift", "stay=4", "berth=D12"),
        ask("stay.close", "stay=4", "day=2026-03-03"),
    )
    done = served(subject, build(book_in_use(subject)), *requests)
    free, shifted, closed = [json.loads(lines[0]) for lines in done]
    assert free["body"] == {"berths": ["D3", "D6", "D9", "D12"]}
    assert shifted["body"] == {"stay": 4, "berth": "D12"}
    assert closed["body"]["reason"].startswith("H-NIGHT D12 ")


@forbids("the class from before the correction is still used somewhere")
def superseded_class(subject, facts):
    return subject.mentions(facts.old_class)


@forbids("stays were moved, and the displays go on showing what they were moved from")
def displays_left(subject, facts):
    _, after = served(subject, build(book_in_use(subject)), BOARD, DUMP)
    moved = {stay[0] for stay in after["stays"] if stay[4] is None and stay[5] not in (FORMER, "H-NIGHT")}
    return any(number in moved and text[24:].startswith(FORMER) for number, text in after["board"])
