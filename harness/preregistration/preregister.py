"""Preregistration: whether a run is the one that was frozen before its first session, amendments and all.

Works on what was read from files (`plan_file`) and never writes. Invariant: a run follows its plan when everything that
the plan tells is so in the run, or was amended in an unbroken chain by the key that signed the plan; what is measured
does not change once a session is committed. That the dates are true is the signer's word.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.bundle.manifest import canonical
from harness.codebase import code_digest
from harness.config import RunConfig
from harness.description import Description
from harness.draw import Draws
from harness.haystack import Past
from harness.haystack import commitments as past_commitments
from harness.outcome import UsageFault
from harness.plan import Plan, differing
from harness.preregistration.plan_file import (
    Amendment,
    Frozen,
    PlanBody,
    load_amendments,
    load_frozen,
)
from memory_probe.render import HEADING, INSTRUCTION
from traps.schema import explain

__all__ = [
    "CIRCUMSTANCES",
    "Amendment",
    "Follows",
    "Frozen",
    "body_of",
    "check_chain",
    "check_follows",
    "circumstances",
    "follows",
    "load_amendments",
    "load_frozen",
    "named_in",
    "states",
]

#: What may change once sessions are committed: what a run is done with, and nothing of what is measured.
CIRCUMSTANCES = frozenset({"code", "dreambench", "python", "sandbox"})


class Follows(BaseModel):
    """`follows` of run.json: sha256 of plan.json, its date, who signed it, and the end of its amendments.

    last     sha256 of the last amendment; "" without one
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    plan: str
    frozen: str
    signer: str
    amendments: int
    last: str


# -- what a plan says ----------------------------------------------------------------------------------------------


def body_of(
    config: RunConfig, plan: Plan, draws: Draws, past: Past, stored: Description, says: Mapping[str, str]
) -> dict[str, Any]:
    """What `PlanBody` holds of a prepared run, as JSON has it, without the date. `says` is what its sandbox told."""
    body = {
        "plan_digest": plan.digest,
        "meaning": dict(plan.meaning),
        "family": plan.family.as_data() if plan.family else None,
        "prompts": _prompts(plan),
        "models": {},
        "prices": None,
        "sandbox": {"kind": config.sandbox, "says": dict(says)},
        **circumstances(),
        "draw": {"digest": stored.draw_digest, "reused": bool(stored.draw_reused)},
        "commitments": {f"{trap}/{seed}": draw.commitments() for (trap, seed), draw in draws.items()},
        "background": past_commitments(past),
        "arms": {"number": len(plan.arms), "sha256": _sha256("".join(sorted(f"{arm.id}\n" for arm in plan.arms)))},
    }
    found: dict[str, Any] = json.loads(canonical(body))
    return found


def circumstances() -> dict[str, str]:
    """The code and the versions that are here."""
    version = metadata.version("dreambench-swe")
    return {"code": code_digest(), "dreambench": version, "python": platform.python_version()}


def _prompts(plan: Plan) -> dict[str, Any]:
    sessions = {
        trap.id: {str(n): _sha256(trap.texts[session.prompt]) for n, session in enumerate(trap.spec.session, 1)}
        for trap in plan.traps.values()
    }
    return {"sessions": sessions, "memory_instruction": _sha256(f"{HEADING}\n{INSTRUCTION}")}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# -- the chain -----------------------------------------------------------------------------------------------------


def states(frozen: Frozen, amendments: Iterable[Amendment]) -> list[dict[str, Any]]:
    """The plan as it was frozen, and as each amendment left it; the last one is what holds."""
    found = [dict(frozen.body)]
    for amendment in amendments:
        found.append({**found[-1], **amendment.body.changed})
    return found


def check_chain(frozen: Frozen, amendments: Sequence[Amendment]) -> list[str]:
    """What is wrong with the amendments, one sentence each; none when the chain holds."""
    found: list[str] = []
    previous, date, reached = frozen.sha256, frozen.plan.frozen, states(frozen, amendments)
    for number, amendment in enumerate(amendments, 1):
        wrong = [*_unlinked(amendment, number, previous, date), *_unsigned(amendment, frozen)]
        wrong += _untrue(amendment, reached[number - 1], reached[number])
        found += [f"amendment {number}: {why}" for why in wrong]
        previous, date = amendment.sha256, amendment.body.date
    return found


def _unlinked(amendment: Amendment, number: int, previous: str, date: str) -> Iterator[str]:
    body = amendment.body
    if body.number != number:
        yield f"it says that it is number {body.number}: one is missing, or they were reordered"
    if body.previous != previous:
        yield "it does not follow on what stands before it: that was edited, removed or put in"
    if body.date < date:
        yield f"its date {body.date} is before that of what it amends ({date})"


