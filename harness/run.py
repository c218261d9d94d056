"""A run from configuration to committed outcomes: set up, draw or reuse facts, execute what is owed.

Invariant: the commitments of every fact are on disk before the first session; resuming follows the stored meaning
and refuses any other, naming the differing keys, with nothing deleted.
"""

from __future__ import annotations

import datetime as dt
import platform
import secrets
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

from containers.layer import Layer
from containers.sandbox import Sandbox, SandboxError
from harness import candidates
from harness import draw as drawing
from harness import plan as planning
from harness.agents import make_agent
from harness.arm import Context, run_arm
from harness.boxes import open_sandbox
from harness.clearance import cleared, refused
from harness.config import RunConfig, validate
from harness.description import Description
from harness.door import described, layer_of
from harness.executor import Executor, Tell
from harness.haystack import Haystack, Past, commitments, load, obtain, save
from harness.judge import Judge
from harness.ledger import Ledger
from harness.means import means, require
from harness.objects import ObjectStore
from harness.outcome import Boundary, Fault, UsageFault
from harness.plan import Arm, Plan
from harness.preregistration.plan_start import Amend, follow, planned
from harness.preregistration.preregister import body_of
from harness.rundir import RunDir
from harness.score import Scorer
from memory_probe.ladder import Condition, conditions, unaided
from memory_probe.model import ModelFault
from memory_probe.protocol import MemoryFault
from oracles.solutions import SolutionError
from traps.hosted import HostedError
from traps.load import Trap
from traps.schema import TrapError


def nowhere(point: str) -> None:
    """The default for `reach`: nobody listens."""


@dataclass
class Prepared:
    """A run that is ready to execute."""

    config: RunConfig
    folder: RunDir
    plan: Plan
    draws: drawing.Draws
    label: str
    owed: list[Arm]
    past: Past = field(default_factory=dict)


def load_plan(config: RunConfig, known: dict[str, Condition] | None = None) -> Plan:
    """The plan of a configuration. Raises UsageFault for everything a person can mend."""
    try:
        agent = make_agent(config)
        traps = planning.select(config, config.cache_dir)
        return planning.make(config, traps, known or dict(conditions()), agent.card)
    except (TrapError, HostedError, SolutionError, MemoryFault) as error:
        raise UsageFault(str(error)) from error


def prepare(config: RunConfig, out: Path, known: dict[str, Condition] | None = None) -> Prepared:
    """Make a new run directory, or take up the run that is there; the lock is held until `execute` is over.

    Raises UsageFault for everything a person can mend, before any session.
    """
    if sys.flags.optimize:
        raise UsageFault("python -O strips the asserts that oracles are made of (remedy: run without -O)")
    if (out / "run.json").exists():
        RunDir.open(out).description().require_own(str(out))
    config = spelt_out(config, known)
    plan = load_plan(config, known)
    require(config, make_agent(config), plan.conditions.values())
    drawn = None if (out / "run.json").exists() else draw(config, plan)
    folder = RunDir.create(out)
    try:
        if (out / "run.json").exists():
            return _take_up(config, folder, plan)
        return begin(config, folder, plan, *(drawn or draw(config, plan)))
    except OSError as error:
        folder.unlock()
        raise UsageFault(f"{out}: the run cannot be set up: {error.strerror or error}; nothing was run") from error
    except BaseException:
        folder.unlock()
        raise


def spelt_out(config: RunConfig, known: dict[str, Condition] | None = None) -> RunConfig:
    """`conditions=all` as the list that it is today, so that a later condition changes no stored plan.

    These are the conditions that need neither a model nor an extra; the others are run when they are named.
    """
    if config.conditions != ("all",):
        return config
    return config.model_copy(update={"conditions": unaided(known or conditions())})


def draw(config: RunConfig, plan: Plan) -> tuple[drawing.Draws, Past]:
    """The facts and the background of a new run: fresh, or those of `facts_from`. Raises UsageFault."""
    traps, other = plan.traps.values(), Path(config.facts_from) if config.facts_from else None
    draws = drawing.reuse(other / "facts.json", traps, plan.seeds) if other else drawing.draw_all(traps, plan.seeds)
    old = other / "background.json" if other else None
    return draws, obtain(plan.backgrounds, config.haystack, plan.seeds, draws, old)


