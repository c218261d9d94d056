"""The family is a table: each condition differs from DF in what its name says and in nothing else."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from memory_probe import embed, model_judge
from memory_probe.family import aided, conditions, members
from memory_probe.ladder import conditions as ladder
from memory_probe.model import Unasked
from memory_probe.model_judge import ModelJudge
from memory_probe.probe import Aids, ProbeMemory
from memory_probe.protocol import Card
from memory_probe.read.gate import GATES, Policy
from memory_probe.sleep import OPERATORS
from memory_probe.sleep.base import Settings
from memory_probe.store.model import TYPES
from memory_probe.weights import Birth, Weights

DF = members()["DF"].variant
GATED = {
    "A7": {"ungrounded"},
    "A8": {"repository", "files", "symbols", "task"},
    "A9": {"risk"},
    "A5": {"superseded", "staleness"},
}


def test_the_codes_are_those_of_the_table_and_on_the_ladder() -> None:
    codes = {"DF", "DF-raw-only", "DF-hybrid", "DF-strict", "DF-strict-hybrid", *(f"A{n}" for n in range(12))}
    assert set(members()) == codes
    assert set(aided()) == {"DF-model", "DF-hybrid-model", "DF-hybrid-embed"}
    assert set(conditions()) == codes | set(aided()) <= set(ladder())


def test_an_aided_condition_differs_in_its_aid_and_in_nothing_else() -> None:
    table, judge, near = {c: m.variant for c, m in aided().items()}, model_judge.version(), embed.version()
    assert table["DF-model"] == replace(DF, judge=judge)
    assert table["DF-hybrid-model"] == replace(members()["DF-hybrid"].variant, judge=judge)
    assert table["DF-hybrid-embed"] == replace(members()["DF-hybrid"].variant, semantic=near)
    told = {code: (known.card.needs_model, known.extra) for code, known in conditions().items() if not known.unaided}
    assert told == {"DF-model": (True, ""), "DF-hybrid-model": (True, ""), "DF-hybrid-embed": (False, "embed")}


@pytest.mark.parametrize("code", sorted(aided()))
def test_a_variant_is_never_opened_without_its_aid(code: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the aids are not those of the variant"):
        ProbeMemory(Card(code, "", "1"), aided()[code].variant, tmp_path)
    with pytest.raises(ValueError, match="the aids are not those of the variant"):
        ProbeMemory(Card("DF", "", "1"), DF, tmp_path, aids=Aids(ModelJudge(Unasked())))
    assert not list(tmp_path.iterdir())


def test_aids_moved_no_digest_of_what_goes_without() -> None:
    """The digests of the first release: a run that was frozen with them must be taken up today."""
    known = {code: known.card.version for code, known in conditions().items()}
    assert (known["DF"], known["DF-hybrid"], known["A11"]) == (
        "1+dfdf9277cc5c18de",
        "1+3089d21cf695398b",
        "1+0af9c77d71a09506",
    )


def test_operators_of_each() -> None:
    left_out = {code: set(OPERATORS) - set(m.variant.operators) for code, m in members().items()}
    assert left_out["DF"] == {"capsules"}
    assert left_out["DF-hybrid"] == left_out["DF-strict-hybrid"] == set()
    assert left_out["DF-raw-only"] == set(OPERATORS) - {"capsules"}
    assert left_out["A0"] == set(OPERATORS) - {"consolidate"}
    singles = {"A1": "consolidate", "A2": "repair", "A3": "stale", "A4": "replay"}
    assert {code: left_out[code] - {"capsules"} for code in singles} == {c: {o} for c, o in singles.items()}


@pytest.mark.parametrize("code", GATED)
def test_an_ungated_ablation_lacks_its_gates_only(code: str) -> None:
    assert set(GATES) - set(members()[code].variant.policy.gates) == GATED[code]
    assert replace(members()[code].variant, policy=DF.policy) == DF


def test_the_rest_of_the_table() -> None:
    table = {code: m.variant for code, m in members().items()}
    assert set(TYPES) - set(table["DF-hybrid"].policy.types) == {"contradiction"}
    for code in ("DF-strict", "DF-strict-hybrid"):
        weights = table[code].settings.weights
        assert (weights.admit, weights.k, weights.tokens) == (1.5, 3, 600)
    assert table["A6"].policy == Policy(())
    assert table["A6"].settings.weights.admit is None
    assert table["A0"].policy.types == table["DF-raw-only"].policy.types == ("episodic",)
    assert table["A11"].settings == Settings(global_scope=True)
    similar = table["A10"].settings.weights
    terms = [f.name for f in fields(Weights)][:15]
    assert [t for t in terms if getattr(similar, t)] == ["semantic"]
    assert table["A5"].policy.statuses == ("active", "superseded", "stale")


def test_digests_tell_all_conditions_apart_and_are_stable() -> None:
    table = {**members(), **aided()}
    digests = [m.variant.digest() for m in table.values()]
    assert len(set(digests)) == len(digests)
    assert digests == [m.variant.digest() for m in {**members(), **aided()}.values()]
    for code, condition in conditions().items():
        assert table[code].variant.digest()[:16] in condition.card.version


@pytest.mark.parametrize("name", [f.name for f in fields(Weights)])
def test_every_number_is_in_the_digest(name: str) -> None:
    held = getattr(Weights(), name)
    other: Any = Birth(0.123) if isinstance(held, Birth) else {"x": ("failure",)} if name == "phases" else 77
    assert replace(Weights(), **{name: other}).digest() != Weights().digest()


def test_the_defaults_are_the_published_ones() -> None:
    w = Weights()
    positive = (w.semantic, w.tags, w.files, w.symbols, w.task, w.type_prior, w.confidence, w.utility)
    assert positive == (1.4, 1.0, 1.0, 0.8, 0.8, 0.5, 0.6, 0.8)
    assert (w.human_verified, w.provenance, w.staleness, w.risk) == (0.3, 0.4, -1.0, -1.2)
    assert (w.age, w.overscope, w.contradiction, w.admit) == (-0.2, -0.7, -0.5, 1.0)
    assert (w.told.confidence, w.noted.confidence, w.dream, w.failure) == (
        0.9,
        0.6,
        Birth(0.45, 0.65, 0.4),
        Birth(0.55, 0.7, 0.3),
    )
    assert (w.dispute.utility, w.dispute.risk) == (0.55, 0.35)
