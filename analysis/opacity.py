"""Can the label of a text be guessed from its words? Multinomial naive Bayes, leaving texts out, against permutations.

The classifier is the textbook's (McCallum and Nigam 1998): word counts, add-one smoothing over the words that the
training texts have, priors from the training texts; words that they lack are left out. Invariant: a text never takes
part in the training for its own guess, and the same texts and seed give the same numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 20260704
PERMUTATIONS = 999
_WORD = re.compile(r"[^\W\d_]{2,}")

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Corpus:
    """`counts` has a row a text and a column a word; `labels` and `groups` have one entry a text."""

    labels: tuple[str, ...]
    groups: tuple[str, ...]
    words: tuple[str, ...]
    counts: Floats


@dataclass(frozen=True)
class Guessed:
    """How many texts were guessed right when `left_out` was left out each time, and what that is set against.

    majority    texts that the most frequent label of the rest would have got right
    unseen      texts whose label no remaining text had: they cannot be guessed right
    p           (1 + permutations that do at least as well) / (1 + permutations); `within` says that labels were
                exchanged among the texts of one group only
    mean, most  texts guessed right in the permutations: the mean and the 95th percentile
    """

    left_out: str
    right: int
    n: int
    majority: int
    unseen: int
    within: bool
    permutations: int
    p: float
    mean: float
    most: float


@dataclass(frozen=True)
class Word:
    """A word of a label: in how many of its texts, of how many groups, and in how many texts of other labels."""

    word: str
    inside: int
    groups: int
    outside: int


def corpus(texts: Sequence[str], labels: Sequence[str], groups: Sequence[str]) -> Corpus:
    """Words are runs of at least two letters, in lower case. Raises ValueError without two texts and two labels."""
    if not len(texts) == len(labels) == len(groups):
        raise ValueError("one label and one group for each text")
    if len(texts) < 2 or len(set(labels)) < 2:
        raise ValueError("at least two texts with two labels are needed")
    bags = [Counter(_WORD.findall(text.lower())) for text in texts]
    words = tuple(sorted(set().union(*bags)))
    counts = np.array([[bag[word] for word in words] for bag in bags], dtype=np.float64).reshape(len(texts), -1)
    return Corpus(tuple(labels), tuple(groups), words, counts)


def guesses(found: Corpus, folds: Sequence[Ints], numbers: Ints | None = None) -> Ints:
    """The label guessed for each text, as its number in `names(found)`; each fold is left out in turn."""
    numbers = label_numbers(found) if numbers is None else numbers
    counts, labels = found.counts, int(numbers.max()) + 1
    of_label = np.zeros((labels, counts.shape[1]))
    np.add.at(of_label, numbers, counts)
    sizes, everything = np.bincount(numbers, minlength=labels), counts.sum(axis=0)
    logs, lengths = np.log(of_label + 1), of_label.sum(axis=1)
    guessed = np.empty(len(numbers), dtype=np.int64)
    for fold in folds:
        out, own = counts[fold], numbers[fold]
        gone = np.bincount(own, minlength=labels)
        known = everything - out.sum(axis=0) > 0
        here = np.flatnonzero(known & (out.sum(axis=0) > 0))
        rows, left = logs[:, here], lengths.copy()
        for label in np.flatnonzero(gone):
            mine = out[own == label].sum(axis=0)
            rows[label] = np.log(of_label[label, here] - mine[here] + 1)
            left[label] -= mine.sum()
        used = out[:, here]
        with np.errstate(divide="ignore"):  # a label without a text has the prior 0
            prior = np.log(sizes - gone)
        scores = used @ rows.T - np.outer(used.sum(axis=1), np.log(left + max(int(known.sum()), 1))) + prior
        guessed[fold] = scores.argmax(axis=1)
    return guessed


def single(found: Corpus) -> list[Ints]:
    """Folds that leave one text out."""
    return [np.array([number]) for number in range(len(found.labels))]


def grouped(found: Corpus) -> list[Ints]:
    """Folds that leave one group out. Raises ValueError for texts of one group."""
    if len(names := sorted(set(found.groups))) < 2:
        raise ValueError("all texts are of one group")
    return [np.array([i for i, group in enumerate(found.groups) if group == name]) for name in names]


def label_numbers(found: Corpus) -> Ints:
    """The label of each text as its number in sorted order."""
    names = sorted(set(found.labels))
    return np.array([names.index(label) for label in found.labels])


def guessed(
    found: Corpus, folds: Sequence[Ints], left_out: str, *, within: bool, permutations: int = PERMUTATIONS,
    seed: int = SEED,
) -> Guessed:  # fmt: skip
    """The accuracy with its permutation distribution; permutations `within` groups keep what a group gives away."""
    numbers = label_numbers(found)
    blocks = grouped(found) if within and len(set(found.groups)) > 1 else [np.arange(len(numbers))]
    right = int((guesses(found, folds) == numbers).sum())
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = np.empty(permutations)
    for number in range(permutations):
        shuffled = numbers.copy()
        for block in blocks:
            shuffled[block] = generator.permutation(numbers[block])
        drawn[number] = (guesses(found, folds, shuffled) == shuffled).sum()
    most = float(np.quantile(drawn, 0.95)) if permutations else 0.0
    mean = float(drawn.mean()) if permutations else 0.0
    p = (1 + int((drawn >= right).sum())) / (1 + permutations)
    majority, unseen = _majority(numbers, folds)
    return Guessed(left_out, right, len(numbers), majority, unseen, within, permutations, p, mean, most)


def _majority(numbers: Ints, folds: Sequence[Ints]) -> tuple[int, int]:
    """(right by the most frequent label of the rest, the first one of a tie; texts whose label the rest lacks)."""
    sizes, right, unseen = np.bincount(numbers), 0, 0
    for fold in folds:
        rest = sizes - np.bincount(numbers[fold], minlength=len(sizes))
        right += int((numbers[fold] == rest.argmax()).sum())
        unseen += int((rest[numbers[fold]] == 0).sum())
    return right, unseen


def by_group_alone(found: Corpus) -> int:
    """Texts guessed right by the most frequent label of the other texts of their group, with no word looked at."""
    numbers, right = label_numbers(found), 0
    sizes = np.bincount(numbers)
    for number, group in enumerate(found.groups):
        others = [numbers[i] for i, other in enumerate(found.groups) if other == group and i != number]
        rest = np.bincount(others, minlength=len(sizes)) if others else sizes - np.eye(len(sizes))[numbers[number]]
        right += int(rest.argmax() == numbers[number])
    return right


def giveaways(found: Corpus, most: int = 6) -> Mapping[str, tuple[Word, ...]]:
    """For each label the words that speak for it most, among those of at least two of its texts.

    Ranked by count times log ratio of its smoothed share here and elsewhere: what a text of the label gains by it.
    """
    told: dict[str, tuple[Word, ...]] = {}
    everything = found.counts.sum(axis=0)
    for label in sorted(set(found.labels)):
        mine = np.array([own == label for own in found.labels])
        inside, outside = (found.counts[mine] > 0).sum(axis=0), (found.counts[~mine] > 0).sum(axis=0)
        here = found.counts[mine].sum(axis=0)
        size = len(found.words)
        ratio = np.log((here + 1) / (here.sum() + size)) - np.log(
            (everything - here + 1) / ((everything - here).sum() + size)
        )
        gains = np.where((inside >= 2) & (ratio > 0), here * ratio, 0)
        best = [int(i) for i in np.argsort(-gains, kind="stable")[:most] if gains[i] > 0]
        told[label] = tuple(
            Word(found.words[i], int(inside[i]), _groups(found, mine, i), int(outside[i])) for i in best
        )
    return told


def _groups(found: Corpus, mine: NDArray[np.bool_], word: int) -> int:
    return len({group for group, own, n in zip(found.groups, mine, found.counts[:, word], strict=True) if own and n})
