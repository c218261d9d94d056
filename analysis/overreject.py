"""`python -m analysis.overreject [size|coverage|boundaries|needed]`: the tables of docs/statistics.md.

Invariant: everything is seeded; what is printed is Markdown that can stand in the page as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np

from analysis.bootstrap import Clusters, bca
from analysis.intervals import wilson
from analysis.power import SEED, SIMULATIONS, Design, boundary, detectable, needed_by_seeds, power, simulate

Rows = list[tuple[str, ...]]

CORRELATIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
SHAPES = ((60, 3), (22, 3), (60, 5))  # traps, seeds
SHARES = (0.65, 0.70, 0.75)
RATES = ((0.65, 0.45), (0.60, 0.45), (0.55, 0.45))


def size(simulations: int = SIMULATIONS) -> Rows:
    """How often each test rejects at .05 when both conditions pass half of everything."""
    rows: Rows = [("traps x seeds", "correlation within a trap", "clustered rejects", "pooled McNemar rejects")]
    for traps, seeds in SHAPES:
        for correlation in CORRELATIONS:
            found = simulate(Design(traps, seeds, 0.5, 0.5, correlation), simulations=simulations, seed=SEED)
            rows.append((f"{traps} x {seeds}", f"{correlation:.1f}", f"{found.clustered:.3f}", f"{found.pooled:.3f}"))
    return rows


def coverage(folds: int = 500) -> Rows:
    """How often the 95 % intervals of a rate of 0.4 hold it: 60 traps of 3 seeds."""
    rows: Rows = [("correlation within a trap", "trap-cluster BCa covers", "Wilson over cells covers")]
    for correlation in (0.1, 0.4, 0.8):
        generator = np.random.Generator(np.random.PCG64(SEED))
        weight = 1 / correlation - 1
        hits = [0, 0]
        for _ in range(folds):
            passed = generator.binomial(3, generator.beta(0.4 * weight, 0.6 * weight, size=60))
            intervals = (
                bca(Clusters(tuple(passed.tolist()), (3,) * 60), resamples=999),
                wilson(int(passed.sum()), 180),
            )
            for place, interval in enumerate(intervals):
                hits[place] += interval is not None and interval.low <= 0.4 <= interval.high
        rows.append((f"{correlation:.1f}", *(f"{count / folds:.3f}" for count in hits)))
    return rows


def boundaries() -> Rows:
    """Where k traps of equal weight reject at .05, with p, power, and the minimum detectable effect at power .80."""
    rows: Rows = [("k", "rejects from", "p", *(f"power at {share:.2f}" for share in SHARES), "detectable share")]
    for k in (6, 10, 20, 30, 40, 50, 60):
        edge, least = boundary(k), detectable(k)
        if edge is not None:
            powers = (f"{power(k, share):.3f}" for share in SHARES)
            least_text = "-" if least is None else f"{least:.3f}"
            rows.append((str(k), f"{edge.wins}-{k - edge.wins}", f"{float(edge.p):.4f}", *powers, least_text))
    return rows


def needed(simulations: int = 500) -> Rows:
    """Traps that give the clustered test power .80 at alpha .05, by seeds a trap."""
    rows: Rows = [("pass rates", "correlation within a trap", "1 seed", "3 seeds", "5 seeds")]
    for first, second in RATES:
        for correlation in (0.3, 0.6, 0.9):
            found = needed_by_seeds(Design(60, 3, first, second, correlation), (1, 3, 5), simulations=simulations)
            cells = ("-" if count is None else str(count) for count in found.values())
            rows.append((f"{first:.2f} against {second:.2f}", f"{correlation:.1f}", *cells))
    return rows


TABLES: dict[str, Callable[[], Rows]] = {"size": size, "coverage": coverage, "boundaries": boundaries, "needed": needed}


def markdown(rows: Sequence[tuple[str, ...]]) -> str:
    """The rows as a Markdown table; the first is the header."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Print the named tables (all without a name). Returns the exit code."""
    if unknown := [word for word in words if word not in TABLES]:
        print(f"unknown table {unknown[0]!r} (there are {', '.join(TABLES)})", file=sys.stderr)
        return 1
    print("\n\n".join(markdown(TABLES[name]()) for name in words or TABLES))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
