"""The classifier against a plain one, its permutations, and what a group gives away."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.opacity import (
    Corpus,
    by_group_alone,
    corpus,
    giveaways,
    grouped,
    guessed,
    guesses,
    single,
)

NOISE = ["the", "old", "file", "reads", "every", "second", "line", "of", "it", "and", "this", "should", "stop", "here"]


def scores(texts: list[str], labels: list[str], out: list[int], text: str) -> dict[str, float]:
    """Log posterior of each label by the book, from the texts that are not left out."""
    rest = [i for i in range(len(texts)) if i not in out]
    words = {w for i in rest for w in texts[i].split()}
    found = {}
    for label in sorted({labels[i] for i in rest}):
        mine = [i for i in rest if labels[i] == label]
        bag = Counter(w for i in mine for w in texts[i].split())
        size = sum(bag.values()) + max(len(words), 1)
        told = sum(math.log((bag[w] + 1) / size) for w in text.split() if w in words)
        found[label] = math.log(len(mine)) + told
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), max_size=6), st.sampled_from("XYZ"),
                  st.sampled_from("fg")),
        min_size=3, max_size=9,
    ).filter(lambda rows: len({label for _, label, _ in rows}) > 1 and len({g for *_, g in rows}) > 1)
)  # fmt: skip
def test_as_the_book_has_it(rows: list[tuple[list[str], str, str]]) -> None:
    texts, labels, groups = [" ".join(words) for words, _, _ in rows], [r[1] for r in rows], [r[2] for r in rows]
    found, names = corpus(texts, labels, groups), sorted(set(labels))
    for folds in (single(found), grouped(found)):
        said = guesses(found, folds)
        for fold in folds:
            for number in fold:
                told = scores(texts, labels, list(fold), texts[number])
                best = max(told.values())
                assert told.get(names[said[number]], -math.inf) == pytest.approx(best)


def plain(labels: str, groups: str, word: bool) -> Corpus:
    """Texts of the same noise; with `word` each has its label's own word four times."""
    generator = np.random.Generator(np.random.PCG64(5))
    texts = []
    for label in labels:
        noise = [NOISE[i] for i in generator.integers(0, len(NOISE), 12)]
        texts.append(" ".join([*noise, *([f"sign{label}"] * 4 if word else [])]))
    return corpus(texts, list(labels), list(groups))


def test_a_word_that_tells_is_found_out() -> None:
    found = plain("XXXXXXYYYYYYZZZZZZ", "fghfghfghfghfghfgh", word=True)
    told = guessed(found, single(found), "one", within=False, permutations=199)
    assert (told.right, told.n, told.majority, told.unseen, told.p) == (18, 18, 0, 0, 1 / 200)
    kept = guessed(found, grouped(found), "group", within=True, permutations=199)
    assert (kept.right, kept.p) == (18, 1 / 200)
    words = giveaways(found)
    first = words["X"][0]
    assert (first.word, first.inside, first.groups, first.outside) == ("signx", 6, 3, 0)
    assert guessed(found, single(found), "one", within=False, permutations=199) == told


def test_texts_that_tell_nothing_are_as_good_as_chance() -> None:
    found = plain("XXXXXXYYYYYYZZZZZZ", "fghfghfghfghfghfgh", word=False)
    told = guessed(found, single(found), "one", within=False, permutations=199)
    assert told.p > 0.05
    assert told.mean <= told.most


def test_what_only_the_group_tells_is_not_held_against_the_words() -> None:
    """Every group has one label: exchanging labels within groups changes nothing, and a left-out label is unseen."""
    texts = [f"{group}word {group}word other" for group in "ffffgggghhhh"]
    found = corpus(texts, list("XXXXYYYYZZZZ"), list("ffffgggghhhh"))
    free = guessed(found, single(found), "one", within=False, permutations=99)
    within = guessed(found, single(found), "one", within=True, permutations=99)
    assert (free.right, within.right, within.p) == (12, 12, 1.0)
    assert free.p <= 0.02
    assert by_group_alone(found) == 12
    out = guessed(found, grouped(found), "group", within=False, permutations=99)
    assert (out.right, out.unseen, out.majority) == (0, 12, 0)


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ValueError, match="two labels"):
        corpus(["a", "b"], ["X", "X"], ["f", "g"])
    with pytest.raises(ValueError, match="one label and one group"):
        corpus(["a", "b"], ["X", "Y"], ["f"])
    with pytest.raises(ValueError, match="one group"):
        grouped(corpus(["aa", "bb"], ["X", "Y"], ["f", "f"]))
    without = corpus(["1 2", "3"], ["X", "Y"], ["f", "g"])  # no words at all
    assert guessed(without, single(without), "one", within=False, permutations=99).right == 0
