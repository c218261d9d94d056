"""Does the run follow the plan that was frozen before it? Asked of the plan and the amendments in the bundle.

Invariant: a plan that is not in the bundle is told as such by the caller and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.bundle import layout
from harness.bundle.thaw import table
from harness.outcome import UsageFault
from harness.preregistration.preregister import check_follows, load_amendments, load_frozen
from harness.verification.case import Case


def unplanned(case: Case) -> bool:
    """Whether nobody says that there was a plan."""
    return not case.bundle.has(layout.PLAN) and not case.bundle.has(layout.AMENDMENTS) and case.stored.follows is None


def followed(case: Case) -> str:
    """What holds when there is no problem: which plan, of whom, with how many amendments."""
    frozen = load_frozen(case.folder.path / "plan.json")
    amendments = load_amendments(case.folder.path / "amendments.json")
    who = (
        "the bundle's signer"
        if frozen.signer == case.bundle.signer
        else f"{frozen.signer.fingerprint[:16]}, another key"
    )
    changed = f"{len(amendments)} amendments" if amendments else "no amendment"
    return f"follows the plan that says it was frozen at {frozen.plan.frozen}, signed by {who}; {changed}"


def follow_problems(case: Case) -> Iterator[str]:
    """Why the run is not the frozen one, one sentence each."""
    folder = case.folder.path
    if not case.bundle.has(layout.PLAN):
        yield "plan.json is missing, and the run says that it follows a plan"
        return
    try:
        frozen = load_frozen(folder / "plan.json")
        amendments = load_amendments(folder / "amendments.json")
    except UsageFault as error:
        yield str(error).replace(f"{folder}/", "")
        return
    told = table(layout.COMMITMENTS, case.bundle.get(layout.COMMITMENTS))
    first = min((s[0].at for s in case.sessions.values() if s), default="")
    yield from check_follows(frozen, amendments, case.stored, told, first, case.folder.sandboxes())
