"""Instrument checks: each rule can hold, fail, and be unmeasured."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from analysis.instruments import Setting, check, lonely, owed
from analysis.records import OUTCOMES, CellRecord, Outcome

WORDS: dict[str, Outcome] = {"p": "pass", "f": "failed", "t": "trapped", "i": "invalid"}


def cells(construct: str, **by: str) -> tuple[CellRecord, ...]:
    """One trap a construct; a letter a seed: `B5="pft"`."""
    return tuple(
        CellRecord(f"{construct.lower()}_trap", construct, condition, seed, WORDS[letter])
        for condition, letters in by.items()
        for seed, letter in enumerate(letters, 1)
    )


SOUND = cells("C2", B0="fff", EVIDENCE="ppp", POISON="ttt", B5="ppf", DF="ppp")


def said(*settings: Setting, poisoned: tuple[str, ...] = ("c2_trap",)) -> list[tuple[str, str, str]]:
    return [(line.status, line.value, line.where) for line in check(settings, poisoned)]


def test_a_sound_construct_holds_every_rule() -> None:
    assert said(Setting("careful", 0, SOUND)) == [
        ("holds", "0/3", "careful, 0"),
        ("holds", "0/3", "careful, 0"),
        ("holds", "3/3", "careful, 0"),
        ("holds", "DF 3/3, B5 2/3", "careful, 0"),
    ]


def test_every_rule_can_fail_and_tells_the_worst_setting() -> None:
    bad = cells("C2", B0="ppf", EVIDENCE="ppf", POISON="ppt", B5="ppp", DF="ppp")
    assert said(Setting("careful", 0, cells("C2", B0="fff", EVIDENCE="ppp")), Setting("careful", 200, bad)) == [
        ("fails", "2/3", "careful, 200"),
        ("fails", "2/3", "careful, 200"),
        ("fails", "2/3", "careful, 200"),
        ("fails", "-", "-"),
    ]


def test_evidence_need_not_suffice_for_the_credulous_reader() -> None:
    credulous = cells("C2", EVIDENCE="fff")
    assert said(Setting("careful", 0, SOUND), Setting("credulous", 0, credulous))[2][0] == "holds"
    assert said(Setting("credulous", 0, credulous))[2][0] == "not measured"


def test_what_no_cell_tells_is_not_measured() -> None:
    invalid = tuple(replace(cell, outcome="invalid") for cell in SOUND)
    assert {status for status, _, _ in said(Setting("careful", 0, invalid))} == {"not measured"}
    without = tuple(cell for cell in SOUND if cell.condition != "POISON")
    assert said(Setting("careful", 0, without))[1] == ("not measured", "-", "-")


def test_a_construct_without_poison_has_no_rule_about_it() -> None:
    rules = [line.rule for line in check([Setting("careful", 0, SOUND)], ())]
    assert rules == ["B0 passes at most half", "EVIDENCE passes everything (careful)", "two memories differ"]


def test_a_trap_that_no_memory_passed_needs_a_reason() -> None:
    alone = cells("C7", B0="f", EVIDENCE="p", B5="f", DF="t")
    settings = [Setting("careful", 0, (*SOUND, *alone))]
    assert lonely(settings) == ("c7_trap",)
    assert owed(lonely(settings), {"c2_trap": "no"}) == ("c7_trap",)
    assert owed(lonely(settings), {"c7_trap": "why"}) == ()
    elsewhere = Setting("credulous", 200, cells("C7", DF="p"))
    assert lonely([*settings, elsewhere]) == ()


@given(st.lists(st.tuples(st.sampled_from(["B0", "B5", "DF", "EVIDENCE", "POISON"]), st.sampled_from(OUTCOMES))))
def test_instruments_and_no_memory_are_never_the_two_that_differ(rows: list[tuple[str, Outcome]]) -> None:
    found = tuple(CellRecord("c2_trap", "C2", condition, n, outcome) for n, (condition, outcome) in enumerate(rows))
    for line in check([Setting("careful", 0, found)], {"c2_trap"}):
        if line.rule == "two memories differ" and line.status == "holds":
            assert {part.split()[0] for part in line.value.split(", ")} == {"B5", "DF"}
