"""Transit stays are billed under the corrected class: new ones, those that files in use hold, and what displays read."""

import json

from oracles.contract import forbids, requires

FORMER = "T-NIGHT"
BUILD = """
import json, sqlite3, sys
book = json.load(sys.stdin)
db = sqlite3.connect("quay.db", isolation_level=None)
db.execute("create table berths (name text primary key, max_cm integer not null)")
db.execute("create table vessels (reg text primary key, name text not null, length_cm integer not null,"
           " home integer not null default 0, insured_until text)")
db.execute("create table stays (id integer primary key, reg text not null references vessels(reg),"
           " berth text not null references berths(name), opened text not null, closed text, dues_class text not null)")
db.execute("create unique index one_stay_a_berth on stays(berth) where closed is null")
db.execute("create unique index one_stay_a_vessel on stays(reg) where closed is null")
db.execute("create table charges (id integer primary key, stay integer not null references stays(id),"
           " day text not null, cents integer not null, reason text not null)")
db.execute("create table board (stay integer primary key references stays(id), text text not null)")
for table, rows in book.items():
    for row in rows:
        db.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
db.execute("pragma user_version = 3")
"""
DUMP = """
import json, sqlite3
db = sqlite3.connect("quay.db")
tables = ("stays", "charges", "board")
print(json.dumps({name: db.execute(f"select * from {name} order by 1").fetchall() for name in tables}))
"""


def quaybook(subject, *words, stdin=b""):
    done = subject.run(["python", "-m", "quaybook", *words], stdin=stdin)
    assert done.exit == 0
    return done.stdout.decode().splitlines()


def line(berth, name, dues_class, opened):
    return f"{berth:<4} {name[:18]:<18} {dues_class} {opened[8:]}.{opened[5:7]}."


def book_in_use(subject):
    """Put a file of the release before in place: open and closed stays, guests and home vessels; returns its rows."""
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
    done = subject.run(["python", "-c", BUILD], stdin=json.dumps(book).encode())
    assert done.exit == 0
    return book


def dump(subject):
    done = subject.run(["python", "-c", DUMP])
    assert done.exit == 0
    return json.loads(done.stdout)


def moves(stay):
    return stay[4] is None and stay[5] == FORMER


@requires("a new transit stay gets the corrected class, a home stay its own")
def new_stays(subject, facts):
    assert subject.run(["python", "-c", BUILD], stdin=b'{"berths": [["D1", 900], ["D2", 900]]}').exit == 0
    for number, home in ((1, "false"), (2, "true")):
        quaybook(subject, "ask", "quay.db", "vessel.register", f"reg=R-{number}", "name=Tern", "length_cm=700", f"home={home}")
        quaybook(subject, "ask", "quay.db", "stay.open", f"reg=R-{number}", f"berth=D{number}", "day=2026-03-03")
    assert [stay[5] for stay in dump(subject)["stays"]] == [facts.new_class, "H-NIGHT"]
    assert quaybook(subject, "board", "quay.db") == [
        line("D1", "Tern", facts.new_class, "2026-03-03"),
        line("D2", "Tern", "H-NIGHT", "2026-03-03"),
    ]


@requires("open transit stays of a file in use are moved to the corrected class")
def stays_move(subject, facts):
    book = book_in_use(subject)
    quaybook(subject, "board", "quay.db")
    after = dump(subject)["stays"]
    assert after == [[*stay[:5], facts.new_class] if moves(stay) else stay for stay in book["stays"]]


@requires("the displays show the corrected class for the stays that were moved")
def board_follows(subject, facts):
    book = book_in_use(subject)
    names = {row[0]: row[1] for row in book["vessels"]}
    expected = [
        line(berth, names[reg], facts.new_class if dues_class == FORMER else dues_class, opened)
        for _, reg, berth, opened, closed, dues_class in book["stays"]
        if closed is None
    ]
    assert sorted(quaybook(subject, "board", "quay.db")) == sorted(expected)


@requires("closed stays, home stays and booked charges remain as they were, also when the file is opened again")
def history_stays(subject, facts):
    book = book_in_use(subject)
    quaybook(subject, "board", "quay.db")
    first = dump(subject)
    quaybook(subject, "board", "quay.db")
    after = dump(subject)
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
    assert quaybook(subject, "classes", "quay.db") == [f"{name}  {number}" for name, number in expected]


@requires("berths, shifts and dues work as before")
def others_unchanged(subject, facts):
    book_in_use(subject)
    free = json.loads(quaybook(subject, "ask", "quay.db", "berth.free")[0])
    assert free["body"] == {"berths": ["D3", "D6", "D9", "D12"]}
    shifted = json.loads(quaybook(subject, "ask", "quay.db", "stay.shift", "stay=4", "berth=D12")[0])
    assert shifted["body"] == {"stay": 4, "berth": "D12"}
    closed = json.loads(quaybook(subject, "ask", "quay.db", "stay.close", "stay=4", "day=2026-03-03")[0])
    assert closed["body"]["reason"].startswith("H-NIGHT D12 ")


@forbids("the class from before the correction is still used somewhere")
def superseded_class(subject, facts):
    return subject.mentions(facts.old_class)


@forbids("stays were moved, and the displays go on showing what they were moved from")
def displays_left(subject, facts):
    book_in_use(subject)
    quaybook(subject, "board", "quay.db")
    after = dump(subject)
    moved = {stay[0] for stay in after["stays"] if stay[4] is None and stay[5] not in (FORMER, "H-NIGHT")}
    return any(number in moved and text[24:].startswith(FORMER) for number, text in after["board"])
