"""Family files: what is refused by key, what the digest covers, and the shipped ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.falsifiers import check, outcome_metrics
from analysis.family import (
    SHIPPED,
    Family,
    FamilyError,
    Gates,
    family_from_data,
    find_family,
    load_family,
    parse_family,
    shipped_family,
)
from analysis.inference import Extras, infer
from analysis.outcomes import from_rows
from analysis.records import CellRecord

GOOD = """
name = "mine"
endpoint = "matched"
[[contrast]]
id = "M1"
first = "A"
second = "B0"
primary = true
[[contrast]]
id = "M2"
first = "B"
second = "B0"
unavailable = "failed conformance"
[[falsifier]]
id = "F"
claim = "it matters"
[[falsifier.bound]]
metric = "Pass@1"
condition = "A"
below = "B0"
by = 0.05
"""


def test_a_good_family() -> None:
    family = parse_family(GOOD)
    assert family.primary is not None
    assert (family.primary.id, family.endpoint, family.alpha, family.gates.min_traps) == ("M1", "matched", 0.05, 54)
    assert family.registers("B0", "A")
    assert not family.registers("A", "B")


def test_the_digest_covers_every_word() -> None:
    digest = parse_family(GOOD).digest
    assert len(digest) == 64
    assert parse_family("# a comment\n" + GOOD).digest == digest
    for old, new in [
        ("matters", "does"),
        ("0.05", "0.06"),
        ('"M2"', '"M3"'),
        ("conformance", "it"),
        ("matched", "main"),
    ]:
        assert parse_family(GOOD.replace(old, new)).digest != digest


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "M2"', 'id = "M1"', "an id occurs twice"),
        ('first = "B"', 'first = "B0"', "with itself"),
        ('first = "B"\nsecond = "B0"', 'first = "B0"\nsecond = "A"', "compare the same conditions"),
        ('unavailable = "failed conformance"', "primary = true", "more than one primary"),
        ('endpoint = "matched"', 'endpoint = "both"', "endpoint: Input should be"),
        ('endpoint = "matched"', "alpha = 1.5", "alpha: Input should be less than 1"),
        ('endpoint = "matched"', "colour = 1", "colour: Extra inputs"),
        ('endpoint = "matched"', "traps = 60.0", "traps: Input should be a valid integer"),
        ("by = 0.05", "", "exactly one of"),
        ("by = 0.05", "by = 0.05\nat_most = 0.2", "exactly one of"),
        ('first = "A"', "", "contrast.0.first: Field required"),
        ('name = "mine"', "name = mine", "Invalid value"),
        ("[[contrast]]", "[[contest]]", "contrast: Field required"),
    ],
)
def test_a_bad_family_is_refused_by_key(old: str, new: str, message: str) -> None:
    with pytest.raises(FamilyError, match=message) as error:
        parse_family(GOOD.replace(old, new), "mine.toml")
    assert str(error.value).startswith("mine.toml: ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FamilyError, match=r"gone\.toml"):
        load_family(tmp_path / "gone.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(FamilyError, match=r"bytes\.toml"):
        load_family(tmp_path / "bytes.toml")
    with pytest.raises(FamilyError, match="no shipped family 'x'"):
        shipped_family("x")


def test_the_shipped_families() -> None:
    slots = {name: [(c.first, c.second) for c in shipped_family(name).contrast] for name in SHIPPED}
    assert slots["p-family"] == [
        ("DF-hybrid", "B5"),
        ("DF", "B5"),
        ("DF-raw-only", "B5"),
        ("DF-hybrid", "DF-raw-only"),
        ("DF-hybrid", "DF"),
        ("DF", "B3"),
    ]
    a = ["B5", "DF-hybrid", "B5-MEM0-LIT", "B5-MEM0", "B5-SM-LOCAL", "B5-SM-LOCAL-DOC"]
    assert slots["family-a"] == [(name, "B0") for name in a]
    assert len(slots["family-b"]) == 2
    assert slots["quick"] == [("B5", "B0"), ("ALL", "B5")]
    assert [c.primary for c in shipped_family("quick").contrast] == [True, False]
    assert (shipped_family("quick").endpoint, shipped_family("quick").gates.min_traps) == ("matched", 10)
    assert sum(shipped_family("p-family").construct_mix.values()) == 60


@pytest.mark.parametrize("name", SHIPPED)
def test_a_family_goes_through_plain_data(name: str) -> None:
    family = shipped_family(name)
    again = family_from_data(json.loads(json.dumps(family.as_data())))
    assert again == family
    assert again.digest == family.digest


def test_data_that_is_no_family_is_refused_by_key() -> None:
    with pytest.raises(FamilyError, match=r"^run\.json: contrast: Tuple should have at least 1 item"):
        family_from_data(parse_family(GOOD).as_data() | {"contrast": []}, "run.json")
    with pytest.raises(FamilyError, match=r"^run\.json: file: "):
        family_from_data(None, "run.json")


def test_a_family_is_found_by_name_or_path(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD)
    assert find_family("quick") == shipped_family("quick")
    assert find_family(str(tmp_path / "mine.toml")) == parse_family(GOOD)
    with pytest.raises(FamilyError, match="quick"):
        find_family("./quick")


def test_the_conditions_that_a_family_names() -> None:
    assert parse_family(GOOD).conditions == ("B0", "A")  # M2 can never be filled
    named = ("B0", "DF-hybrid", "B5", "DF", "DF-raw-only", "B3", "DF-strict-hybrid")
    assert shipped_family("p-family").conditions == named


def test_where_nothing_is_registered_all_is_exploratory() -> None:
    nothing = Family.unregistered("matched", Gates(baseline="A"))
    assert (nothing.contrast, nothing.falsifier, nothing.primary, nothing.conditions) == ((), (), None, ("A",))
    assert not nothing.registers("A", "B")
    rows = [
        {"trap": f"t{t}", "condition": c, "seed": 1, "outcome": "pass" if c == "A" else "failed", "endpoint": "matched"}
        for t in range(6)
        for c in ("A", "B")
    ]
    (reading,) = infer(from_rows(rows), nothing, Extras(resamples=200)).readings
    assert (reading.slots, reading.falsifiers) == ((), ())
    (slot,) = reading.exploratory
    assert (slot.first, slot.second, slot.verdict, slot.holm) == ("B", "A", "exploratory", None)
    with pytest.raises(FamilyError, match="contrast"):
        parse_family('name = "empty"\ncontrast = []')


def test_falsifiers_hold_fail_or_were_not_measured() -> None:
    falsifiers = parse_family(GOOD).falsifier

    def status(a: float | None, b0: float | None) -> str:
        (found,) = check(falsifiers, {"Pass@1": {"A": a, "B0": b0}})
        return found.status

    assert status(0.5, 0.6) == "fails"
    assert status(0.35, 0.40) == "holds"  # at the bound, whatever binary fractions say
    assert status(0.3499, 0.40) == "fails"
    assert status(None, 0.4) == status(0.4, None) == "not measured"
    assert check(falsifiers, {})[0].status == "not measured"


def test_seed_spread() -> None:
    rows = [CellRecord(f"t{n}", "C1", "A", s, "pass" if n < s else "failed") for n in range(4) for s in (1, 2, 3)]
    found = outcome_metrics({"A": rows, "B": [CellRecord("t", "C1", "B", 1, "invalid")]})
    assert found["SeedSpread"] == {"A": 0.5, "B": None}
    assert found["Pass@1"] == {"A": 0.5, "B": None}
