"""The exact test: its speed on the published family and on a large fold, and against what people would use instead."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import permutation_test

from analysis.clustered import sign_test
from bench.measure import Figure, in_turn, note, ratio, seconds

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "data" / "golden" / "v2_stats.json"
ENUMERATED = 20  # traps whose 2^k signs can be listed


def figures() -> Iterator[Figure]:
    """Milliseconds and seconds against their bounds, and how many times slower the others are."""
    family = [contrast["d_t"] for contrast in json.loads(GOLDEN.read_text())["P_family"].values()]
    spent = [seconds(lambda: [sign_test(scores) for scores in family]) / len(family) * 1000 for _ in range(50)]
    yield Figure("exact test of a 60-trap contrast, ms", statistics.median(spent), 1.0, note=f"worst {max(spent):.2f}")
    large = np.random.default_rng(1).integers(-3, 4, size=10_000).tolist()
    took = statistics.median(seconds(lambda: sign_test(large)) for _ in range(5))
    yield Figure("exact test of 10,000 traps x 3 seeds, s", took, 1.0)
    ours, theirs = in_turn(lambda: sign_test(family[0]), lambda: _permuted(family[0]), 7)
    text = f"9,999 sampled resamples, {note(ours, theirs)}"
    yield Figure("scipy.stats.permutation_test over the exact test", ratio(theirs, ours), 10.0, True, text)
    few = [score for scores in family for score in scores if score][:ENUMERATED]
    ours, theirs = in_turn(lambda: sign_test(few), lambda: _enumerated(few), 5)
    text = f"2^{ENUMERATED} signs in numpy, {note(ours, theirs)}"
    yield Figure("sign enumeration over the exact test", ratio(theirs, ours), 100.0, True, text)


def _permuted(scores: list[int]) -> float:
    """Their default number of resamples; a vectorized statistic is their fastest way."""
    found = permutation_test(
        (np.array(scores),), lambda x, axis: x.sum(axis=axis), permutation_type="samples", vectorized=True
    )
    return float(found.pvalue)


def _enumerated(scores: list[int]) -> float:
    sums = np.zeros(1, dtype=np.int64)
    for score in scores:
        sums = np.concatenate([sums + score, sums - score])
    return float((np.abs(sums) >= abs(sum(scores))).mean())


if __name__ == "__main__":
    for figure in figures():
        print(figure.line(), flush=True)
