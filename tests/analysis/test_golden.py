"""Every published number that the published outcomes determine; p values to the last bit."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from analysis.clustered import compare, sign_test
from analysis.cost import per_success
from analysis.family import shipped_family
from analysis.gates import strata
from analysis.holm import holm
from analysis.inference import Extras, infer
from analysis.intervals import wilson
from analysis.majority import majority
from analysis.mcnemar import exact_p, per_seed, pooled
from analysis.power import boundary, power
from analysis.rates import rate
from analysis.result import Inference, Reading, Slot
from analysis.slices import subset

from .golden_kit import fold, load, metrics, sides, v1_cells

STATS = load("v2_stats")
V1 = load("v1_stats")
P = STATS["P_family"]


@cache
def found() -> Inference:
    extras = Extras(metrics=metrics(), warmup=(287, 360), resamples=999)
    return infer(fold(), shipped_family("p-family"), extras)


def reading() -> Reading:
    return found().readings[0]


def slot(name: str) -> Slot:
    return next(s for s in reading().slots if s.id == name)


@pytest.mark.parametrize("name", P)
def test_clustered(name: str) -> None:
    test, published = slot(name).test, P[name]
    assert test is not None
    assert (test.first, test.second) == (published["first"], published["second"])
    assert list(dict(sorted(test.scores.items())).values()) == published["d_t"]
    counts = (test.D, test.b, test.c, test.both_pass, test.both_fail)
    assert counts == tuple(published[key] for key in ("D", "b", "c", "both_pass", "both_fail"))
    assert (test.paired, test.traps, test.excluded) == (180, 60, 0)
    assert float(test.p) == published["p_clustered"]
    assert float(slot(name).holm or 0) == published["holm_clustered"]


@pytest.mark.parametrize("name", P)
def test_sensitivities(name: str) -> None:
    sensitivities, published = slot(name).sensitivities, P[name]
    assert sensitivities is not None
    assert float(sensitivities.pooled.p) == published["p_pooled_mcnemar"]
    assert float(sensitivities.pooled_holm or 0) == published["holm_pooled"]
    collapsed = sensitivities.majority.test
    assert _row(collapsed, sensitivities.majority_holm) == published["majority"]
    assert [_row(t, sensitivities.per_seed_holm[s]) for s, t in sensitivities.per_seed.items()] == published["per_seed"]


def _row(test: Any, adjusted: Any) -> dict[str, float]:
    counts = {name: getattr(test, name) for name in ("b", "c", "both_pass", "both_fail")}
    return {**counts, "p": float(test.p), "holm": float(adjusted)}


def test_the_null_primary_is_the_headline() -> None:
    primary = slot("P1")
    assert primary.primary
    assert primary.verdict == "not separated"
    assert [s.verdict for s in reading().slots] == ["not separated"] * 6


@pytest.mark.parametrize("condition", ["B0", "B3", "B5", "DF", "DF-raw-only", "DF-hybrid"])
def test_totals_and_clustered_intervals(condition: str) -> None:
    rates, published = reading().rates[condition], STATS["per_condition"][condition]
    assert [r.passed for r in rates.by_seed.values()] == published["s3_by_seed"]
    assert (rates.rate.passed, rates.rate.counted) == (published["s3"], published["n"])
    # published by another bootstrap (percentile, its own draws): near, not equal
    assert rates.clustered is not None
    low, high = published["cluster_bootstrap_ci95"]
    assert rates.clustered.low == pytest.approx(low, abs=0.02)
    assert rates.clustered.high == pytest.approx(high, abs=0.025)


def test_constructs_and_clean_start() -> None:
    derived = load("v2_strata_derived")
    by_construct = {s.construct: s for s in reading().strata}
    for condition, published in derived["strata"].items():
        ours = {c: [s.rates[condition].passed, s.rates[condition].counted] for c, s in by_construct.items()}
        assert ours == published
    outcomes = fold()
    clean = [c for c in outcomes.cells["main"] if outcomes.traps[c.trap].clean_start]
    for condition, published in derived["clean_start"].items():
        ours_clean = rate(c for c in clean if c.condition == condition)
        assert [ours_clean.passed, ours_clean.counted] == published
    first, second = sides("DF-hybrid", "B5")
    part = subset(first, second, lambda trap: bool(outcomes.traps[trap].clean_start), "clean start")
    published = STATS["clean_start"]["hybrid_vs_B5"]
    assert (part.b, part.c, part.first_passed - part.b) == (published["b"], published["c"], published["both_pass"])
    assert part.paired - part.b - part.c - published["both_pass"] == published["both_fail"]


def test_new_strata_and_their_gates() -> None:
    traps = load("v2_traps")["traps"]
    new = {trap for trap, info in traps.items() if info["source"] == "v2"}
    cells = [c for c in fold().cells["main"] if c.trap in new]
    by_condition = {name: [c for c in cells if c.condition == name] for name in ("B0", "B3", "B5")}
    found_strata = {s.construct: s for s in strata(by_condition, shipped_family("p-family").gates)}
    validity = STATS["stratum_validity"]
    for construct, passed in validity["new_traps_passed_B0_to_B7"].items():
        rates = found_strata[construct].rates
        assert [rates[n].passed for n in ("B0", "B3", "B5")] == [passed[0], passed[3], passed[5]]
        assert rates["B0"].counted == validity["new_traps_n"][construct]
    assert [c for c, s in found_strata.items() if s.counts] == ["C2", "C3", "C5", "C6", "C7"]
    assert sum(s.traps for s in found_strata.values() if s.counts) == 24


def test_falsifiers_and_gates() -> None:
    assert [(f.id, f.status) for f in reading().falsifiers] == [
        ("F1", "holds"),
        ("F2", "fails"),
        ("F3", "holds"),
        ("F4", "fails"),
        ("F5", "fails"),
    ]
    bounds = {f.id: [b.status for b in f.bounds] for f in reading().falsifiers}
    assert bounds["F2"] == ["fails", "fails"]
    assert bounds["F4"] == ["holds", "holds", "fails"]
    assert bounds["F5"] == ["fails", "holds"]
    values = {f.id: f.bounds[0].value for f in reading().falsifiers}
    assert round(values["F1"] or 0, 3) == 0.117
    assert round(values["F3"] or 0, 3) == 0.017
    assert [(g.name, g.status) for g in reading().gates] == [("B0 headroom", "holds"), ("B0 warm-up", "fails")]
    assert all(gate.status == "holds" for s in reading().slots for gate in s.gates)


def test_what_the_publication_did_not_say() -> None:
    traps = load("v2_traps")["traps"]
    first, second = sides("DF-hybrid", "B5")
    without = subset(first, second, lambda t: traps[t]["construct"] not in ("C9", "C10"), "without C9 and C10")
    assert (without.D, round(float(without.p), 3)) == (-3, 0.755)
    valid = {"C2", "C3", "C5", "C6", "C7"}
    headroom = subset(
        first, second, lambda t: traps[t]["source"] == "v2" and traps[t]["construct"] in valid, "headroom"
    )
    assert (headroom.traps, headroom.first_passed, headroom.second_passed, headroom.paired) == (24, 30, 35, 72)
    assert (headroom.D, round(float(headroom.p), 3)) == (-5, 0.281)


def test_the_power_table() -> None:
    for row in STATS["power_table"]["rows"]:
        edge = boundary(row["k"])
        assert edge is not None
        assert (edge.wins, round(float(edge.p), 6)) == (row["b"], row["p"])
        assert {f"{s:.2f}": round(power(row["k"], s), 3) for s in (0.65, 0.70, 0.75)} == row["power"]
    assert round(float(exact_p(38, 22)), 6) == STATS["power_table"]["k60_38_22_p"]


@pytest.mark.parametrize("name", V1["comparisons"])
def test_v1_comparisons(name: str) -> None:
    published = V1["comparisons"][name]
    scores = [int(score) for score, times in published["score_counts"].items() for _ in range(times)]
    assert sum(scores) == published["D"] == published["b"] - published["c"]
    assert float(sign_test(scores)) == published["p_clustered"]
    assert float(exact_p(published["b"], published["c"])) == published["p_pooled"]
    for b, c, p in published["per_seed"]:
        assert float(exact_p(b, c)) == p
    _, b, c, p, _ = published["majority"]
    assert float(exact_p(b, c)) == p


def test_v1_adjustments() -> None:
    every = V1["comparisons"]
    tests = {
        name: sign_test(int(s) for s, times in row["score_counts"].items() for _ in range(times))
        for name, row in every.items()
    }
    assert {n: float(p) for n, p in holm(tests).items()} == {n: row["holm_clustered"] for n, row in every.items()}
    cells = holm({name: exact_p(row["b"], row["c"]) for name, row in every.items()})
    assert {n: float(p) for n, p in cells.items()} == {n: row["holm_pooled"] for n, row in every.items()}
    collapsed = holm({name: exact_p(*row["majority"][1:3]) for name, row in every.items()})
    assert {n: float(p) for n, p in collapsed.items()} == {n: row["majority"][4] for n, row in every.items()}
    for seed, adjusted in enumerate(V1["per_seed_holm_DF_vs_B3"]):
        inside = holm({name: exact_p(*row["per_seed"][seed][:2]) for name, row in every.items()})
        assert float(inside["DF vs B3"]) == adjusted


def test_v1_from_its_cells() -> None:
    published = V1["comparisons"]["DF vs B5"]
    first, second = v1_cells("DF"), v1_cells("B5")
    test = compare(first, second)
    assert (test.paired, test.b, test.c, test.excluded_first) == (65, published["b"], published["c"], 1)
    assert {str(k): v for k, v in test.score_counts.items()} == published["score_counts"]
    assert float(test.p) == published["p_clustered"]
    assert float(pooled(first, second).p) == published["p_pooled"]
    assert [[t.b, t.c, float(t.p)] for t in per_seed(first, second).values()] == published["per_seed"]
    collapsed = majority(first, second)
    assert (collapsed.test.n, collapsed.test.b, collapsed.test.c, collapsed.incomplete) == (21, 1, 2, 1)


@pytest.mark.parametrize("rate_text", V1["ci_examples"])
def test_wilson_examples(rate_text: str) -> None:
    passed, counted = map(int, rate_text.split("/"))
    interval = wilson(passed, counted)
    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx(V1["ci_examples"][rate_text]["wilson"], abs=1e-12)


@pytest.mark.parametrize("condition", ["DF-raw-only", "DF-hybrid", "B5"])
def test_cost_per_success(condition: str) -> None:
    row = STATS["cost"][condition]
    # the published divisor counts passes of all sessions; hybrid and B5 tell theirs only through the quotient
    passes = row.get("successes") or round(row["estimated_cost_usd"] / row["cost_per_success_usd"])
    amount = per_success(Decimal(str(row["estimated_cost_usd"])), passes)
    assert float(amount or 0) == pytest.approx(row["cost_per_success_usd"], rel=2e-8)


def test_supplemental_mcnemar_counts() -> None:
    for row in STATS["supplemental_mcnemar"].values():
        assert float(exact_p(row["b"], row["c"])) == pytest.approx(row["p"], rel=5e-3)
