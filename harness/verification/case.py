"""What the checks of a bundle work on, read once: the public records, the sources, and the whole run with the key.

Invariant: everything here comes from members whose digests were compared; nothing of it was run or filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.bundle import layout
from harness.bundle.container import BundleError
from harness.bundle.derived import analysis
from harness.bundle.opened import Opened, open_run
from harness.bundle.reader import Bundle
from harness.bundle.rows import Told, read_lines
from harness.bundle.thaw import table, thaw, thaw_public, thaw_sources
from harness.config import validate
from harness.description import Description
from harness.outcome import UsageFault
from harness.plan import load_oracles, select
from harness.records import ArmRecord, SessionRecord
from harness.rundir import RunDir
from oracles.folder import OracleFolder
from oracles.solutions import SolutionError
from traps.hosted import HostedError
from traps.load import Trap
from traps.schema import TrapError

Attempt = tuple[str, int]
MOST_STRANGE = 1000  # records of arms that the plan does not have


@dataclass(frozen=True)
class Case:
    """One bundle under verification. `arms` and `sessions` are the public records; `whole` is there with the key."""

    bundle: Bundle
    folder: RunDir  # the public part as a run directory
    stored: Description
    arms: tuple[Told[ArmRecord], ...]
    sessions: Mapping[Attempt, tuple[Told[SessionRecord], ...]]
    traps: Mapping[str, Trap]
    oracles: Mapping[str, OracleFolder]
    whole: Opened | None

    @cached_property
    def again(self) -> tuple[bytes, bytes]:
        """analysis.json and report.md as they follow from the records. Raises as `derived.analysis`."""
        return analysis(self.folder)

    @property
    def newest(self) -> dict[str, Told[ArmRecord]]:
        """The attempt of each arm that counts."""
        found: dict[str, Told[ArmRecord]] = {}
        for told in self.arms:
            if told.arm not in found or found[told.arm].attempt < told.attempt:
                found[told.arm] = told
        return found


def read_case(bundle: Bundle, scratch: Path) -> Case:
    """Read a bundle into `scratch`, an empty folder of ours. Raises BundleError."""
    try:
        public = thaw_public(bundle, scratch / "public")
        arms = tuple(read_lines(layout.ARMS, bundle.get(layout.ARMS), ArmRecord))
        sessions: dict[Attempt, tuple[Told[SessionRecord], ...]] = {}
        for told in read_lines(layout.SESSIONS, bundle.get(layout.SESSIONS), SessionRecord):
            key = told.arm, told.attempt
            sessions[key] = (*sessions.get(key, ()), told)
        _require_bounded(public.description(), [*(told.arm for told in arms), *(arm for arm, _ in sessions)])
        table(layout.ANALYSIS, bundle.get(layout.ANALYSIS))
        whole = None
        if bundle.seal is not None:
            whole = open_run(thaw(bundle, scratch / "whole").path, strange=True)
            traps, oracles = whole.traps, whole.oracles
        else:
            traps, oracles = _sources(bundle, public, scratch / "sources")
        return Case(bundle, public, public.description(), arms, sessions, traps, oracles, whole)
    except UsageFault as error:  # messages of ours name the files that we wrote, below `scratch`
        raise BundleError(str(error).replace(f"{scratch}/", "")) from None
    except (RecursionError, MemoryError) as error:
        raise BundleError(f"cannot be read ({type(error).__name__})") from None


def _require_bounded(stored: Description, arms: list[str]) -> None:
    """A few records that nobody planned are told one by one; a flood of them would only take time and memory."""
    config, meaning = stored.meaning["config"], stored.meaning
    seeds = {str(config["first_seed"] + n) for n in range(config["seeds"])}

    def planned(arm: str) -> bool:
        trap, condition, seed, *_ = (*arm.split("/"), "", "", "")
        return trap in meaning["traps"] and condition in meaning["conditions"] and seed in seeds

    if sum(not planned(arm) for arm in arms) > MOST_STRANGE:
        raise BundleError(f"more than {MOST_STRANGE} records of arms that were not planned")


def _sources(bundle: Bundle, public: RunDir, folder: Path) -> tuple[Mapping[str, Trap], Mapping[str, OracleFolder]]:
    thaw_sources(bundle, folder)
    stored = public.description()
    places = {
        "traps_dir": str(folder / "traps"),
        "oracles_dir": str(folder / "oracles"),
        "cache": str(folder / "cache"),
    }
    named = {"traps": tuple(stored.meaning.get("traps", {})), "fold": ""}
    config = validate({**stored.config, **places, **named}, layout.RUN)
    try:
        traps = select(config, config.cache_dir, checked=False)
        return traps, load_oracles(config, traps, checked=False)
    except (TrapError, HostedError, SolutionError) as error:
        raise UsageFault(str(error)) from error
