"""Labels have the stem, first number, step and digits by which the stepper counts, and lead to their statements."""

from oracles.contract import Raised, forbids, requires, same

OUTLINE, FIND = "sqlparse:outline", "sqlparse:find"


def statement(draw):
    """A drawn statement with its type."""
    number = draw.randrange(10_000)
    return draw.choice(
        [
            (f"select {number}", "SELECT"),
            (f"insert into gauge\n\nvalues ({number})", "INSERT"),
            (f"with d as (select {number})\ndelete from gauge", "DELETE"),
            (f"commit /* {number}; */", "COMMIT"),
            (f"analyze gauge_{number}", "UNKNOWN"),
            (f"create table t{number} (\n  id int\n)", "CREATE"),
        ]
    )


def script(draw, count):
    """A drawn script and, for each of its statements, the type, the line and the text."""
    text, rows = "", []
    for _ in range(count):
        text += draw.choice(["", "\n", "\n-- select 1;\n\n", "/* a\nb */ ", ";\n"])
        found, kind = statement(draw)
        rows.append((kind, text.count("\n") + 1, found + ";"))
        text += found + ";"
    return text + draw.choice(["", "\n", "\n-- end\n"]), rows


def label(facts, number):
    return f"{facts.stem}:{int(facts.first) + int(facts.step) * number:0{int(facts.width)}}"


def expected(facts, rows):
    return "".join(f"{label(facts, number)} {kind} {line}\n" for number, (kind, line, _) in enumerate(rows))


def labels(subject, text):
    """The labels that an outline shows."""
    found = subject.call(OUTLINE, text)
    assert type(found) is str
    return [line.split(" ")[0] for line in found.splitlines()]


@requires("statements have the labels that the stepper counts")
def counted_labels(subject, facts):
    for count in (1, subject.random.randrange(3, 9), 45):
        text, rows = script(subject.random, count)
        assert same(subject.call(OUTLINE, text), expected(facts, rows))


@requires("the command prints the outline")
def command(subject, facts):
    text, rows = script(subject.random, 5)
    done = subject.run(["python", "-m", "sqlparse", "--outline", "-"], stdin=text.encode())
    assert (done.exit, done.stdout.decode()) == (0, expected(facts, rows))


@requires("a label leads to its statement and only there")
def found_by_label(subject, facts):
    text, rows = script(subject.random, 6)
    shown = labels(subject, text)
    assert len(set(shown)) == len(rows)
    for name, (_, _, statement_text) in zip(shown, rows, strict=True):
        assert same(subject.call(FIND, text, name), statement_text)
    for name in (shown[0].upper() + " ", shown[-1] + "0", "", "stmt"):
        assert subject.call(FIND, text, name) == Raised("SQLParseError", f"no statement is called {name!r}")


@requires("types and lines are right, and what is no statement has no line")
def types_and_lines(subject, facts):
    text, rows = script(subject.random, 7)
    found = subject.call(OUTLINE, text)
    assert type(found) is str
    assert [line.split(" ")[1:] for line in found.splitlines()] == [[kind, str(line)] for kind, line, _ in rows]
    assert same(subject.call(OUTLINE, "/* a */;\n;\n-- select 1"), "")


@requires("formatting and splitting work as before")
def library(subject, facts):
    number = subject.random.randrange(1000)
    sql = f"select {number};\ndelete from t"
    assert same(subject.call("sqlparse:split", sql), [f"select {number};", "delete from t"])
    done = subject.run(["python", "-m", "sqlparse", "-k", "upper", "-"], stdin=b"delete from t")
    assert (done.exit, done.stdout) == (0, b"DELETE FROM t")


@forbids("the stepper's stem stands before numbers that it does not count")
def counted_otherwise(subject, facts):
    text, rows = script(subject.random, 12)
    shown = labels(subject, f";\n/* a */;\n{text}")
    wanted = [label(facts, number) for number in range(len(rows))]
    return any(name.startswith(facts.stem) for name in shown) and shown != wanted


@forbids("labels of the notebooks")
def notebooks(subject, facts):
    subject.call(OUTLINE, "select 1")
    return subject.mentions(facts.cell_stem)
