"""Cost and its frontier: sums, means, what is unknown, and who is on the frontier."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.frontier import frontier
from analysis.report.build import build
from analysis.report.figures import Scatter
from analysis.report.layout import Document
from analysis.report.source import Spent

from .run_kit import arms, line, run_of, table

TOOK = "What it took (careful reader)"
ROWS = arms("B0", "f", traps=2) + arms("B5", "pf", traps=2) + arms("ALL", "p", traps=2) + arms("POISON", "f", traps=2)


def report(**usd: float | None) -> Document:
    views = {"B0": 0, "B5": 90, "ALL": 300, "POISON": 10}
    spent = tuple(
        Spent(row.condition, "careful", views[row.condition], 1000 + n, 1.5, usd=usd.get(row.condition))
        for n, row in enumerate(ROWS)
    )
    return build(run_of(ROWS, spent=spent))


def scatter(document: Document) -> Scatter:
    (found,) = [f for s in document.sections for f in s.figures if isinstance(f, Scatter)]
    return found


def test_what_is_not_known_is_a_dash() -> None:
    document = report()
    assert line(table(document, TOOK), "B5")[1:] == (
        "2", "90.0", "1002", "3.0", "-", "-", "-", "1", "-", "-",
    )  # fmt: skip
    found = scatter(document)
    assert found.x == "tokens of the S3 view, mean an arm"
    assert [(p.label, p.x, p.y, p.frontier) for p in found.points] == [
        ("B0", 0.0, 0.0, True),
        ("B5", 90.0, 0.5, True),
        ("ALL", 300.0, 1.0, True),
    ]


def test_usd_is_the_axis_once_it_is_known_for_all_memories() -> None:
    document = report(B0=0.25, B5=0.5, ALL=0.25)
    assert line(table(document, TOOK), "B5")[7:10] == ("1.0000", "1", "1.0000")
    assert line(table(document, TOOK), "ALL")[7:10] == ("0.5000", "2", "0.2500")
    assert line(table(document, TOOK), "B0")[7:10] == ("0.5000", "0", "-")
    found = scatter(document)
    assert found.x == "USD an arm"
    assert [(p.label, p.x, p.frontier) for p in found.points] == [
        ("B0", 0.25, False),
        ("B5", 0.5, False),
        ("ALL", 0.25, True),
    ]
    assert scatter(report(B0=0.25, B5=0.5)).x == "tokens of the S3 view, mean an arm"


def test_one_unknown_arm_makes_a_sum_unknown_and_is_in_no_mean() -> None:
    spent = (Spent("B0", "careful", 5, None, 1.0, usd=0.5), Spent("B0", "careful", None, 7, 1.0, usd=None))
    document = build(run_of(ROWS, spent=spent))
    assert line(table(document, TOOK), "B0")[1:9] == (
        "2", "5.0 (1 of 2 arms)", "7 (1 of 2 arms)", "2.0", "-", "-", "-", "0",
    )  # fmt: skip


def test_a_frontier_by_hand() -> None:
    places = {"a": (1.0, 0.5), "b": (2.0, 0.5), "c": (2.0, 0.9), "d": (None, 1.0), "e": (1.0, 0.5), "f": (0.0, None)}
    assert frontier(places) == {"a", "c", "e"}


@given(st.dictionaries(st.integers(), st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1))
def test_whoever_is_off_the_frontier_is_beaten_by_one_on_it(found: dict[int, tuple[int, int]]) -> None:
    places: dict[str, tuple[float | None, float | None]] = {str(k): (float(x), float(y)) for k, (x, y) in found.items()}
    best = frontier(places)
    assert best
    for name in places.keys() - best:
        x, y = found[int(name)]
        assert any(found[int(b)][0] <= x and found[int(b)][1] >= y and found[int(b)] != (x, y) for b in best)
