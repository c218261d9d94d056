"""Does the run follow the plan that was frozen before it? Asked of the plan and the amendments in the bundle.

Invariant: a plan that is not in the bundle is told as such by the caller and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.bundle import layout
from harness.bundle.case import Case
from harness.bundle.preregister import check_follows, load_amendments, load_frozen
from harness.bundle.thaw import table
from harness.outcome import UsageFault


def follow_problems(case: Case) -> Iterator[str]:
    """Why the run is not the frozen one, one sentence each."""
    folder = case.folder.path
    try:
        frozen = load_frozen(folder / "plan.json")
        amendments = load_amendments(folder / "amendments.json")
    except UsageFault as error:
        yield str(error).replace(f"{folder}/", "")
        return
    told = table(layout.COMMITMENTS, case.bundle.get(layout.COMMITMENTS))
    first = min((s[0].at for s in case.sessions.values() if s), default="")
    yield from check_follows(frozen, amendments, case.stored, told, first, case.folder.sandboxes())