def begin(config: RunConfig, folder: RunDir, plan: Plan, draws: drawing.Draws, past: Past) -> Prepared:
    """Write what a run has before its first session, over what was prepared there. For who holds the lock.

    Raises OSError.
    """
    folder.sweep()
    label = secrets.token_hex(8)
    drawing.save(folder.facts, draws)
    if past:
        save(folder.background, past)
    else:
        folder.background.unlink(missing_ok=True)
    root = drawing.draw_digest(draws, commitments(past).values())
    told = {f"{trap}/{seed}": draw.commitments() for (trap, seed), draw in draws.items()}
    background = {"background": commitments(past)} if past else {}
    folder.write_json("commitments.json", {"root": root, "commitments": told, **background})
    folder.write_json("run.json", _description(config, plan, root, label))
    return Prepared(config, folder, plan, draws, label, list(plan.arms), past)


def _description(config: RunConfig, plan: Plan, root: str, label: str) -> dict[str, Any]:
    family = {"family": plan.family.as_data()} if plan.family else {}
    standing = candidates.of_plan(config, plan)
    return {
        "label": label,
        "begun": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "config": config.anchored().model_dump(mode="json", by_alias=True),
        "plan_digest": plan.digest,
        "draw_digest": root,
        "draw_reused": bool(config.facts_from),
        "meaning": dict(plan.meaning),
        "arms": len(plan.arms),
        "arms_by_condition": dict(Counter(arm.condition for arm in plan.arms)),
        "readers": list(plan.readers),
        "constructs": {t: trap.construct for t, trap in plan.traps.items()},
        "traps_told": {t: {**_told(trap), "candidate": standing.get(t, "")} for t, trap in plan.traps.items()},
        **family,
        "python": platform.python_version(),
        "dreambench": metadata.version("dreambench-swe"),
    }


def _told(trap: Trap) -> dict[str, Any]:
    """What a report says of a trap and slices by; no part of the plan, whose digest covers the whole trap."""
    return {
        "construct": trap.construct,
        "family": trap.spec.family,
        "fixture": trap.spec.fixture,
        "evidence": trap.spec.evidence,
        "clean_start": trap.spec.clean_start,
        "poisoned": trap.has_poison(),
    }


def _take_up(config: RunConfig, folder: RunDir, plan: Plan) -> Prepared:
    stored = folder.description()
    if keys := changed_keys(stored, config, plan):
        frozen = ", and its plan is frozen (remedy: undo the difference, or --amend REASON)" if stored.follows else ""
        raise UsageFault(
            f"{folder.path}: this run was begun with another configuration{frozen}; nothing was changed. "
            "Differing keys:\n  " + "\n  ".join(keys)
        )
    draws = drawing.load(folder.facts)
    past = load(folder.background) if config.haystack else {}
    if drawing.draw_digest(draws, commitments(past).values()) != stored.draw_digest:
        what = f"{folder.facts}: the facts" + (f" or {folder.background}: the background" if past else "")
        raise UsageFault(f"{what} do not match the draw digest in run.json")
    if folder.read_json("commitments.json").get("root") != stored.draw_digest:
        raise UsageFault(f"{folder.path / 'commitments.json'}: the root does not match the draw digest in run.json")
    with Ledger(folder.ledger) as ledger:
        settled = ledger.settled()
    folder.sweep()
    owed = [arm for arm in plan.arms if arm.id not in settled]
    return Prepared(config, folder, plan, draws, stored.label, owed, past)


def changed_keys(stored: Description, config: RunConfig, plan: Plan) -> list[str]:
    """In what a configuration differs from that of a run, keys with both values."""
    old = stored.meaning | {"sandbox": stored.config.get("sandbox")}
    return list(planning.differing(old, dict(plan.meaning) | {"sandbox": config.sandbox}))


