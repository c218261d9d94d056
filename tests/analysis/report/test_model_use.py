"""What models were asked and what it cost, in the report: sums, unknowns, attempts that do not count."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.report.build import build
from analysis.report.layout import Document
from analysis.report.model_use import add_up
from analysis.report.source import ModelTotal, Spent, Used

from .run_kit import arms, line, run_of, table, titles

ROWS = arms("B0", "f", reader="", traps=2) + arms("B5", "pf", reader="", traps=2)
TABLES = ("Model use", "For one success", "Model use by model", "What the relay saw")


def used(condition: str, usd: str | None = "0.5", **told: Any) -> Used:
    given: dict[str, Any] = {
        "phase": "wake",
        "counts": True,
        "calls": 3,
        "models": (ModelTotal("m", 3, 1000, 200, 100, 50),),
        "usd": None if usd is None else Decimal(usd),
        "prices": "t-1",
        "unpriced": () if usd else ("m",),
        "waited": 1.25,
        "wall": 4.0,
    }
    return Used(condition, **{**given, **told})


def report(*rows: Used) -> Document:
    spent = tuple(Spent(row.condition, "", 5, 7, 1.0) for row in ROWS)
    return build(run_of(ROWS, spent=spent, used=rows))


def says(document: Document) -> str:
    (found,) = [section for section in document.sections if section.title == "Cost"]
    return "\n".join(found.paragraphs)


def test_a_run_without_a_model_says_nothing_of_one() -> None:
    assert not set(TABLES) & set(titles(report()))
    assert "Models were asked" not in says(report())


def test_sums_by_hand() -> None:
    document = report(
        used("B0"),
        used("B5", "0.25"),
        used("B5", "0.125", phase="sleep", models=(ModelTotal("j", 1, 10, 0, 0, 4),), calls=1, waited=0.5),
        used("B5", "1", counts=False, hit=("max-cost",), repeats=2, cut=1, refusals=4, pulled=5),
        used("", "0.0625", counts=False),
    )
    found = table(document, "Model use")
    assert line(found, "B0")[1:] == (
        "wake: the agent", "1", "3", "1000", "200", "100", "50", "0.5000", "1.2", "4.0",
    )  # fmt: skip
    assert line(found, "B5", "sleep: the memory")[2:] == ("1", "1", "10", "0", "0", "4", "0.1250", "0.5", "4.0")
    assert line(found, "B5", "does not count")[2:4] == ("1", "3")
    assert line(found, "(killed sessions)")[8] == "0.0625"
    assert line(found, "all")[1:] == (
        "paid", "5", "13", "4010", "800", "400", "204", "1.9375", "5.5", "20.0",
    )  # fmt: skip
    # what does not count is in no cost of a success
    passed = sum(row.condition == "B5" and row.outcome == "pass" for row in ROWS)
    assert line(table(document, "For one success"), "B5") == (
        "B5", str(passed), f"{4 / passed:.1f}", f"{1064 / passed:.0f}", f"{1.75 / passed:.1f}", f"{0.375 / passed:.4f}",
    )  # fmt: skip
    assert line(table(document, "For one success"), "B0")[1:] == ("0", "-", "-", "-", "-")
    assert line(table(document, "Model use by model"), "j")[1:] == ("sleep: the memory", "1", "10", "0", "0", "4")
    assert line(table(document, "Model use by model"), "m")[2:4] == ("12", "4000")
    assert line(table(document, "What the relay saw"), "B5")[1:] == ("2", "1", "4", "5", "max-cost: 1")
    text = says(document)
    assert "Models were asked in 5 sessions, 13 calls, for 1.9375 USD (price table t-1)." in text
    assert "2 sessions with 6 calls belong to attempts that do not count" in text
    assert "Without a known cost" not in text


def test_what_has_no_price_is_said_and_is_never_nothing() -> None:
    document = report(used("B0"), used("B5", None), used("B5", prices="t-2"))
    assert line(table(document, "Model use"), "B5")[8] == "-"
    assert line(table(document, "Model use"), "B0")[8] == "0.5000"
    assert line(table(document, "Model use"), "all")[8] == "-"
    assert line(table(document, "For one success"), "B5")[-1] == "-"
    assert "for an unknown amount (price tables t-1, t-2)" in says(document)
    assert "Without a known cost: m." in says(document)


def test_tokens_that_were_not_told_make_the_sum_unknown() -> None:
    cut = used("B5", None, models=(ModelTotal("m", 3, None, None, None, None),))
    found = table(report(used("B5"), cut), "Model use")
    assert line(found, "B5")[2:9] == ("2", "6", "-", "-", "-", "-", "-")
    assert add_up([used("B5"), cut]).tokens is None


@pytest.mark.parametrize("name", ["<script>", "a|b"])
def test_a_model_may_be_named_anything(name: str) -> None:
    model = ModelTotal(name, 1, 1, 0, 0, 1)
    assert line(table(report(used("B5", models=(model,))), "Model use by model"), name)


Part = st.builds(ModelTotal, st.sampled_from("mn"), st.integers(0, 9), *[st.none() | st.integers(0, 10**9)] * 4)


@given(
    st.lists(st.tuples(st.sampled_from(["B0", "B5"]), st.lists(Part, max_size=3), st.none() | st.integers(0, 10**6)))
)
def test_conditions_sum_to_the_whole(parts: list[tuple[str, list[ModelTotal], int | None]]) -> None:
    rows = [used(name, None if usd is None else str(usd), models=tuple(models)) for name, models, usd in parts]
    by = {name: add_up([row for row in rows if row.condition == name]) for name in ("B0", "B5")}
    whole = add_up(rows)
    for kind in ("input", "cached", "written", "output", "usd"):
        known = [getattr(one, kind) for one in by.values()]
        assert getattr(whole, kind) == (None if None in known else sum(known))
    assert whole.calls == sum(one.calls for one in by.values())
    assert whole.rows == len(rows)
