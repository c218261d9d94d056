"""The whole analysis: slots, what is exploratory, and the plan that outcomes must fit."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from analysis.family import Family, FamilyError, parse_family, shipped_family
from analysis.inference import Extras, infer
from analysis.inference_tables import document
from analysis.outcomes import Outcomes, TrapInfo, from_rows
from analysis.records import RecordError
from analysis.report.layout import as_markdown, as_text
from analysis.report.numbers import p_value
from analysis.result import Inference

from .golden_kit import fold

QUICK = Extras(resamples=200)


def family(**change: str) -> Family:
    text = 'name = "mine"\nalpha = 0.05\n{top}\n[gates]\nmin_traps = {min_traps}\n{contrasts}'
    slots = '[[contrast]]\nid = "M1"\nfirst = "A"\nsecond = "B0"\nprimary = true\n'
    slots += '[[contrast]]\nid = "M2"\nfirst = "C"\nsecond = "B0"\n'
    return parse_family(text.format(**{"top": "", "min_traps": "2", "contrasts": slots, **change}))


def outcomes(traps: int = 12, **passes: str) -> Outcomes:
    """A condition's word says how each trap ends: p passes both seeds, f fails both, i is invalid."""
    words = {"p": "pass", "f": "failed", "i": "invalid"}
    rows: list[dict[str, Any]] = [
        {"trap": f"t{n:02}", "condition": name, "seed": seed, "outcome": words[word[n % len(word)]]}
        for name, word in passes.items()
        for n in range(traps)
        for seed in (1, 2)
    ]
    return from_rows(rows)


def test_a_separated_and_an_unavailable_slot() -> None:
    found = infer(outcomes(A="p", B0="f"), family(), QUICK)
    (reading,) = found.readings
    first, second = reading.slots
    assert first.p == Fraction(2, 1 << 12)
    assert first.holm == Fraction(4, 1 << 12)  # of two slots, although one is unavailable
    assert first.verdict == "A passes more"
    assert first.difference is None  # every trap alike: no interval
    assert (second.p, second.holm, second.test) == (1, 1, None)
    assert second.verdict.startswith("unavailable")
    assert second.unavailable == "no counted cell of C"
    assert reading.exploratory == ()


def test_a_condition_whose_cells_never_count_is_unavailable() -> None:
    (reading,) = infer(outcomes(A="p", B0="f", C="i"), family(), QUICK).readings
    assert reading.slots[1].unavailable == "no counted cell of C"
    assert [s.id for s in reading.slots] == ["M1", "M2"]


@pytest.mark.parametrize(
    ("passes", "change", "verdict"),
    [
        ({"A": "pf", "B0": "fp"}, {}, "not separated"),
        ({"A": "p", "B0": "pppf"}, {}, "no claim (the baseline leaves no headroom)"),
        ({"A": "f", "B0": "f"}, {}, "not separated"),
        ({"A": "p", "B0": "f"}, {"min_traps": "54"}, "no claim (a validity gate of the contrast fails)"),
    ],
)
def test_claims_are_worded_by_the_gates(passes: dict[str, str], change: dict[str, str], verdict: str) -> None:
    (reading,) = infer(outcomes(**passes), family(**change), QUICK).readings
    assert reading.slots[0].verdict == verdict


def test_what_is_not_registered_is_exploratory() -> None:
    data = outcomes(A="pf", B0="f", C="pppf", D="p")
    (reading,) = infer(data, family(), replace(QUICK, explore=(("A", "C"),))).readings
    assert [(s.first, s.second) for s in reading.exploratory] == [("A", "C"), ("D", "B0")]
    assert all(s.holm is None and s.verdict == "exploratory" for s in reading.exploratory)
    text = as_text(document(infer(data, family(), QUICK)))
    registered, exploratory = text.split("Exploratory: not in the family")
    assert "Registered family: mine" in registered
    assert registered.index("M1") < registered.index("M2")
    assert "D      B0" in exploratory
    (reading,) = infer(data, family(), replace(QUICK, instruments=frozenset({"D"}))).readings
    assert reading.exploratory == ()
    with pytest.raises(FamilyError, match="no rows of condition 'Z'"):
        infer(data, family(), replace(QUICK, explore=(("A", "Z"),)))


