"""Sheets close their columns off with the line that the printers named, and are otherwise as the machine reads them."""

from decimal import Decimal

from oracles.contract import Raised, forbids, requires, same

SHEET, BYTES = "tabulate.press:press_sheet", "tabulate.press:press_bytes"
OTHERS = ("gateway", "style", "check", "records", "rounding", "cutter", "network", "alert")
TREES = ("oak", "ash", "elm", "lime", "box", "yew")


def felled(draw, count):
    """Drawn rows of a name, a whole number and a length in tenths, of which one is missing."""
    rows = [[name, draw.randrange(1, 99), draw.randrange(10, 400) / 10] for name in draw.sample(TREES, count)]
    rows[draw.randrange(count)][2] = None
    return rows


def sheet(rows, line):
    """The sheet of such rows with a sum, as it has to be."""
    metres = [Decimal(str(row[2])) for row in rows if row[2] is not None]
    cells = [f"ROW|{name}|{number}|{'' if length is None else length}" for name, number, length in rows]
    sums = f"SUM|All|{sum(row[1] for row in rows)}|{sum(metres, Decimal(0))}"
    return ["TABLE|3", "HEAD|tree|felled|metres", *cells, f"LINE|{line}", sums, f"END|{len(rows)}"]


@requires("the rows are closed off by the line that the printers named")
def closed_off(subject, facts):
    for _ in range(3):
        rows = felled(subject.random, subject.random.randrange(2, 6))
        assert same(subject.call(SHEET, rows, ["tree", "felled", "metres"], "All"), sheet(rows, facts.closing))


@requires("the bytes of several sheets have the line in each that has a sum")
def several_sheets(subject, facts):
    one, two = felled(subject.random, 2), felled(subject.random, 3)
    heads = ["tree", "felled", "metres"]
    found = subject.call(BYTES, [(one, heads, "All"), ([["Käfer", "3 €"]], ["a", "b"], None), (two, heads, "All")])
    middle = ["TABLE|2", "HEAD|a|b", "ROW|Käfer|3 &#8364;", "END|1"]
    lines = [*sheet(one, facts.closing), *middle, *sheet(two, facts.closing)]
    assert same(found, "".join(f"{line}\r\n" for line in lines).encode("latin-1"))


@requires("the constant is the printers' name of the line")
def constant(subject, facts):
    assert same(subject.value("tabulate.press:CLOSING_LINE"), facts.closing)


@requires("a sheet without a sum has neither line nor sum")
def open_sheet(subject, facts):
    rows = felled(subject.random, 3)
    whole = sheet(rows, "")
    assert same(subject.call(SHEET, rows, ["tree", "felled", "metres"]), whole[:5] + whole[-1:])


@requires("only columns of numbers have a sum, and numbers add up as they are written")
def sums(subject, facts):
    number = subject.random.randrange(2, 90)
    rows = [[5, 0.1, number, True, "7", None, Decimal("1.50")], [6, 0.2, None, 3, 4, None, number]]
    found = subject.call(SHEET, rows, list("abcdefg"), "a|b")
    assert type(found) is list
    assert same(found[-2:], [f"SUM|a\\|b|0.3|{number}||||{number + 1}.50", "END|2"])


@requires("cells are one line, with bars and backslashes marked, and rows fit the headings")
def cells(subject, facts):
    rows = [[" two \n lines\t", "a|b"], ["C:\\x", None]]
    expected = ["TABLE|2", "HEAD|one two|3", "ROW|two lines|a\\|b", "ROW|C:\\\\x|", "END|2"]
    assert same(subject.call(SHEET, rows, ["one  two", 3]), expected)
    refused = subject.call(SHEET, [[1, 2], [3]], ["a", "b"])
    assert type(refused) is Raised
    assert (refused.type, refused.message) == ("ValueError", "row 2 has 1 cells, not 2")


@forbids("a rule of another trade is used")
def other_rule(subject, facts):
    return any(subject.mentions(facts[name]) for name in OTHERS)
