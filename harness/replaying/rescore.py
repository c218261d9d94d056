"""Rescore: the recorded S3 changes are scored with another version of the oracles, as a run of its own.

Invariant: the parent is read and never written; the new run names its parent and every oracle that changed, holds the
oracles that it was scored with, and has the plan digest of a run that is begun with them.
"""

from __future__ import annotations

import copy
import datetime as dt
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.report.layout import clean
from containers.sandbox import Sandbox
from harness import plan as planning
from harness.bundle.opened import Opened
from harness.outcome import UsageFault
from harness.plan import Plan
from harness.replaying.copied import copy_plain, refuse_taken, write_run
from harness.replaying.replay import Replayed, Tell, replayed_text, score_again
from harness.rundir import RunDir
from oracles.solutions import SolutionError

ORACLES = "oracles"  # the folder in the new run


@dataclass(frozen=True)
class Rescored:
    """A new run, and what is other in it than in its parent.

    changed   trap -> old and new digest of its oracle; `unchanged` and `missing` are traps whose oracle is the old one
    """

    folder: RunDir
    replayed: Replayed
    changed: Mapping[str, tuple[str, str]]
    unchanged: tuple[str, ...]
    missing: tuple[str, ...]


def rescore(
    run: Opened, sandbox: Sandbox, oracles_dir: Path, out: Path, jobs: int, tell: Tell = lambda _: None
) -> Rescored:
    """Score every recorded change again, with the oracles below `oracles_dir` where there are any, as the run `out`.

    Where an oracle is missing there, the run's own is used. `tell` hears each arm as it ends. Raises UsageFault when no
    oracle differs, one is broken, the facts are missing, or `out` is taken.
    """
    refuse_taken(run, out)
    with tempfile.TemporaryDirectory() as name:
        held = Path(name)  # a copy: what is scored with is what is kept
        missing = _gather(run, oracles_dir, held)
        plan = _plan(run, held)
        old, new = run.stored.meaning["oracles"], plan.meaning["oracles"]
        changed = {t: (str(old.get(t)), digest) for t, digest in new.items() if old.get(t) != digest}
        if not changed:
            raise UsageFault(f"{oracles_dir}: {_all_the_same(run, missing)}")
        replayed = score_again(run, plan, sandbox, jobs, run.records, tell)
        unchanged = tuple(t for t in new if t not in changed and t not in missing)
        told = _description(run, plan, out, changed, unchanged, missing)
        folder = write_run(run, replayed.records, out, told, {ORACLES: held})
    return Rescored(folder, replayed, changed, unchanged, missing)


def rescored_text(done: Rescored) -> str:
    """Which oracles changed, and every verdict that is another one with them."""
    lines = [f"{t}: oracle {old[:16]} -> {new[:16]}" for t, (old, new) in done.changed.items()]
    lines += [f"{t}: unchanged" for t in done.unchanged]
    lines += [f"{t}: not among the new oracles, scored with the run's own" for t in done.missing]
    return "\n".join(map(clean, lines)) + "\n\n" + replayed_text(done.replayed, "Scored again")


def _gather(run: Opened, oracles_dir: Path, held: Path) -> tuple[str, ...]:
    """Copy the new oracle of every trap, or else the run's own; the traps that have no new one."""
    if not oracles_dir.is_dir():
        raise UsageFault(f"{oracles_dir}: no such folder of oracles")
    missing = []
    for trap in run.traps.values():
        place = Path(trap.folder.parent.name) / trap.folder.name
        source = oracles_dir / place
        if not source.is_dir():
            missing.append(trap.id)
            source = Path(run.config.oracles_dir) / place
        copy_plain(source, held / place)
    return tuple(missing)


def _all_the_same(run: Opened, missing: tuple[str, ...]) -> str:
    gone = f"; {len(missing)} are missing: {', '.join(missing[:10])}" if missing else ""
    return f"no oracle there differs from those of the run ({len(run.traps)} traps{gone}; to check them, use replay)"


def _plan(run: Opened, held: Path) -> Plan:
    """The plan of a run that is begun with the oracles in `held`. Raises UsageFault for a broken one."""
    try:
        oracles = planning.load_oracles(run.config.model_copy(update={"oracles_dir": str(held)}), run.traps)
    except SolutionError as error:
        raise UsageFault(str(error)) from error
    meaning: dict[str, Any] = copy.deepcopy(dict(run.stored.meaning))
    meaning["oracles"] = {t: oracle.digest for t, oracle in oracles.items()}
    if "fold" in meaning and meaning["oracles"] != run.stored.meaning["oracles"]:
        # a frozen fold is traps and oracles; with others, these are only traps that are named one by one
        del meaning["fold"]
        meaning["config"]["traps"] = list(run.traps)
    return replace(run.scoring_plan(oracles), meaning=meaning)


def _description(
    run: Opened,
    plan: Plan,
    out: Path,
    changed: Mapping[str, tuple[str, str]],
    unchanged: tuple[str, ...],
    missing: tuple[str, ...],
) -> dict[str, Any]:
    """What run.json says otherwise than the parent's. The frozen plan of the parent is not followed any more."""
    stored = run.stored
    config = {**stored.config, "oracles_dir": str(out.absolute() / ORACLES)}
    if "fold" not in plan.meaning and config.get("fold"):
        config |= {"fold": "", "traps": list(run.traps)}
    parent = {
        "plan_digest": stored.plan_digest,
        "draw_digest": stored.draw_digest,
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "oracles": {t: {"old": old, "new": new} for t, (old, new) in changed.items()},
        "unchanged": list(unchanged),
        "missing": list(missing),
    }
    told = {"config": config, "plan_digest": plan.digest, "meaning": dict(plan.meaning), "draw_reused": True}
    return {**told, "follows": None, "rescored_from": parent}
