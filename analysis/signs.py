"""Exact tail of the sign distribution of whole weights: how many of the 2^k sign assignments reach a sum.

The counts are the coefficients of f(x) = prod_w (1 + x^w)^(m_w), where m_w traps have the weight w. With theta = x d/dx
and Q = prod of (1 + x^w) over the distinct weights, Q * theta(f) = R * f for R = sum_w m_w w x^w Q / (1 + x^w), so

    n f_n = sum_{j >= 1} (R_j - (n - j) Q_j) f_{n-j},        f_0 = 1.

This is the usual recurrence for powers of polynomials (logarithmic derivative; Knuth, TAOCP vol. 2, 4.7). A step costs
deg Q = (sum of the distinct weights) multiplications by small numbers, however many traps there are: 10,000 traps of
three seeds are 20,000 steps of six. Invariant: every count is an integer, every division is without remainder.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable


def tail_count(weights: Iterable[int], total: int) -> int:
    """Number of sign assignments of the weights whose sum is at least `total` away from 0, on either side.

    `weights` are positive; `total` >= 0 has the parity of their sum (every reachable sum has). Raises ValueError
    for weights below 1, a total of another parity, or one out of reach.
    """
    multiplicity = Counter(weights)
    if any(weight < 1 for weight in multiplicity):
        raise ValueError("weights are positive whole numbers")
    span = sum(weight * times for weight, times in multiplicity.items())
    if not 0 <= total <= span or (span - total) % 2:
        raise ValueError(f"{total} is no distance that weights of sum {span} can reach")
    if total == 0:
        return 1 << sum(multiplicity.values())
    # A subset with sum n as the positive signs gives 2n - span; by symmetry both tails are as large as the lower one.
    return 2 * _lower(multiplicity, (span - total) // 2)


def _lower(multiplicity: Counter[int], last: int) -> int:
    """f_0 + ... + f_last."""
    q, r = _polynomials(multiplicity)
    terms = [(j, r[j], q[j]) for j in range(1, len(q)) if r[j] or q[j]]
    newest: deque[int] = deque([1], maxlen=len(q) - 1)  # newest[j - 1] is f_{n-j}
    found = 1
    for n in range(1, last + 1):
        value = 0
        for j, r_j, q_j in terms:
            if j > len(newest):
                break
            if factor := r_j - (n - j) * q_j:
                value += factor * newest[j - 1]
        value //= n
        found += value
        newest.appendleft(value)
    return found


def _polynomials(multiplicity: Counter[int]) -> tuple[list[int], list[int]]:
    """Q and R, by ascending power, of equal length."""
    q = [1]
    for weight in multiplicity:
        q = _times(q, weight)
    r = [0] * len(q)
    for weight, times in multiplicity.items():
        rest = [1]
        for other in multiplicity:
            if other != weight:
                rest = _times(rest, other)
        for power, factor in enumerate(rest):
            r[power + weight] += factor * times * weight
    return q, r


def _times(polynomial: list[int], weight: int) -> list[int]:
    """polynomial * (1 + x^weight)."""
    padded = [*polynomial, *[0] * weight]
    for power, factor in enumerate(polynomial):
        padded[power + weight] += factor
    return padded
