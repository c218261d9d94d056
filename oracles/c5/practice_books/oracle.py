"""Whose a book is: the register's word in books for practice, the plain word in files in use and in new ones."""

import json

from oracles.contract import forbids, requires

PLAIN = "harbour"

# Makes a file as quaybook 2.3.0 left it, runs commands, reads what others find who open a file without us.
WORK = """
import contextlib, io, json, sqlite3, sys
from quaybook.cli import main

OLD = '''
create table berths (name text primary key, max_cm integer not null);
create table vessels (reg text primary key, name text not null, length_cm integer not null,
 home integer not null default 0, insured_until text);
create table stays (id integer primary key, reg text not null references vessels(reg),
 berth text not null references berths(name), opened text not null, closed text, dues_class text not null);
create unique index one_stay_a_berth on stays(berth) where closed is null;
create unique index one_stay_a_vessel on stays(reg) where closed is null;
create table charges (id integer primary key, stay integer not null references stays(id),
 day text not null, cents integer not null, reason text not null);
create table board (stay integer primary key references stays(id), text text not null);
insert into berths values ('A1', 1200), ('A2', 900);
pragma user_version = 3;
'''

def old(path, name):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(OLD)
        db.execute("insert into vessels values ('X-1', ?, 700, 0, null)", (name,))
        db.execute("insert into stays values (1, 'X-1', 'A2', '2026-03-30', null, 'T-NIGHT')")
        db.commit()

def text(path, content):
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)

def give(path, owner):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("update about set value = ? where name = 'owner'", (owner,))
        db.commit()

def inside(path):
    found = {}
    with contextlib.closing(sqlite3.connect(path)) as db:
        for table in ("about", "berths", "vessels", "stays"):
            try:
                found[table] = db.execute(f"select * from {table} order by 1").fetchall()
            except sqlite3.Error:
                found[table] = []
    return found

def run(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(words))
        except SystemExit as stop:
            status = stop.code
    return [status, out.getvalue(), err.getvalue()]

can = {"old": old, "text": text, "give": give, "inside": inside, "run": run}
json.dump([can[what](*given) for what, *given in json.load(sys.stdin)], sys.stdout)
"""

OPENED = ("run", "extract", "used.db", "--day", "2026-01-01")


def worked(subject, *steps):
    """What each step gave, all in one process; of a command [status, output, errors]."""
    done = subject.run(["python", "-c", WORK], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    given = json.loads(done.stdout.decode("utf-8", "replace"))
    assert len(given) == len(steps)
    return given


def body(said):
    """The body of a response that was printed."""
    status, out, _ = said
    assert status == 0
    return json.loads(out)["body"]


def used(subject):
    """Steps to a file in use that the new program has opened once, and the name of the boat in it."""
    name = f"Boat {subject.random.randrange(100, 1000)}"
    return (("old", "used.db", name), OPENED), name


def fresh(subject):
    """Steps to a new book that `init` has made with drawn berths, and how many."""
    many = subject.random.randrange(2, 7)
    lines = "".join(f"B{n},{900 + n}\n" for n in range(1, many + 1))
    return (("text", "berths.csv", lines), ("run", "init", "new.db", "--berths", "berths.csv")), many


def shown(path):
    return ("run", "ask", path, "book.show")


@requires("a book for practice has the register's word as its owner")
def practice_owner(subject, facts):
    made, inside, show = worked(subject, ("run", "practice", "try.db"), ("inside", "try.db"), shown("try.db"))
    assert made == [0, "try.db: 2 berths free\n", ""]
    assert inside["about"] == [["owner", facts.owner]]
    assert body(show) == {"owner": facts.owner, "berths": 2, "open": 0}


@requires("a book for practice has the berths and vessels of the ticket")
def practice_contents(subject, facts):
    _, found = worked(subject, ("run", "practice", "try.db"), ("inside", "try.db"))
    assert found["berths"] == [["P1", 900], ["P2", 1200]]
    assert [row[:4] for row in found["vessels"]] == [["TRY-1", "Try One", 700, 0], ["TRY-2", "Try Two", 1100, 1]]
    assert found["stays"] == []


@requires("files in use and new files keep the plain owner, and all that is in them")
def plain_owner(subject, facts):
    (old, name), (new, many) = used(subject), fresh(subject)
    looks = (("inside", "used.db"), ("inside", "new.db"), shown("used.db"), shown("new.db"))
    *_, found, other, one, two = worked(subject, *old, *new, *looks)
    assert found["about"] == other["about"] == [["owner", PLAIN]]
    assert found["berths"] == [["A1", 1200], ["A2", 900]]
    assert found["vessels"] == [["X-1", name, 700, 0, None]]
    assert found["stays"] == [[1, "X-1", "A2", "2026-03-30", None, "T-NIGHT"]]
    assert body(one) == {"owner": PLAIN, "berths": 2, "open": 1}
    assert body(two) == {"owner": PLAIN, "berths": many, "open": 0}


@requires("the owner is read from the file")
def owner_is_read(subject, facts):
    new, _ = fresh(subject)
    word = f"guild {subject.random.randrange(10**6)}"
    steps = (("give", "new.db", word), shown("new.db"), ("run", "init", "new.db"), ("inside", "new.db"))
    *_, show, _, found = worked(subject, *new, *steps)
    assert body(show)["owner"] == word
    assert found["about"] == [["owner", word]]


@requires("a file that holds berths is not made one for practice")
def not_over_a_book(subject, facts):
    old, _ = used(subject)
    *_, before, refused, after = worked(
        subject, *old, ("inside", "used.db"), ("run", "practice", "used.db"), ("inside", "used.db")
    )
    assert refused == [2, "", "quaybook: used.db holds a book already\n"]
    assert after == before and after["berths"] == [["A1", 1200], ["A2", 900]]


@requires("the office's day goes on as before")
def a_day(subject, facts):
    old, name = used(subject)
    *_, closed, extract, dues = worked(
        subject,
        *old,
        ("run", "ask", "used.db", "stay.close", "stay=1", "day=2026-04-02"),
        ("run", "extract", "used.db", "--day", "2026-04-01"),
        ("run", "ask", "used.db", "dues.list", "since=2026-04-01", "until=2026-05-01"),
    )
    assert body(closed)["reason"] == "T-NIGHT A2 3 nights"
    assert extract[1].splitlines()[1:] == [f"2026-04-01,A2,X-1,{name},7.00,T-NIGHT"]
    assert body(dues)["cents"] == 3 * 1400


@forbids("a book that is not for practice has the register's word")
def word_elsewhere(subject, facts):
    old, new = used(subject)[0], fresh(subject)[0]
    *_, one, two = worked(subject, *old, *new, ("inside", "used.db"), ("inside", "new.db"))
    return facts.owner in [row[-1] for found in (one, two) for row in found["about"]]
