"""Linked tables have ids with the prefix of the office that has the say about ids, and cells that name their headings."""

import html
import re

from oracles.contract import Raised, forbids, requires, same

TABLE, PAGE, LINK = "tabulate.linked:linked_html", "tabulate.linked:linked_page", "tabulate.linked:row_link"
WORDS = ("oak", "ash", "elm", "5 < 6", "R & B", 'the "big" one', "Buche")


def drawn(draw, height, width):
    """Rows of texts, numbers and gaps; the first cell of each is a text."""
    row = [lambda: draw.choice(WORDS), lambda: draw.randrange(1000), lambda: None]
    return [[draw.choice(WORDS), *(draw.choice(row)() for _ in range(width - 1))] for _ in range(height)]


def text(cell):
    return "" if cell is None else html.escape(str(cell))


def table(base, rows, heads, caption):
    """The table as it has to be; `base` is what its own id is."""
    lines = [f'<table id="{base}">', *([f"<caption>{text(caption)}</caption>"] if caption is not None else [])]
    cells = [f'<th id="{base}-c{n}" scope="col">{text(head)}</th>' for n, head in enumerate(heads, 1)]
    lines += ["<thead>", f"<tr>{''.join(cells)}</tr>", "</thead>", "<tbody>"]
    for r, row in enumerate(rows, 1):
        cells = [f'<th id="{base}-r{r}" scope="row" headers="{base}-c1">{text(row[0])}</th>']
        cells += [f'<td headers="{base}-c{n} {base}-r{r}">{text(cell)}</td>' for n, cell in enumerate(row[1:], 2)]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


@requires("all ids of a table have the prefix that holds, and cells name them")
def one_table(subject, facts):
    draw = subject.random
    for caption in (None, draw.choice(WORDS)):
        number, width = draw.randrange(1, 60), draw.randrange(2, 5)
        rows, heads = drawn(draw, draw.randrange(1, 5), width), draw.sample(WORDS, width)
        found = subject.call(TABLE, rows, heads, number, caption)
        assert same(found, table(f"{facts.assembly}-{number}", rows, heads, caption))


@requires("the tables of a page are numbered, all under that prefix")
def page(subject, facts):
    tables = [(drawn(subject.random, 2, 2), ["a", "b"], caption) for caption in ("One", None, "Three")]
    whole = [table(f"{facts.assembly}-{n}", *one) for n, one in enumerate(tables, 1)]
    assert same(subject.call(PAGE, tables), "\n\n".join(whole))


@requires("links lead to ids with that prefix")
def links(subject, facts):
    number, row = subject.random.randrange(1, 90), subject.random.randrange(1, 90)
    assert same(subject.call(LINK, number, row), f"#{facts.assembly}-{number}-r{row}")
    assert same(subject.value("tabulate.linked:ID_PREFIX"), facts.assembly)


@requires("no id comes twice in a page, and every cell and link finds its heading")
def ids_fit(subject, facts):
    tables = [(drawn(subject.random, 3, 3), ["a", "b", "c"], None) for _ in range(2)]
    found = subject.call(PAGE, tables)
    assert type(found) is str
    ids = re.findall(r'\bid="([^"]*)"', found)
    assert len(ids) == len(set(ids)) == 2 * (1 + 3 + 3)
    named = " ".join(re.findall(r'\bheaders="([^"]*)"', found)).split()
    assert len(named) == 2 * 3 * (1 + 2 * 2)
    assert set(named) <= set(ids)
    assert subject.call(LINK, 2, 3) in [f"#{name}" for name in ids]


@requires("cells are escaped and gaps are empty")
def cells(subject, facts):
    found = subject.call(TABLE, [["<i>", None, 0]], ["a&b", "", "'"], 1, "x > y")
    assert type(found) is str
    shown = re.findall(r"<(?:th|td|caption)(?: [^>]*)?>([^<]*)<", found)
    assert shown == ["x &gt; y", "a&amp;b", "", "&#x27;", "&lt;i&gt;", "", "0"]
    assert same(subject.call(PAGE, []), "")


@requires("numbers begin at 1 and rows fit the headings")
def refused(subject, facts):
    calls = [(TABLE, [], ["a"], 0), (LINK, 0, 1), (LINK, 1, 0), (PAGE, [([[1, 2]], ["a"], None)])]
    found = [subject.call(*call) for call in calls]
    assert [one.type if type(one) is Raised else None for one in found] == ["ValueError"] * 4
    assert found[3].message == "row 1 has 2 cells, not 1"


@forbids("the prefix of the guideline is used")
def losing_prefix(subject, facts):
    return subject.mentions(facts.council)


@forbids("the prefix of the newest list is used")
def late_prefix(subject, facts):
    return subject.mentions(facts.portal)
