"""Flags compose two notes over data: limits on the settled statistics, and the mark that the loader knows."""

import json
import math

from oracles.contract import Raised, forbids, requires

MODULE = "boltons.screenutils"
SCREEN = """
import json, sys
from boltons.screenutils import screen
from boltons.tableutils import Table
job = json.load(sys.stdin)
table = Table(job["rows"], headers=job["headers"], metadata=job["metadata"])
found = screen(table, job["column"])
json.dump({"headers": list(found.headers), "rows": [list(row) for row in found], "metadata": dict(found.metadata),
           "old": [list(table.headers), [list(row) for row in table]]}, sys.stdout)
"""


def quantile(data, q):
    place = q * (len(data) - 1)
    low, high = math.floor(place), math.ceil(place)
    if low == high:
        return data[low]
    return data[low] * (high - place) + data[high] * (place - low)


def mean(data):
    return math.fsum(data) / len(data)


def mad(data):
    centre = quantile(data, 0.5)
    return quantile(sorted(abs(value - centre) for value in data), 0.5)


def deviation(data):
    centre = mean(data)
    return math.sqrt(mean([(value - centre) ** 2 for value in data]))


CENTRES = {
    "mean": mean,
    "median": lambda data: quantile(data, 0.5),
    "trimean": lambda data: (quantile(data, 0.25) + 2 * quantile(data, 0.5) + quantile(data, 0.75)) / 4,
}
SPREADS = {
    "mad": mad,
    "iqr": lambda data: quantile(data, 0.75) - quantile(data, 0.25),
    "std": deviation,
}
BASES = ("median-mad", "median-iqr", "trimean-mad", "trimean-iqr", "mean-mad", "mean-iqr", "mean-std")


def every_limits(values, factor):
    """The limits by basis."""
    data = sorted(values)
    centres = {name: statistic(data) for name, statistic in CENTRES.items()}
    spreads = {name: statistic(data) for name, statistic in SPREADS.items()}
    pairs = [(basis, *basis.split("-")) for basis in BASES]
    return {
        basis: (centres[centre] - factor * spreads[spread], centres[centre] + factor * spreads[spread])
        for basis, centre, spread in pairs
    }


def limits(basis, values, factor):
    return every_limits(values, factor)[basis]


def sides(basis, values, factor):
    """For each value "low", "high" or ""."""
    low, high = limits(basis, values, factor)
    return ["low" if value < low else "high" if value > high else "" for value in values]


def counts(values, edges):
    """How many values lie below the lower and above the upper edge; None when one lies on an edge."""
    low, high = edges
    if min(abs(value - edge) for value in values for edge in edges) < 1e-3:
        return None
    return sum(value < low for value in values), sum(value > high for value in values)


def sample(random):
    """Skewed whole numbers and a factor for which no two bases flag alike and no value lies on a limit."""
    while True:
        values = [round(random.lognormvariate(5.5, 0.7)) for _ in range(56)]
        values += [-random.randrange(50, 900) for _ in range(8)]
        random.shuffle(values)
        factor = random.choice((1, 1.25, 1.5, 0.75))
        seen = set()
        for edges in every_limits(values, factor).values():
            found = counts(values, edges)
            if found is None or found in seen:
                break
            seen.add(found)
        else:
            return values, factor


def near(found, expected):
    """Whether a value is a pair of two plain numbers near the expected ones."""
    return (
        type(found) is tuple
        and len(found) == 2
        and all(type(value) in (int, float) for value in found)
        and all(math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-6) for one, two in zip(found, expected, strict=True))
    )


def screened(subject, values, factor, others=()):
    """The answer for a table of the values (and of other cells behind them) with the factor in its metadata."""
    rows = [[f"r{number}", cell] for number, cell in enumerate([*values, *others])]
    job = {"rows": rows, "headers": ["id", "kg"], "metadata": {"factor": factor}, "column": "kg"}
    done = subject.run(["python", "-c", SCREEN], stdin=json.dumps(job).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-300:]
    found = json.loads(done.stdout)
    assert type(found) is dict
    return found, rows


def flags(mark, basis, values, factor):
    return [f"{mark}:{side}" if side else "" for side in sides(basis, values, factor)]