def _unsigned(amendment: Amendment, frozen: Frozen) -> Iterator[str]:
    if amendment.signer != frozen.signer:
        yield f"signed by {amendment.signer.fingerprint[:16]}, the plan by {frozen.signer.fingerprint[:16]}"
    if not amendment.signed:
        yield "the signature does not hold: edited after it was signed"


def _untrue(amendment: Amendment, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    body = amendment.body
    if "frozen" in body.changed:
        yield "it changes the date on which the plan was frozen"
    if body.begun and (measured := set(body.changed) - CIRCUMSTANCES):
        yield f"it changes what is measured ({', '.join(sorted(measured))}) after sessions were committed"
    if body.differing != list(differing(before, after)):
        yield "what it says of its changes is not what it changes"
    try:
        PlanBody.model_validate(after)
    except ValidationError as error:
        yield f"what it makes is no plan: {explain(error)[:400]}"


# -- is this run the planned one -----------------------------------------------------------------------------------


def check_follows(
    frozen: Frozen,
    amendments: Sequence[Amendment],
    description: Description,
    commitments: Mapping[str, Any],
    first_session: str = "",
    sandboxes: Sequence[Mapping[str, str]] = (),
) -> list[str]:
    """Why a run is not the frozen one, one sentence each; none when it is.

    `commitments` is commitments.json as a table, `first_session` when the first session was committed (ISO 8601),
    `sandboxes` what each sandbox that was used said of itself. The last two are compared when they are given.
    """
    if found := check_chain(frozen, amendments):
        return found  # nobody can say what the plan has become
    reached = states(frozen, amendments)
    plan = reached[-1]
    same = {
        "the plan digest": (description.plan_digest, plan["plan_digest"]),
        "the meaning": (description.meaning, plan["meaning"]),
        "the family": (description.family, plan["family"]),
        "the kind of sandbox": (description.config.get("sandbox"), plan["sandbox"]["kind"]),
        "the draw digest": (description.draw_digest, plan["draw"]["digest"]),
        "the number of arms": (description.arms, plan["arms"]["number"]),
        "the root of commitments.json": (commitments.get("root"), plan["draw"]["digest"]),
        "commitments.json": (commitments.get("commitments"), plan["commitments"]),
        "the background in commitments.json": (commitments.get("background", {}), plan["background"]),
    }
    found += [f"{what} is not that of the plan" for what, (run, planned) in same.items() if run != planned]
    found += _unnamed(frozen, amendments, description)
    if first_session:
        found += _dated_after(first_session, frozen, amendments)
    known = [state["sandbox"]["says"] for state in reached]
    if any(dict(used) not in known for used in sandboxes):
        found.append("a sandbox was used that neither the plan nor an amendment tells of")
    return found


def _unnamed(frozen: Frozen, amendments: Sequence[Amendment], description: Description) -> Iterator[str]:
    """run.json names the plan and the end of the chain, so that neither can be exchanged alone."""
    wanted = follows(frozen, amendments)
    try:
        named = named_in(description)
    except UsageFault as error:
        yield str(error)
        return
    if named is None:
        yield "run.json does not say that it follows a plan"
    elif named.plan != wanted.plan:
        yield f"run.json follows another plan (sha256 {named.plan[:16]}, this one has {wanted.plan[:16]})"
    elif named != wanted:
        yield f"run.json tells of {named.amendments} amendments, there are {wanted.amendments}, or another is the last"


def named_in(description: Description) -> Follows | None:
    """The plan that run.json names; None when the run follows none. Raises UsageFault naming the key."""
    if description.follows is None:
        return None
    try:
        return Follows.model_validate(description.follows)
    except ValidationError as error:
        raise UsageFault(f"run.json: follows: {explain(error)[:300]}") from error


def _dated_after(first_session: str, frozen: Frozen, amendments: Sequence[Amendment]) -> Iterator[str]:
    early = [(f"amendment {a.body.number}", a.body.date) for a in amendments if not a.body.begun]
    for what, date in [("the plan", frozen.plan.frozen), *early]:
        if _later(date, first_session):
            yield f"{what} is dated {date}, after the first session ({first_session})"


def _later(one: str, other: str) -> bool:
    """Whether one date is after another; one that is no date with an offset is never before anything."""
    try:
        return dt.datetime.fromisoformat(one) > dt.datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return True


def follows(frozen: Frozen, amendments: Sequence[Amendment]) -> Follows:
    """What run.json says of the plan."""
    return Follows(
        plan=frozen.sha256,
        frozen=frozen.plan.frozen,
        signer=frozen.signer.fingerprint,
        amendments=len(amendments),
        last=amendments[-1].sha256 if amendments else "",
    )
