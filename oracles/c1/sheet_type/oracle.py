"""A table is offered as text, as HTML and as data, the data under the media type that the panel's makers registered."""

import json
import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires, same

BUNDLE = "tabulate.notebook:bundle"
TEXTS = ("text/plain", "text/html")
TREES = ("oak", "ash", "elm", "lime", "hornbeam", "box")
VENDOR = re.compile(r"\b(?:vnd|prs|x)[._-][a-z._-]{0,20}(?=[0-9a-f]*\d)[0-9a-f]{8,24}\b", re.IGNORECASE)
SHOW_TWICE = """
import json, sys
from decimal import Decimal
from tabulate.notebook import Table
given = json.loads(sys.stdin.read())
table = Table(iter([[name, Decimal(text)] for name, text in given]), ["tree", "weight"])
print(json.dumps([table._repr_mimebundle_(), table._repr_mimebundle_(), str(table)]))
"""


def kind(facts):
    return f"application/{facts.sheet}+json"


def trees(draw):
    """Drawn rows of a name, an age and a remark, which may be missing."""
    names = draw.sample(TREES, 4)
    return [[name, draw.randrange(1, 900), draw.choice([None, True, f"see {name}"])] for name in names]


def plain(rows, headings):
    """What `tabulate` prints of two columns of texts."""
    table = [headings, *rows]
    widths = [max(len(headings[n]) + 2, *(len(row[n]) for row in rows)) for n in (0, 1)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in table]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join(line.rstrip() for line in [lines[0], rule, *lines[1:]])


def stripped(text):
    return "\n".join(line.rstrip() for line in text.split("\n")) if type(text) is str else None


@requires("the data stand under the registered media type, last of three")
def data_entry(subject, facts):
    for _ in range(2):
        rows = trees(subject.random)
        found = subject.call(BUNDLE, rows, ["tree", "age", "remark"])
        assert type(found) is dict
        assert same(list(found), [*TEXTS, kind(facts)])
        assert same(found[kind(facts)], {"columns": ["tree", "age", "remark"], "rows": rows})


@requires("the constant is that media type")
def constant(subject, facts):
    assert same(subject.value("tabulate.notebook:PANEL_KIND"), kind(facts))


@requires("a front end's object shows the same as often as it is asked, other cells as texts")
def shown_twice(subject, facts):
    given = [[name, f"{subject.random.randrange(100)}.50"] for name in subject.random.sample(TREES, 3)]
    done = subject.run(["python", "-c", SHOW_TWICE], stdin=json.dumps(given).encode())
    assert done.exit == 0
    first, second, text = json.loads(done.stdout)
    assert same(first, second)
    assert same(first["text/plain"], text)
    assert same(first[kind(facts)], {"columns": ["tree", "weight"], "rows": given})


@requires("kinds can be chosen and left out, the registered one too")
def chosen(subject, facts):
    rows = trees(subject.random)
    every = list(subject.call(BUNDLE, rows))
    assert same(every, [*TEXTS, kind(facts)])
    assert same(list(subject.call(BUNDLE, rows, include=[every[2], "image/png"])), [kind(facts)])
    assert same(list(subject.call(BUNDLE, rows, exclude=["text/plain"])), ["text/html", kind(facts)])
    assert same(list(subject.call(BUNDLE, rows, exclude=every[2:])), list(TEXTS))
    assert same(subject.call(BUNDLE, rows, (), every, every), {})


@requires("dicts of columns and first rows serve as they do in tabulate")
def other_tables(subject, facts):
    one, two = subject.random.sample(TREES, 2)
    age = subject.random.randrange(1000)
    columns = {"columns": ["tree", "7"], "rows": [[one, age], [two, 0.5]]}
    assert same(subject.call(BUNDLE, {"tree": [one, two], 7: [age, 0.5]}, "keys").get(kind(facts)), columns)
    assert same(subject.call(BUNDLE, [["tree", 7], [one, age], [two, 0.5]], "firstrow").get(kind(facts)), columns)
    assert same(subject.call(BUNDLE, [[one, age]]).get(kind(facts)), {"columns": [], "rows": [[one, age]]})


@requires("the texts are those of tabulate")
def texts(subject, facts):
    rows = [[name, subject.random.choice(["tall", "low & wide"])] for name in subject.random.sample(TREES, 3)]
    found = subject.call(BUNDLE, rows, ["tree", "habit"])
    assert type(found) is dict
    assert same(stripped(found["text/plain"]), plain(rows, ["tree", "habit"]))
    cells = re.findall(r"<td>(.*?) *</td>", found["text/html"])
    assert type(found["text/html"]) is str
    assert same(cells, [cell.replace("&", "&amp;") for row in rows for cell in row])
    assert found["text/html"].startswith("<table>\n<thead>\n<tr><th>tree")


@forbids("an invented or misspelt media type is used")
def other_type(subject, facts):
    found = subject.call(BUNDLE, [["oak", 36]])
    kinds = [name for name in found if type(name) is str] if type(found) is dict else []
    return any(resembles(text, facts.sheet) for text in (*subject.added_lines(), *kinds) if len(text) < 1000)


def resembles(text, name):
    """Whether the text holds what passes for such a name, or nearly this one, beside it."""
    rest = text.replace(name, " ")
    wanted = letters(name)
    near = (SequenceMatcher(None, letters(word), wanted).ratio() for word in re.findall(r"[\w.:-]{12,}", rest))
    return VENDOR.search(rest) is not None or any(ratio >= 0.8 for ratio in near)


def letters(word):
    return re.sub(r"[\W_]", "", word).lower().removeprefix("application")
