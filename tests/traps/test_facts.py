"""Drawing, committing and filling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traps import facts
from traps.schema import Fact, TrapError


def test_tokens_have_their_form_and_differ() -> None:
    drawn = {facts.draw_token("ch-{hex:12}") for _ in range(200)}
    assert len(drawn) == 200
    assert all(len(t) == 15 and t.startswith("ch-") for t in drawn)


def test_bits_count_the_slots() -> None:
    assert facts.bits("ch-{hex:12}") == 48
    assert facts.bits("x{digit:1}") == pytest.approx(3.3219, abs=1e-4)


def test_every_variant_of_a_choice_is_drawn_and_derived_facts_are_not() -> None:
    spec = {"rule": Fact(kind="choice", variants=("a", "b", "c", "d")), "sum": Fact(kind="derived")}
    drawn = [facts.draw(spec) for _ in range(200)]
    assert {d["rule"] for d in drawn} == {"a", "b", "c", "d"}
    assert all("sum" not in d for d in drawn)


def test_a_commitment_opens_with_its_salt_and_with_nothing_else() -> None:
    made = facts.commit("mark", "ch-1")
    assert facts.digest("mark", "ch-1", made.salt) == made.digest
    assert facts.digest("mark", "ch-2", made.salt) != made.digest
    assert facts.digest("mar", "kch-1", made.salt) != made.digest
    assert facts.commit("mark", "ch-1").digest != made.digest


def test_merkle_root_depends_on_every_leaf_but_not_on_their_order() -> None:
    leaves = [facts.commit("n", str(i)).digest for i in range(5)]
    root = facts.merkle_root(leaves)
    assert facts.merkle_root(reversed(leaves)) == root
    assert len({root, *(facts.merkle_root(leaves[:i] + leaves[i + 1 :]) for i in range(5))}) == 6


@given(st.text(st.characters(codec="utf-8", exclude_characters="<\uf8ff")))
def test_bytes_outside_the_slots_are_unchanged(text: str) -> None:
    assert facts.fill(text + "<< x >>" + text, {"x": "{{y}}"}, "here") == text + "{{y}}" + text


def test_a_slot_without_a_value_is_an_error_that_names_the_place() -> None:
    with pytest.raises(TrapError, match=r"e1\.md:2: .*missing"):
        facts.fill("one\n<< missing >>", {}, "e1.md")


def test_templates_are_sandboxed() -> None:
    with pytest.raises(TrapError):
        facts.fill("<< ''.__class__.__mro__[1].__subclasses__() >>", {}, "e1.md")
