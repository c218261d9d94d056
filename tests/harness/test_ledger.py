"""The ledger: newest attempt holds, nothing is lost, damage is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.ledger import Ledger
from harness.outcome import Boundary, Outcome, UsageFault
from harness.records import ArmRecord, Ending


def record(arm: str, outcome: Outcome, attempt: int = 1) -> ArmRecord:
    trap, condition, seed, history = arm.split("/")
    ending = Ending(reader="careful", outcome=outcome, cause="", boundary=Boundary.SANDBOX)
    return ArmRecord(
        arm=arm,
        trap=trap,
        construct_="C1",
        condition=condition,
        seed=int(seed),
        history=history,
        main=True,
        expect="use",
        warm_up=(True, True),
        carried_by_tree=(),
        injected=(),
        receipts=(),
        store="",
        shown=(),
        endings=(ending,),
        seconds=1.0,
        attempt=attempt,
    )


def test_the_newest_attempt_holds_and_older_ones_stay(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l") as ledger:
        ledger.arm(record("t/B0/1/given", Outcome.INVALID))
        ledger.arm(record("t/B5/1/given", Outcome.PASS))
        assert ledger.settled() == {"t/B5/1/given"}
        ledger.arm(record("t/B0/1/given", Outcome.FAILED, attempt=2))
        assert [(r.arm, r.attempt) for r in ledger.arms()] == [("t/B5/1/given", 1), ("t/B0/1/given", 2)]
        assert ledger.settled() == {"t/B0/1/given", "t/B5/1/given"}
        assert ledger.attempts() == {"t/B0/1/given": 2, "t/B5/1/given": 1}


def test_a_cut_ledger_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        for n in range(300):
            ledger.arm(record(f"t/B0/{n}/given", Outcome.PASS))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageFault, match=r"ledger\.sqlite: damaged ledger"):
        Ledger(path)
    assert path.read_bytes() == whole[: len(whole) // 2]


def test_another_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger._db.execute("UPDATE meta SET value = '99'")
    with pytest.raises(UsageFault, match="schema '99'"):
        Ledger(path)


def test_no_ledger_is_created_for_reading(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="no ledger"):
        Ledger(tmp_path / "none", read_only=True)
    assert not (tmp_path / "none").exists()
