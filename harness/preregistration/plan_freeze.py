"""Freeze the plan of a run that has not begun, and change it while it still has not.

Invariant: nothing is frozen or prepared anew once a session is committed; a draw that still fits is kept, so that an
amendment redraws no fact whose trap and seed stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from containers.sandbox import Sandbox, SandboxError
from harness import draw as drawing
from harness import haystack, run
from harness.agents import make_agent
from harness.boxes import open_sandbox
from harness.bundle import layout
from harness.bundle.signing import load_key, own_key
from harness.config import RunConfig
from harness.door import described, layer_of
from harness.haystack import Past
from harness.outcome import UsageFault
from harness.plan import Plan
from harness.preregistration.plan_start import (
    NEW_PLAN,
    Amend,
    arms_begun,
    follow,
    held,
    key_to_amend,
    name_in_run,
    planned,
    write_plan,
)
from harness.preregistration.preregister import Amendment, Frozen, body_of
from harness.run import Prepared
from harness.rundir import RunDir


def freeze(config: RunConfig, out: Path, key: Path | None = None) -> tuple[Frozen, bool]:
    """Prepare a run and freeze its plan; (plan, whether a key was made for it). Raises UsageFault.

    A directory that was prepared, and of which no session is committed, is frozen as it is.
    """
    if key is not None:
        load_key(key)  # a wrong one is told before anything is made
    if (out / layout.PLAN).exists():
        raise UsageFault(f"{out / layout.PLAN}: a plan is frozen here already (dreambench plan amend changes it)")
    ready = run.prepare(config, out)
    try:
        if begun := arms_begun(ready.folder):
            raise UsageFault(f"{out}: sessions of {begun} arms are committed; a plan is frozen before the first one")
        with open_sandbox(ready.config, ready.label) as box:
            says = describe(ready.config, box)
        body = body_of(ready.config, ready.plan, ready.draws, ready.past, ready.folder.description(), says)
        signing, made = own_key(key)
        frozen = write_plan(ready.folder, body, signing)
        name_in_run(ready.folder, frozen, ())
        return frozen, made
    finally:
        ready.folder.unlock()


def describe(config: RunConfig, box: Sandbox) -> Mapping[str, str]:
    """What a sandbox, and the programs of the agent, say of themselves. Raises UsageFault."""
    try:
        return described(box, layer_of(config, make_agent(config), box))
    except SandboxError as error:
        raise UsageFault(f"{error}; nothing was run") from error


def amend(config: RunConfig, out: Path, leave: Amend) -> Amendment:
    """Make `config` the plan, in an amendment. Raises UsageFault, also when nothing differs."""
    folder = RunDir.open(out)
    with open_sandbox(config, folder.description().label) as box:
        says = describe(config, box)
    ready = prepare_anew(config, out, leave)
    try:
        before = len(held(folder)[1])
        stored = folder.description()
        follow(folder, body_of(ready.config, ready.plan, ready.draws, ready.past, stored, says), leave)
        amendments = held(folder)[1]
    finally:
        ready.folder.unlock()
    if len(amendments) == before:
        raise UsageFault(f"{out}: nothing differs from the plan; no amendment was made")
    return amendments[-1]


def prepare_anew(config: RunConfig, out: Path, leave: Amend) -> Prepared:
    """`run.prepare` for a frozen run whose configuration may differ, as long as no session is committed.

    The caller says the difference by `follow`. Raises UsageFault, before anything is changed: sessions are committed, a
    plan that does not hold, another key than that of the plan.
    """
    folder = RunDir.open(out)
    folder.description().require_own(str(out))
    if not planned(folder):
        raise UsageFault(f"{out}: this run follows no frozen plan; there is nothing to amend")
    key_to_amend(held(folder)[0], leave)
    config = run.spelt_out(config)
    plan = run.load_plan(config)
    if not (keys := run.changed_keys(folder.description(), config, plan)) and _draws_hold(folder, config):
        return run.prepare(config, out)
    _refuse_begun(folder, keys)
    folder = RunDir.create(out)  # locked from here on
    try:
        _refuse_begun(folder, keys)
        _refuse_other_facts(folder, config)
        draws, past = run.draw(config, plan) if config.facts_from else _kept(folder, config, plan)
        return run.begin(config, folder, plan, draws, past)
    except OSError as error:
        folder.unlock()
        raise UsageFault(f"{out}: the run cannot be prepared anew: {error.strerror or error}") from error
    except BaseException:
        folder.unlock()
        raise


def _refuse_begun(folder: RunDir, keys: list[str]) -> None:
    if begun := arms_begun(folder):
        raise UsageFault(
            f"{folder.path}: sessions of {begun} arms are committed; outcomes that are known must not choose what is "
            f"measured, so its plan cannot be amended any more, and nothing was changed. {NEW_PLAN} Differing keys:\n  "
            + "\n  ".join(keys or ["the draw of the facts"])
        )


def _refuse_other_facts(folder: RunDir, config: RunConfig) -> None:
    if (old := folder.description().config.get("facts_from", "")) != config.anchored().facts_from:
        raise UsageFault(f"facts_from: {old or 'none'} when the plan was frozen; other facts are another plan")


def _draws_hold(folder: RunDir, config: RunConfig) -> bool:
    """Whether the facts are those of run.json: not so when a change of the plan was killed half-way."""
    draws = drawing.load(folder.facts)
    past = haystack.load(folder.background) if config.haystack and folder.background.exists() else {}
    root = drawing.draw_digest(draws, haystack.commitments(past).values())
    return root == folder.description().draw_digest == folder.read_json("commitments.json").get("root")


def _kept(folder: RunDir, config: RunConfig, plan: Plan) -> tuple[drawing.Draws, Past]:
    """The draws that fit, and fresh ones for what is new."""
    draws: drawing.Draws = {}
    fresh: set[int] = set()  # seeds of which a trap was drawn anew
    drawing.load(folder.facts)  # a damaged file is told, and nothing is drawn over it
    for trap in plan.traps.values():
        for seed in plan.seeds:
            try:
                draws |= drawing.reuse(folder.facts, [trap], [seed])
            except UsageFault:  # not drawn yet, or for another version of the trap
                draws |= drawing.draw_all([trap], [seed])
                fresh.add(seed)
    return draws, _kept_past(folder, config, plan, draws, fresh)


def _kept_past(folder: RunDir, config: RunConfig, plan: Plan, draws: drawing.Draws, fresh: set[int]) -> Past:
    """A background stays with its file, size and seed; it must hold no value of a trap, so a fresh draw ends it."""
    stored = haystack.load(folder.background) if folder.background.exists() else {}
    past: Past = {}
    for seed in plan.seeds:
        for name, background in plan.backgrounds.items():
            old = stored.get((name, seed))
            if old and seed not in fresh and (old.source, old.episodes) == (background.digest, config.haystack):
                past[name, seed] = old
            else:
                past |= haystack.draw_all({name: background}, config.haystack, [seed], draws)
    return past
