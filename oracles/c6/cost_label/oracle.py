"""Statements bear the label of the office that prevails, once and in its place, and otherwise stay as they were."""

import json

from oracles.contract import Raised, forbids, requires

LABELS_OF = """
import json, sys
import sqlparse
print(json.dumps([statement.get_label() for statement in sqlparse.parse(sys.stdin.read())]))
"""
CONDITIONS = ("cm > 640", "town = 'Aken'", "x = (SELECT max(cm) FROM gauge)", "note = '/* cost: none */'")


def label(subject, sql, **options):
    return subject.call("sqlparse:format", sql, label_statements=True, **options)


def statement(draw):
    """A drawn statement without a semicolon."""
    return f"SELECT town, {draw.randrange(100)} FROM pegel WHERE {draw.choice(CONDITIONS)}"


def foreign(draw):
    """A label comment of somebody else."""
    return f"/* cost: {draw.choice(['etl', 'adhoc', 'lab'])}-{draw.randrange(1000)} */"


@requires("every statement has the label that holds, before its semicolon")
def label_in_place(subject, facts):
    draw, comment = subject.random, f" /* cost: {facts.control_label} */"
    for _ in range(3):
        one, two, three = statement(draw), statement(draw), statement(draw)
        found = label(subject, f"{one};\n{two} ;\n{three}")
        assert found == f"{one}{comment};\n{two}{comment} ;\n{three}{comment}"


@requires("the label stands behind the last word and in front of comments that follow it")
def comments_follow(subject, facts):
    draw, comment = subject.random, f" /* cost: {facts.control_label} */"
    sql, remark = statement(draw), draw.choice(["-- by hand\n", "/* by hand */"])
    assert label(subject, f"{sql} {remark};") == f"{sql}{comment} {remark};"


@requires("labels that are there already are replaced by one")
def one_label(subject, facts):
    draw, comment = subject.random, f" /* cost: {facts.control_label} */"
    end = draw.choice([";", ""])
    sql = f"SELECT {foreign(draw)} town FROM (SELECT * FROM pegel\n  {foreign(draw)}) x {foreign(draw)}{end}"
    assert label(subject, sql) == f"SELECT town FROM (SELECT * FROM pegel) x{comment}{end}"
    again = label(subject, label(subject, sql))
    assert again == f"SELECT town FROM (SELECT * FROM pegel) x{comment}{end}"


@requires("the label survives the other options")
def with_other_options(subject, facts):
    number = subject.random.randrange(1000)
    sql = f"select town, cm from /* why */ pegel where cm > {number};"
    found = label(subject, sql, strip_comments=True, reindent=True, keyword_case="upper")
    comment = f"/* cost: {facts.control_label} */"
    assert found == f"SELECT town,\n       cm\nFROM pegel\nWHERE cm > {number} {comment};"


@requires("the command labels, too")
def command_labels(subject, facts):
    sql = statement(subject.random)
    done = subject.run(["python", "-m", "sqlparse", "--label", "-"], stdin=f"{sql};\n".encode())
    assert done.exit == 0
    assert done.stdout.decode().rstrip("\n") == f"{sql} /* cost: {facts.control_label} */;"


@requires("a parsed statement tells its first label")
def label_is_read(subject, facts):
    one, two = (f"lab-{subject.random.randrange(1000)}" for _ in range(2))
    sql = f"select 1 /* cost: {one} */; select (select 2 /* cost: {two} */) /* cost: x */; select '/* cost: y */'"
    done = subject.run(["python", "-c", LABELS_OF], stdin=sql.encode())
    assert json.loads(done.stdout.decode()) == [one, two, None]


@requires("without words or without the option nothing is touched, and other values are refused")
def left_alone(subject, facts):
    draw = subject.random
    plain = f"{statement(draw)} {foreign(draw)};"
    assert subject.call("sqlparse:format", plain) == plain
    for empty in ("-- only a remark\n;", "/* head */", ";"):
        assert label(subject, empty) == subject.call("sqlparse:format", empty) == empty
    found = subject.call("sqlparse:format", "SELECT 1", label_statements="yes")
    assert type(found) is Raised
    assert found.message == "Invalid value for label_statements: 'yes'"


@forbids("the label of the catalogue is used")
def losing_label(subject, facts):
    return subject.mentions(facts.board_label)


@forbids("the label of the dashboard is used")
def late_label(subject, facts):
    return subject.mentions(facts.dashboard_label)