def stored_config(folder: RunDir, changes: dict[str, Any] | None = None) -> RunConfig:
    """The resolved configuration of a run, with places (jobs, folders) replaced by `changes`."""
    return validate({**folder.description().config, **(changes or {})}, str(folder.path / "run.json"))


def _note(ready: Prepared, box: Sandbox, layer: Layer | None, amend: Amend | None) -> None:
    """Keep the versions of the sandbox, once the run is as in its frozen plan, if it has one.

    Raises Fault when they cannot be had or kept, UsageFault when the run is not as planned.
    """
    folder = ready.folder
    try:
        says = described(box, layer)
        if amend or planned(folder):
            stored = folder.description()
            follow(folder, body_of(ready.config, ready.plan, ready.draws, ready.past, stored, says), amend)
        folder.note_sandbox(says)
    except SandboxError as error:
        raise Fault(Boundary.SANDBOX, f"{error}; nothing was run") from error
    except OSError as error:
        raise _not_kept(folder, error) from error


def _unavailable(ready: Prepared, judge: Judge) -> dict[str, str]:
    """Condition -> why it may not be scored. Raises Fault when what was found cannot be kept, or the model is down."""
    try:
        return refused(cleared(ready.folder, ready.plan.conditions, ready.config.workers, judge))
    except ModelFault as error:
        raise Fault(Boundary.MODEL, f"conformance: {error}; nothing was run") from error
    except OSError as error:
        raise _not_kept(ready.folder, error) from error


def _not_kept(folder: RunDir, error: OSError) -> Fault:
    why = error.strerror or error
    remedy = f"remedy: make room, then dreambench resume {folder.path}"
    return Fault(Boundary.LEDGER, f"{folder.path}: {why}; nothing was run ({remedy})")


def execute(
    ready: Prepared,
    tell: Tell,
    reach: Callable[[str], None] = nowhere,
    sandbox: Sandbox | None = None,
    unavailable: Mapping[str, str] | None = None,
    checked: Collection[int] = (1, 2, 3),
    scorer: Scorer | None = None,
    amend: Amend | None = None,
    max_cost: Decimal | None = None,
) -> None:
    """Run every owed arm. The sandbox is opened here unless one is given (which stays open).

    `unavailable` are conditions that may not be scored, with the reason; None asks the conformance suite. `checked` are
    the sessions whose public check, which decides nothing, is run. A given `scorer` knows what it judged before.
    `amend` is leave to differ from the frozen plan, if there is one. `max_cost` is what all sessions of the run may
    cost together, USD. Raises UsageFault for a difference from the plan without leave, Halt when the money is spent.
    """
    folder, config = ready.folder, ready.config
    box = sandbox or open_sandbox(config, ready.label)
    haystack = Haystack(folder.path, ready.plan.backgrounds, ready.past)
    agent = make_agent(config)
    try:
        layer = layer_of(config, agent, box)
        _note(ready, box, layer, amend)
        owed, asked = [arm.id for arm in ready.owed], ready.plan.conditions.values()
        with (
            Ledger(folder.ledger) as ledger,
            means(config, asked, agent, folder, layer, ledger, owed, max_cost) as got,
        ):
            if unavailable is None:
                unavailable = _unavailable(ready, got.judge)
            reach("run:start")
            store = ObjectStore(folder.objects)
            executor = Executor(ledger, config.workers, reach)
            context = Context(
                config=config,
                plan=ready.plan,
                draws=ready.draws,
                folder=folder,
                store=store,
                sandbox=box,
                agent=agent,
                scorer=scorer or Scorer(box, ready.plan, config),
                emit=executor.emit,
                reach=reach,
                haystack=haystack,
                unavailable=unavailable,
                checked=checked,
                door=got.door,
                judge=got.judge,
                paid=got.paid,
            )
            executor.run(ready.owed, lambda arm, attempt: run_arm(context, arm, attempt), tell)
        reach("run:end")
    finally:
        haystack.close()
        if sandbox is None:
            box.close()
        folder.unlock()