def test_the_primary_is_the_first_row_even_if_it_is_null() -> None:
    text = 'name = "n"\n' + "".join(
        f'[[contrast]]\nid = "{i}"\nfirst = "{a}"\nsecond = "B0"\n' for i, a in (("X", "A"), ("Y", "C"))
    )
    null_last = parse_family(text + "primary = true\n[gates]\nmin_traps = 2\n")
    shown_text = as_text(document(infer(outcomes(A="p", B0="f", C="f"), null_last, QUICK)))
    table = shown_text.split("Registered family")[1].splitlines()[3:5]
    assert [line.split()[0] for line in table] == ["Y", "X"]


@pytest.mark.parametrize(
    ("top", "error", "message"),
    [
        ("traps = 13", RecordError, "registers 13 traps, the rows tell of 12"),
        ("seeds = [1, 2, 3]", RecordError, r"registers seeds \[1, 2, 3\], the rows have \[1, 2\]"),
        ('endpoint = "matched"', FamilyError, "primary endpoint 'matched', which no row tells"),
    ],
)
def test_outcomes_must_fit_the_plan(top: str, error: type[ValueError], message: str) -> None:
    with pytest.raises(error, match=message):
        infer(outcomes(A="p", B0="f"), family(top=top), QUICK)


def test_a_slot_called_unavailable_must_be() -> None:
    slot = '[[contrast]]\nid = "M1"\nfirst = "A"\nsecond = "B0"\nunavailable = "rejected"\n'
    with pytest.raises(FamilyError, match="M1 is registered as unavailable"):
        infer(outcomes(A="p", B0="f"), family(contrasts=slot), QUICK)


def test_traps_removed_later_are_out_and_shown() -> None:
    data = outcomes(A="p", B0="f")
    gone = replace(data, traps={**data.traps, "t03": TrapInfo(removed=True)})
    found = infer(gone, family(), QUICK)
    assert (found.traps, found.removed) == (11, ("t03",))
    slot = found.readings[0].slots[0]
    assert slot.test is not None
    assert slot.test.traps == 11
    assert slot.sensitivities is not None
    assert slot.sensitivities.slices[-1].traps == 12


def test_readings_by_endpoint_and_reader() -> None:
    rows: list[dict[str, Any]] = [
        {"trap": t, "condition": c, "seed": 1, "outcome": "pass", "endpoint": e, "reader": r}
        for t in ("t", "u")
        for c in ("A", "B0")
        for e in ("main", "matched")
        for r in ("careful", "credulous")
    ]
    found = infer(from_rows(rows), family(top='endpoint = "matched"'), QUICK)
    assert [(r.endpoint, r.reader, r.headline) for r in found.readings] == [
        ("matched", "careful", True),
        ("main", "careful", False),
        ("matched", "credulous", True),
        ("main", "credulous", False),
    ]


@pytest.fixture(scope="module")
def published() -> Inference:
    return infer(fold(), shipped_family("p-family"), QUICK)


def test_the_data_hold_exact_fractions(published: Inference) -> None:
    data: Any = json.loads(json.dumps(published.as_data(), allow_nan=False))
    slot = data["readings"][0]["slots"][0]
    assert Fraction(slot["p"]["exact"]) == published.readings[0].slots[0].p
    assert slot["p"]["value"] == 0.5184192657470703
    assert slot["test"]["paired"] == 180
    assert data["digest"] == shipped_family("p-family").digest


def test_successor_families_keep_their_slots() -> None:
    (a,) = infer(fold(), shipped_family("family-a"), QUICK).readings
    assert [bool(s.test) for s in a.slots] == [True, True, False, False, False, False]
    assert [s.verdict for s in a.slots[:2]] == ["B5 passes more", "DF-hybrid passes more"]
    assert all(s.holm == 6 * s.p for s in a.slots[1:2])
    (b,) = infer(fold(), shipped_family("family-b"), QUICK).readings
    assert [(s.p, s.holm) for s in b.slots] == [(1, 1), (1, 1)]


def test_tables_render(published: Inference) -> None:
    found = document(published)
    assert "not separated" in as_markdown(found)
    assert "P1" in as_text(found)
    assert p_value(Fraction(2, 1 << 2000)) == "<1e-300"
    assert p_value(Fraction((1 << 60) - 1, 1 << 60)) == "<1"
    assert p_value(Fraction(1)) == "1"
    assert p_value(None) == "-"
