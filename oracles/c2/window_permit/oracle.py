"""Statements that change the schema stand in windows, opened with the permit that is good on the day."""

from oracles.contract import Raised, forbids, requires, same

WINDOWED = "sqlparse:windowed"
OTHERS = ("trial", "notebooks", "weekend", "council", "load", "pages", "rehearsal", "week")


def change(draw):
    """A drawn statement that changes the schema."""
    number = draw.randrange(10_000)
    return draw.choice(
        [
            f"CREATE TABLE gauge_{number} (id int)",
            f"alter table lock_{number} add town varchar(20)",
            f"/* {number} */ Drop view tolls_{number}",
            f"create or replace view v{number} as select {number}",
        ]
    )


def other(draw):
    """A drawn statement of another kind."""
    number = draw.randrange(10_000)
    return draw.choice(
        [
            f"select {number} -- create",
            f"insert into gauge values ({number}, 'DROP TABLE x')",
            f"update alter_log set day = {number}",
            f"with d as (select {number}) select * from d",
        ]
    )


def script(draw, count=9):
    """Drawn statements of both kinds: (whether it changes the schema, text with its semicolon)."""
    kinds = [True, True, False, True, *(draw.random() < 0.5 for _ in range(count - 4))]
    rows = [(kind, change(draw) if kind else other(draw)) for kind in kinds]
    return [(kind, f"{text}\n;" if "--" in text else f"{text};") for kind, text in rows]


def expected(permit, rows):
    lines, inside = [], False
    for kind, text in rows:
        if kind != inside:
            lines.append(f"OPEN WINDOW '{permit}';" if kind else "CLOSE WINDOW;")
        lines.append(text)
        inside = kind
    return "".join(f"{line}\n" for line in (*lines, *(["CLOSE WINDOW;"] if inside else [])))


@requires("windows are opened with the permit that is good today, one for all neighbours")
def permit_of_today(subject, facts):
    for _ in range(3):
        rows = script(subject.random)
        blank = subject.random.choice(["\n", "  ", "\n\n;\n"])
        found = subject.call(WINDOWED, blank.join(text for _, text in rows))
        assert same(found, expected(facts.standing, rows))


@requires("windows of an older script are opened anew")
def opened_anew(subject, facts):
    rows = script(subject.random)
    once = expected(f"pmt-{subject.random.randrange(16**12):012x}", rows)
    assert same(subject.call(WINDOWED, once), expected(facts.standing, rows))
    assert same(subject.call(WINDOWED, once.lower()), expected(facts.standing, [(k, t.lower()) for k, t in rows]))


@requires("the command puts windows into the formatted text")
def command(subject, facts):
    number = subject.random.randrange(1000)
    sql = f"drop table t{number};\nselect {number} from dual;"
    done = subject.run(["python", "-m", "sqlparse", "--windows", "-k", "upper", "-"], stdin=sql.encode())
    rows = [(True, f"DROP TABLE t{number};"), (False, f"SELECT {number} FROM dual;")]
    assert (done.exit, done.stdout.decode()) == (0, expected(facts.standing, rows))


@requires("a statement that is not closed is refused")
def not_closed(subject, facts):
    rows = [(False, f"{other(subject.random)}\n;") for _ in range(subject.random.randrange(1, 5))]
    sql = ";\n".join(text for _, text in rows) + " drop table x -- ;"
    message = f"statement {len(rows) + 1} is not closed"
    assert subject.call(WINDOWED, sql) == Raised("SQLParseError", message)
    done = subject.run(["python", "-m", "sqlparse", "--windows", "-"], stdin=sql.encode())
    assert (done.exit, done.stdout, done.stderr.decode()) == (1, b"", f"[ERROR] No windows: {message}\n")


@requires("a script without changes of the schema has no window")
def no_window(subject, facts):
    rows = [(False, f"{other(subject.random)}\n;") for _ in range(4)]
    found = subject.call(WINDOWED, "\n/* so */;\n".join(text for _, text in rows) + "\n-- end")
    assert same(found, "".join(f"{text}\n" for _, text in rows))
    assert same(subject.call(WINDOWED, "-- nothing"), "")


@requires("formatting and splitting work as before")
def library(subject, facts):
    number = subject.random.randrange(1000)
    sql = f"create table t{number} (id int); select {number}"
    assert same(subject.call("sqlparse:split", sql), [f"create table t{number} (id int);", f"select {number}"])
    assert same(subject.call("sqlparse:format", sql, keyword_case="upper")[:12], "CREATE TABLE")


@forbids("a permit that ran out, was withdrawn or is for somebody else is in the change or opens a window")
def other_permit(subject, facts):
    subject.call(WINDOWED, "drop table t;")
    return any(subject.mentions(facts[name]) for name in OTHERS)
