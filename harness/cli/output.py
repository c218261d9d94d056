"""What several commands read from a run directory; shared by `run`, `status`, `report`, `show` and `memory`."""

from __future__ import annotations

from harness.ledger import Ledger
from harness.records import ArmRecord
from harness.rows import outcome_counts, rows
from harness.rundir import RunDir

__all__ = ["committed", "outcome_counts", "rows"]


def committed(folder: RunDir) -> list[ArmRecord]:
    """The newest record of every arm; none while the run has no ledger yet."""
    if not folder.ledger.exists():
        return []
    with Ledger(folder.ledger, read_only=True) as ledger:
        return list(ledger.arms())