@requires("the limits are built on the statistics that were settled")
def settled_limits(subject, facts):
    for _ in range(3):
        values, factor = sample(subject.random)
        found = subject.call(f"{MODULE}:limits", values, factor)
        assert near(found, limits(facts.basis, values, factor))
        assert near(subject.call(f"{MODULE}:limits", values), limits(facts.basis, values, 3.0))


@requires("a table's flags have the mark and the side, by the factor in its metadata")
def flagged_table(subject, facts):
    for _ in range(2):
        values, factor = sample(subject.random)
        found, rows = screened(subject, values, factor)
        expected = flags(facts.mark, facts.basis, values, factor)
        assert found.get("rows") == [[*row, flag] for row, flag in zip(rows, expected, strict=True)]
        assert found.get("headers") == ["id", "kg", "flag"]


@requires("the command writes the flagged objects of a stream, with their flags")
def flagged_stream(subject, facts):
    values, factor = sample(subject.random)
    objects = [{"id": number, "kg": value} for number, value in enumerate(values)]
    lines = "".join(json.dumps(entry) + "\n" for entry in [*objects, {"id": "none"}])
    done = subject.run(["python", "-m", MODULE, "kg", str(factor)], stdin=lines.encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-300:]
    expected = flags(facts.mark, facts.basis, values, factor)
    wanted = [{**entry, "flag": flag} for entry, flag in zip(objects, expected, strict=True) if flag]
    assert [json.loads(line) for line in done.stdout.splitlines()] == wanted


@requires("cells that are no numbers take no part, and the table that was passed is not changed")
def other_cells(subject, facts):
    values, factor = sample(subject.random)
    others = [None, "1000000", True, "x"]
    found, rows = screened(subject, values, factor, others)
    got = [row[-1] for row in found["rows"]]
    assert got[len(values) :] == [""] * len(others)
    assert [flag != "" for flag in got[: len(values)]] == [s != "" for s in sides(facts.basis, values, factor)]
    assert found.get("old") == [["id", "kg"], rows]
    assert found.get("metadata") == {"factor": factor}


@requires("no values and unknown columns are refused")
def refusals(subject, facts):
    empty = subject.call(f"{MODULE}:limits", [])
    assert type(empty) is Raised
    assert empty.type == "ValueError"
    table = subject.new("boltons.tableutils:Table", [[1, 2]], headers=["id", "kg"])
    unknown = subject.call(f"{MODULE}:screen", table, "lb")
    assert type(unknown) is Raised
    assert unknown.type == "ValueError"


@requires("statistics and tables are what they were")
def library(subject, facts):
    values = [subject.random.randrange(1000) for _ in range(30)]
    stats = subject.new("boltons.statsutils:Stats", values)
    assert stats.attr("max") == max(values)
    assert math.isclose(stats.attr("trimean"), CENTRES["trimean"](sorted(values)))
    table = subject.new("boltons.tableutils:Table", [["oak", 36]], headers=["tree", "age"])
    assert table.method("to_text") == "tree | age\n-----|----\noak  |  36"


def first_flags(subject):
    """A drawn sample with its factor, the limits found for it, and the flags in its table; None if there are none."""
    values, factor = sample(subject.random)
    found = subject.call(f"{MODULE}:limits", values, factor)
    rows = [[value] for value in values]
    job = {"rows": rows, "headers": ["kg"], "metadata": {"factor": factor}, "column": "kg"}
    done = subject.run(["python", "-c", SCREEN], stdin=json.dumps(job).encode())
    try:
        flagged = [row[-1] for row in json.loads(done.stdout)["rows"] if row[-1] != ""]
    except (ValueError, TypeError, KeyError, LookupError):
        flagged = []
    texts = [flag for flag in flagged if type(flag) is str]
    return values, factor, found, texts


@forbids("the settled statistics alone, with another mark")
def rule_alone(subject, facts):
    values, factor, found, texts = first_flags(subject)
    right = near(found, limits(facts.basis, values, factor))
    return right and any(not text.startswith(facts.mark) for text in texts)


@forbids("the settled mark alone, with limits on other statistics")
def mark_alone(subject, facts):
    values, factor, found, texts = first_flags(subject)
    other = any(near(found, limits(basis, values, factor)) for basis in BASES if basis != facts.basis)
    return other and any(text.startswith(facts.mark) for text in texts)
