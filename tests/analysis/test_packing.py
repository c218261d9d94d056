"""Arms as embedded data: what was packed can be read back, by the same rules as in the page, and fits the budget."""

from __future__ import annotations

import base64
import dataclasses
import json
import random
import string
import zlib
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.packing import NOWHERE, STEPS, Pack, fragments, pack
from analysis.report.source import ArmDetail, Arms

from .page_kit import arms, diff_key

ANY = st.text(st.characters(exclude_categories=()), max_size=40)


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text, validate=True)))


def read(packed: Pack) -> dict[str, Any]:
    """Every arm's detail by id, with the texts in the place of their numbers."""
    index = unpacked(packed.index)
    chunks = [unpacked(chunk) for chunk in packed.chunks]
    texts = [text for chunk in chunks for text in chunk["texts"]]
    assert index["starts"] == [sum(len(c["texts"]) for c in chunks[:n]) for n in range(len(chunks))]
    found = {}
    for row in index["arms"]:
        chunk = chunks[row[7]]
        (detail,) = (d for d in chunk["details"] if d["arm"] == row[1])
        for session in detail["sessions"]:
            for name, table in (("admitted", "items"), ("rejected", "items"), ("carried", "carried")):
                session[name] = [list(chunk[table][number]) for number in session[name]]
            for key in ("prompt", "diff", "transcript"):
                session[key] = None if session[key] is None else texts[session[key]]
            for item in (*session["admitted"], *session["rejected"]):
                item[0] = texts[item[0]]
        found[row[1]] = detail
    return found


def noise(length: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(string.printable, k=length))


def noisy(length: int) -> Arms:
    """Arms whose diffs do not compress, each different and of this length."""
    plain = arms()
    diffs = {diff_key(d.arm): noise(length, number) for number, d in enumerate(plain.details)}
    return Arms(plain.details, {**plain.texts, **diffs})


def test_every_text_is_found_again() -> None:
    given_arms = arms()
    packed = pack(given_arms)
    assert packed.cut is None
    found = read(packed)
    assert list(found) == [detail.arm for detail in given_arms.details]
    for detail in given_arms.details:
        last = found[detail.arm]["sessions"][3]
        assert last["diff"] == given_arms.texts[diff_key(detail.arm)]
        assert last["reader"] == "credulous"
        assert last["admitted"] == [["The mark is K7.", "useful", "decision", "parcels", "active", "2024-03-01", ""]]
        assert last["rejected"][0][0] == "The mark is A1."
        assert last["rejected"][0][-1] == "superseded"
        assert last["transcript"] == "ran\x1b[0m\n"
        assert found[detail.arm]["sessions"][0]["transcript"] is None
        assert found[detail.arm]["endings"][1][:4] == ["credulous", "trapped", "an old mark", "oracle"]


@settings(max_examples=50, deadline=None)
@given(st.lists(ANY, min_size=12, max_size=12, unique=True), ANY)
def test_any_characters_come_back_unchanged(names: list[str], text: str) -> None:
    plain = arms()
    details = tuple(dataclasses.replace(d, arm=name) for d, name in zip(plain.details, names, strict=True))
    packed = pack(Arms(details, {**plain.texts, "item": text}))
    found = read(packed)
    assert list(found) == names
    assert {d["sessions"][3]["admitted"][0][0] for d in found.values()} == {text}
    assert len(set(packed.keys.values())) == 12


def test_the_same_arms_give_the_same_bytes_whatever_the_order_of_the_texts() -> None:
    plain = arms()
    turned = Arms(plain.details, dict(reversed(plain.texts.items())))
    assert pack(plain) == pack(arms()) == pack(turned)


def test_only_base64_is_embedded() -> None:
    packed = pack(arms("</script><!--"))
    letters = set(string.ascii_letters + string.digits + "+/=")
    assert all(set(part) <= letters for part in (packed.index, *packed.chunks))
    assert packed.size == len(packed.index) + sum(len(chunk) for chunk in packed.chunks)


@pytest.mark.parametrize("cut", [20_000, 4_000, 1_000])
def test_over_the_budget_all_texts_are_cut_to_the_largest_step_that_fits(cut: int) -> None:
    """12 arms with 30,000 characters each, of which a character takes about 0.83 x 4/3 bytes."""
    given_arms = noisy(30_000)
    budget = 12 * cut * 12 // 10 + 8_000
    packed = pack(given_arms, budget)
    assert packed.cut == cut
    assert packed.size <= budget
    found = read(packed)
    for detail in given_arms.details:
        whole = given_arms.texts[diff_key(detail.arm)]
        assert found[detail.arm]["sessions"][3]["diff"] == [whole[:cut], 30_000]
    assert found[given_arms.details[0].arm]["sessions"][0]["prompt"] == "Print the label.\n"


def test_the_largest_step_is_taken_that_fits() -> None:
    """A budget of exactly what a step takes is enough for it; one byte less is not."""
    given_arms = noisy(5_000)
    four = pack(given_arms, 70_000)
    assert four.cut == 4_000
    assert pack(given_arms, four.size) == four
    assert pack(given_arms, four.size - 1).cut == 1_000


def test_without_any_room_texts_are_left_out_and_arms_stay() -> None:
    packed = pack(arms(), 0)
    assert packed.cut == STEPS[-1] == 0
    found = read(packed)
    assert len(found) == 12
    assert found["c1_return_form/B5/1/given"]["sessions"][3]["prompt"] == ["", 17]


def test_texts_that_came_cut_are_said_to_be_cut() -> None:
    came = Arms(arms().details, arms().texts, cut=500)
    assert pack(came).cut == 500
    assert pack(came, 0).cut == 0


def test_a_text_that_was_not_kept_is_told_from_one_that_there_is_not() -> None:
    plain = arms()
    without = Arms(plain.details, {key: text for key, text in plain.texts.items() if key != "prompt"})
    sessions = unpacked(pack(without).chunks[0])["details"][0]["sessions"]
    assert sessions[0]["prompt"] == NOWHERE
    assert sessions[0]["diff"] is None


def test_an_arm_that_is_there_twice_is_there_once() -> None:
    plain = arms()
    assert pack(Arms(plain.details * 2, plain.texts)) == pack(plain)


def test_nothing_gives_an_empty_index() -> None:
    packed = pack(Arms())
    assert unpacked(packed.index) == {"arms": [], "starts": []}
    assert packed.chunks == ()


def test_fragments_are_readable_and_different() -> None:
    found = fragments(["c1/B0/1/given", "a b#<", "\ud800", "\ud801", "?"])
    assert found["c1/B0/1/given"] == "c1/B0/1/given"
    assert unquote(found["a b#<"]) == "a b#<"
    assert len(set(found.values())) == 5
    assert set("".join(found.values())) <= set(string.ascii_letters + string.digits + "/%~_-.")


def test_the_detail_of_every_field_is_packed() -> None:
    """A field that is added to the records must be packed, or named here as one that the page does not show."""
    fields = {f.name for f in dataclasses.fields(ArmDetail)}
    in_index = {"arm", "trap", "construct", "condition", "seed", "history"}
    assert fields == in_index | set(read(pack(arms()))["c1_return_form/B0/1/given"])
