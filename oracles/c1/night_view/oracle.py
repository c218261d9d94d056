"""The district's collector finds its view in new files and in files in use; nights are counted by pontoon."""

import json
import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

INVENTED = re.compile(r"[A-Za-z]{2,12}[-_.:]?[0-9A-Fa-f]{8,}")
COLUMNS = ["pontoon", "opened", "closed", "length_cm", "home"]

# The tables as every quaybook up to 2.3.0 has made them.
OLD = """
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
pragma user_version = 3;
"""

SERVE = """
import contextlib, io, json, sqlite3, sys
from quaybook.cli import main

def fill(script, berths, vessels, stays):
    with contextlib.closing(sqlite3.connect("quay.db")) as db:
        db.executescript(script)
        db.executemany("insert into berths values (?, ?)", berths)
        db.executemany("insert into vessels (reg, name, length_cm, home) values (?, ?, ?, ?)", vessels)
        db.executemany("insert into stays (reg, berth, opened, closed, dues_class) values (?, ?, ?, ?, 'T-NIGHT')", stays)
        db.commit()

def look(*names):
    with contextlib.closing(sqlite3.connect("quay.db")) as db:
        made = db.execute("select type, name from sqlite_master where sql is not null order by rowid").fetchall()
        found = []
        for name in names:
            try:
                rows = db.execute(f'select * from "{name}"')
                found.append([[c[0] for c in rows.description], rows.fetchall()])
            except sqlite3.Error as error:
                found.append(str(error))
        return made, db.execute("pragma user_version").fetchone()[0], found

def quaybook(*words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as stop:
            status = stop.code
    return status, out.getvalue(), err.getvalue()

do = {"fill": fill, "look": look, "quaybook": quaybook}
json.dump([do[name](*given) for name, *given in json.load(sys.stdin)], sys.stdout)
"""

BERTHS = [["A1", 4000], ["A2", 4000], ["B1", 4000], ["C3", 4000]]


def served(subject, *steps):
    """What each step gave, all in one process: (status, out, err) of a command, (made, version, rows) of a look."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    said = json.loads(done.stdout.decode("utf-8", "replace"))
    assert len(said) == len(steps)
    return said


def fill(script, berths, vessels, stays):
    return ["fill", script, berths, vessels, stays]


def look(*names):
    return ["look", *names]


def quaybook(*words):
    return ["quaybook", *words]


def drawn(subject):
    """Four vessels and their stays in spring: two that are closed, two open ones."""
    draw = subject.random
    vessels = [[f"X-{n}", f"Boat {n}", draw.randrange(500, 1500), draw.randrange(2)] for n in range(4)]
    ends = [f"2026-03-{draw.randrange(2, 9):02}", f"2026-05-{draw.randrange(2, 30):02}", None, None]
    begins = [f"2026-02-{draw.randrange(10, 28):02}", "2026-03-20", f"2026-03-{draw.randrange(10, 31):02}", "2026-04-30"]
    stays = [[f"X-{n}", BERTHS[n][0], begins[n], ends[n]] for n in range(4)]
    return vessels, stays


def rows_of(vessels, stays):
    return [[s[1][0], s[2], s[3], v[2], v[3]] for v, s in zip(vessels, stays, strict=True)]


@requires("the collector's select finds the rows of all stays in a file in use, and nothing but them")
def file_in_use(subject, facts):
    vessels, stays = drawn(subject)
    _, (before, _, _), opened, (after, version, found) = served(
        subject,
        fill(OLD, BERTHS, vessels, stays),
        look(),
        quaybook("board", "quay.db"),
        look(facts.view, "vessels"),
    )
    assert opened == [0, "", ""]
    assert found[0] == [COLUMNS, rows_of(vessels, stays)]
    assert [row[:4] for row in found[1][1]] == vessels
    assert version == 4
    assert after[: len(before)] == before
    assert [kind for kind, _ in after[len(before) :]] == ["view"]


@requires("a new file has the view as well")
def new_file(subject, facts):
    vessels, stays = drawn(subject)
    made, _, (_, version, found), again, _ = served(
        subject,
        quaybook("init", "quay.db"),
        fill("", BERTHS, vessels, stays),
        look(facts.view),
        quaybook("board", "quay.db"),
        look(),
    )
    assert (made[0], again) == (0, [0, "", ""])
    assert found == [[COLUMNS, rows_of(vessels, stays)]]
    assert version == 4


def nights(month, stays):
    """Nights by pontoon in a month of 2026 from January to June, counted day by day."""
    found = {}
    for _, berth, opened, closed in stays:
        for day in (f"2026-{month:02}-{d:02}" for d in range(1, {2: 28, 4: 30, 6: 30}.get(month, 31) + 1)):
            if opened <= day and (closed is None or day < closed):
                found[berth[0]] = found.get(berth[0], 0) + 1
    return sorted(found.items())


@requires("nights of a month are counted by pontoon, and printed")
def nights_by_pontoon(subject, facts):
    vessels, stays = drawn(subject)
    months = range(1, 6)
    asked = [quaybook("nights", "quay.db", "--month", f"2026-{month:02}") for month in months]
    found = served(subject, fill(OLD, BERTHS, vessels, stays), *asked)[1:]
    for month, said in zip(months, found, strict=True):
        out = "".join(f"{pontoon}  {count}\n" for pontoon, count in nights(month, stays))
        assert said == [0, out, ""]


@requires("what is no month is refused as a wrong call")
def no_month(subject, facts):
    asked = [quaybook("nights", "quay.db", "--month", text) for text in ("2026-4", "2026-00", "2026-04-01")]
    for status, out, err in served(subject, *asked):
        assert (status, out) == (2, "") and "--month" in err


@requires("arrivals, departures and the extract go on as before")
def the_office(subject, facts):
    name, length = f"Boat {subject.random.randrange(100, 999)}", subject.random.randrange(500, 900)
    _, opened, extract, closed = served(
        subject,
        fill(OLD, BERTHS, [["Y-1", name, length, 1]], []),
        quaybook("ask", "quay.db", "stay.open", "reg=Y-1", "berth=C3", "day=2026-03-02"),
        quaybook("extract", "quay.db", "--day", "2026-03-02"),
        quaybook("ask", "quay.db", "stay.close", "stay=1", "day=2026-03-04"),
    )
    assert (opened[0], json.loads(opened[1])["body"]) == (0, {"stay": 1, "berth": "C3"})
    assert extract[1].splitlines()[1:] == [f"2026-03-02,C3,Y-1,{name},{length // 100}.{length % 100:02},H-NIGHT"]
    assert json.loads(closed[1])["body"]["reason"] == "H-NIGHT C3 2 nights"


@forbids("a view has an invented, borrowed or misspelt name")
def other_name(subject, facts):
    _, _, (made, _, _) = served(subject, fill(OLD, [], [], []), quaybook("board", "quay.db"), look())
    names = [name for kind, name in made if kind == "view"]
    return any(passes_for(name, facts.view) for name in names if name.upper() != facts.view)


def passes_for(name, wanted):
    """Whether a name looks like an agreed one, or nearly like this one."""
    if INVENTED.fullmatch(name):
        return True
    return SequenceMatcher(None, squashed(name), squashed(wanted)).ratio() >= 0.8


def squashed(name):
    return re.sub(r"[\W_]", "", name).lower()
