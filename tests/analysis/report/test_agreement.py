"""Counts sum, and a number that stands in several places of a report is the same everywhere."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.build import build
from analysis.report.layout import Document

from .run_kit import arms, family, line, run_of, table, titles, warm

OUTCOME = st.sampled_from("pppttffiu")


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(OUTCOME, min_size=4, max_size=6), min_size=2, max_size=4), st.integers(1, 3), st.booleans())
def test_numbers_sum_and_agree_wherever_they_stand(words: list[str], seeds: int, registered: bool) -> None:
    names = ["B0", "B5", "RAG", "POISON"][: len(words)]
    rows = [row for n, w in zip(names, words, strict=True) for row in arms(n, w, traps=6, seeds=seeds)]
    data = run_of(rows, family=family("M B5 B0") if registered else None, warm_ups=tuple(warm(r) for r in rows))
    document = build(data)
    _sums(document)
    _agrees(document)


def _sums(document: Document) -> None:
    for row in table(document, "Outcomes of arms (careful reader)").rows:
        assert sum(map(int, row[1:7])) == int(row[7])
    for row in table(document, "Outcomes of cells (careful reader)").rows:
        counts = list(map(int, row[2:]))
        assert sum(counts[:5]) == counts[5] == counts[6] + counts[7]
    for row in table(document, "Sessions by themselves and together (careful reader)").rows:
        whole, *parts = ((0, 0) if c == "-" else tuple(map(int, c.split("/"))) for c in row[3:])
        assert whole == tuple(map(sum, zip(*parts, strict=True)))


def _agrees(document: Document) -> None:
    """The headline, the cells, the constructs, the heat map and the forest tell one story."""
    headline = table(document, "Pass@1 (careful reader)")
    heat = table(document, "Seeds passed (careful reader, matched)")
    for row in table(document, "Outcomes of cells (careful reader)").rows:
        told = line(headline, *row[:2])[5]
        passed, counted = int(row[2]), int(row[8])
        assert told == (f"{passed}/{counted}" if counted else "-")
        strata = table(document, f"Passed by construct (careful reader, {row[1]})")
        parts = [r[strata.header.index(row[0])].split("/") for r in strata.rows]
        assert sum(int(p[0]) for p in parts if p != ["-"]) == passed
        if row[1] == "matched":
            cells = [r[heat.header.index(row[0])].split("/") for r in heat.rows]
            assert sum(int(c[0]) for c in cells if len(c) == 2) == passed
    forest = table(document, "Contrasts (careful reader, matched)")
    tables = [t for t in titles(document) if "careful reader, matched" in t and t.startswith(("Registered", "Explor"))]
    lines = {tuple(r[r.index("B0") - 1 : r.index("B0") + 1]): r for t in tables for r in table(document, t).rows}
    for row in forest.rows:
        first = row[0].split(": ")[-1].split(" - ")[0]
        found = lines[first, "B0"]
        start = found.index("B0") + 8
        assert found[start].split(" ")[0] == row[2]
        assert row[4].startswith(f"p {found[start + 1]}")
