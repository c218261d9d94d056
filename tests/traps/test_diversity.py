"""Likeness of traps: the same under other names is found, and what is drawn does not hide it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from traps.diversity import ALIKE, MOST, Print, diversity_problems, likeness, nearest, shingles

TREES = ("ash", "beech", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew")
WORDS = st.lists(st.sampled_from(TREES), max_size=40)


def made(name: str, text: str, skeleton: str = "s") -> Print:
    return Print(name, skeleton, shingles([text]))


def test_shingles_are_runs_of_five_words_without_slots_and_case() -> None:
    assert shingles(["The mark is << mark >> for `src/a.py`."]) == {
        "the mark is for src",
        "mark is for src a",
        "is for src a py",
    }
    assert shingles(["Two words"]) == {"two words"}
    assert shingles(["<< mark >>", ""]) == frozenset()


@given(WORDS, WORDS)
def test_likeness_is_symmetric_and_one_only_for_the_same(one: list[str], other: list[str]) -> None:
    a, b = made("a", " ".join(one)), made("b", " ".join(other))
    assert 0.0 <= likeness(a, b) == likeness(b, a) <= 1.0
    assert (likeness(a, b) == 1.0) == (a.shingles == b.shingles and bool(a.shingles))


def test_the_same_under_another_name_is_near() -> None:
    text = "the reviewer wants the new lane written into the table of routes for this site before the close of march"
    copy = made("copy", text.replace("lane", "track"), "other")
    far = made(
        "far", "nobody may open the archive while the register of seals is being moved to another shelf", "third"
    )
    others = {"copy": copy, "far": far, "own": made("own", text)}
    own = made("own", text)
    assert nearest(own, others)[0] == "copy"
    (problem,) = diversity_problems(own, others)
    assert (problem.gate, problem.where) == ("diversity", "copy")
    assert likeness(own, copy) >= ALIKE > likeness(own, far)


def test_a_skeleton_has_room_for_four() -> None:
    texts = ["one two three four five", "six seven eight nine ten", "a b c d e", "f g h i j"]
    others = {f"t{n}": made(f"t{n}", text) for n, text in enumerate(texts)}
    assert len(others) == MOST
    (problem,) = diversity_problems(made("new", "k l m n o"), others)
    assert problem.where == "skeleton"
    assert "t0, t1, t2, t3" in problem.message
    assert not list(diversity_problems(made("t3", "f g h i j"), others))  # itself is one of the four
    assert nearest(made("new", "k l m n o"), {}) == ("", 0.0)
