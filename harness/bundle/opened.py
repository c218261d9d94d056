"""A finished run as verify, replay, rescore and audit work on it: the directory, what was run, what it holds.

It makes no difference whether the directory is that of a run or was thawed from a bundle. Invariant: opening reads
files and runs nothing; traps and oracles are those named by the directory's own configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness import plan as planning
from harness.archive import Archive
from harness.config import RunConfig
from harness.description import Description
from harness.draw import Draws
from harness.draw import load as load_draws
from harness.haystack import Past
from harness.haystack import load as load_past
from harness.ledger import Ledger
from harness.outcome import UsageFault
from harness.plan import Plan
from harness.records import ArmRecord, SessionRecord
from harness.reporting import in_plan_order
from harness.run import stored_config
from harness.rundir import RunDir
from memory_probe.ladder import Condition
from oracles.folder import OracleFolder
from oracles.solutions import SolutionError
from traps.hosted import HostedError
from traps.load import Trap
from traps.schema import TrapError


@dataclass(frozen=True)
class Opened:
    """One run. `draws` and `past` are empty where the facts are not there (a bundle without its key)."""

    folder: RunDir
    stored: Description
    config: RunConfig
    traps: Mapping[str, Trap]
    oracles: Mapping[str, OracleFolder]
    draws: Draws
    past: Past
    records: tuple[ArmRecord, ...]  # the newest attempt of each arm, in the order of the plan
    archive: Archive

    @property
    def revealed(self) -> bool:
        """Whether the facts, and with them views, trees and transcripts, are there."""
        return bool(self.draws)

    def sessions(self, record: ArmRecord) -> list[SessionRecord]:
        """The sessions of an arm's newest attempt, in order."""
        return self.archive.sessions(record)

    def scoring_plan(self, oracles: Mapping[str, OracleFolder] | None = None) -> Plan:
        """A plan that holds what scoring needs (traps, oracles), and no condition: those may not be installed here."""
        conditions: dict[str, Condition] = {}
        seeds = tuple(sorted({r.seed for r in self.records}))
        return Plan(
            self.traps, oracles or self.oracles, conditions, seeds, self.stored.readers, (), self.stored.meaning
        )


def open_run(path: Path, strange: bool = False) -> Opened:
    """Open a run directory. Raises UsageFault for everything a person can mend, naming file or key.

    `strange`: it came from somebody else, so that nothing of its traps and oracles is parsed or filled in here.
    """
    folder = RunDir.open(path)
    stored, config = folder.description(), stored_config(folder)
    strange = strange or bool(stored.unpacked)
    # a fold is read by its members: what changed in the tree since then is for the caller to compare
    named = config.model_copy(update={"traps": tuple(stored.meaning.get("traps", {})), "fold": ""})
    try:
        traps = planning.select(named, config.cache_dir, checked=not strange)
        oracles = planning.load_oracles(named, traps, checked=not strange)
    except (TrapError, HostedError, SolutionError) as error:
        raise UsageFault(str(error)) from error
    with Ledger(folder.ledger, read_only=True) as ledger:
        records = in_plan_order(stored, list(ledger.arms()))
    draws = load_draws(folder.facts) if folder.facts.exists() else {}
    past = load_past(folder.background) if folder.background.exists() else {}
    return Opened(folder, stored, config, traps, oracles, draws, past, tuple(records), Archive.open(folder))
