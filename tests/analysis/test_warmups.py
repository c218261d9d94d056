"""S3 by what S1 and S2 did: every arm is counted once."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from analysis.rates import Rate
from analysis.warmups import conditional, sessions


@dataclass(frozen=True)
class Arm:
    s1: bool | None
    s2: bool | None
    passed: bool | None


ARMS = [Arm(True, True, True), Arm(True, True, False), Arm(True, True, None), Arm(False, None, True),
        Arm(None, True, True), Arm(True, False, False)]  # fmt: skip


def test_rates_by_hand() -> None:
    found = conditional(ARMS)
    assert (found.s1, found.s2, found.s3) == (Rate(4, 5), Rate(4, 5), Rate(3, 5))
    assert (found.both_passed, found.one_failed, found.not_known) == (Rate(1, 2), Rate(1, 2), Rate(1, 1))
    assert sessions(ARMS) == (8, 10)
    assert sessions([Arm(None, None, True)]) is None
    assert sessions([]) is None


CHECK = st.sampled_from([True, False, None])


@given(st.lists(st.builds(Arm, CHECK, CHECK, CHECK)))
def test_the_parts_sum_to_s3(arms: list[Arm]) -> None:
    found = conditional(arms)
    parts = (found.both_passed, found.one_failed, found.not_known)
    assert sum(p.passed for p in parts) == found.s3.passed
    assert sum(p.counted for p in parts) == found.s3.counted
