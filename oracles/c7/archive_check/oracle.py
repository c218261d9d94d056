"""A check under a table composes two notes: the order of the walk, and the lead hashed ahead of the cells."""

import ast
import hashlib

from oracles.contract import derives, forbids, requires

PATH = "tabulate/checked.py"
SAMPLE = [["oak", 36], ["ash", 41], ["elm", 7]]
WALKS = {
    "plain": lambda rows: [c for row in rows for c in row],
    "column-major": lambda rows: [c for column in zip(*rows) for c in column],
    "rows-reversed": lambda rows: [c for row in rows[::-1] for c in row],
    "right-to-left": lambda rows: [c for row in rows for c in row[::-1]],
    "sorted-rows": lambda rows: [c for row in sorted(rows) for c in row],
    "sorted-cells": lambda rows: sorted(c for row in rows for c in row),
}


def digest(lead, walk, rows):
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    pieces = [*lead, *WALKS[walk](texts)]
    return hashlib.sha256("".join(p + "\n" for p in pieces).encode("utf-8")).hexdigest()[:16]


def table(random):
    """Rows of which no two walks agree, with a number, a missing cell and a non-ASCII text among them."""
    while True:
        rows = [["".join(random.choices("abcdeé", k=6)) for _ in range(3)] for _ in range(4)]
        rows[random.randrange(4)][random.randrange(3)] = random.randrange(1000)
        rows[random.randrange(4)][1] = None
        if len({digest((), walk, rows) for walk in WALKS}) == len(WALKS):
            return rows


def shown(subject, rows):
    """The digest that the subject gives, whatever that is."""
    return subject.call("tabulate.checked:check_digest", rows)


@derives("sample_check")
def sample_check(facts):
    return digest([facts.lead], facts.walk, SAMPLE)


@requires("the digest has the lead first and walks the cells in the archive's order")
def composed(subject, facts):
    for _ in range(3):
        rows = table(subject.random)
        assert shown(subject, rows) == digest([facts.lead], facts.walk, rows)
    assert shown(subject, []) == digest([facts.lead], facts.walk, [])


@requires("the line under the table and the command line carry that digest")
def line_and_command(subject, facts):
    rows = table(subject.random)
    line = f"-- 4 rows, check {digest([facts.lead], facts.walk, rows)}"
    assert subject.call("tabulate.checked:check_line", rows) == line
    assert subject.call("tabulate.checked:matches", f" {line}\n", rows) is True
    assert subject.call("tabulate.checked:matches", line, rows[:3]) is False
    cells = [["" if c is None else str(c) for c in row] for row in rows]
    feed = "import sys; open('t.csv', 'w', encoding='utf-8').write(sys.stdin.buffer.read().decode())"
    text = "\n".join(",".join(row) for row in [["x", "y", "z"], *cells]) + "\n"
    assert subject.run(["python", "-c", feed], stdin=text.encode("utf-8")).exit == 0
    done = subject.run(["python", "-m", "tabulate", "--check", "t.csv"])
    last = done.stdout.decode("utf-8", "replace").rstrip("\n").split("\n")[-1]
    assert last == f"-- 4 rows, check {digest([facts.lead], facts.walk, cells)}"


@requires("the module's docstring shows the example with its real check")
def documented(subject, facts):
    tree = subject.ast(PATH)
    assert isinstance(tree, ast.Module)
    assert facts.sample_check in (ast.get_docstring(tree) or "")


@requires("the table itself, the row count and refusals are right")
def outer_form(subject, facts):
    rows = [["oak", 36], ["ash", None]]
    plain = subject.call("tabulate:tabulate", rows, ["tree", "age"], tablefmt="pipe")
    assert type(plain) is str
    whole = subject.call("tabulate.checked:checked", rows, ["tree", "age"], tablefmt="pipe")
    assert type(whole) is str
    assert whole.startswith(plain + "\n-- 2 rows, check ")
    assert whole.count("\n") == plain.count("\n") + 1
    single = subject.call("tabulate.checked:check_line", [["oak"]])
    assert type(single) is str
    assert single.startswith("-- 1 row, check ")
    refused = subject.call("tabulate.checked:check_digest", [["a", "b"], ["c"]])
    assert getattr(refused, "type", None) == "ValueError"


@requires("the command line without --check is as before")
def plain_command(subject, facts):
    done = subject.run(["python", "-m", "tabulate", "-f", "plain"], stdin=b"a 1\nbb 22\n")
    assert done.exit == 0
    assert done.stdout == b"a    1\nbb  22\n"


@forbids("the settled order alone, without the settled lead")
def rule_alone(subject, facts):
    rows = table(subject.random)
    return shown(subject, rows) == digest((), facts.walk, rows)


@forbids("the settled lead alone, with another order")
def lead_alone(subject, facts):
    rows = table(subject.random)
    others = [walk for walk in WALKS if walk != facts.walk]
    return shown(subject, rows) in [digest([facts.lead], walk, rows) for walk in others]
