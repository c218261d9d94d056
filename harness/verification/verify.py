"""Verify a bundle: who signed it, whether it is what it says, whether its numbers follow from its records.

Checks go from the file to its meaning; one that cannot be made is told with its reason, and what a check says is one
sentence a problem. Invariant: nothing of a bundle is executed, rendered or fetched; a bundle is verified only if every
check that could be made holds and its signer is one that is trusted, or any is accepted by name.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from analysis.export import differing
from analysis.report.layout import clean
from harness.bundle import layout
from harness.bundle.container import BundleError
from harness.bundle.derived import page
from harness.bundle.reader import Bundle
from harness.bundle.seal import Seal
from harness.bundle.signing import PublicKey
from harness.codebase import code_digest
from harness.verification.case import Case, read_case
from harness.verification.check_accounting import attempt_problems, cell_problems, plan_problems, record_problems
from harness.verification.check_channel import channel_problems, shared_problems
from harness.verification.check_exchange import exchange_problems
from harness.verification.check_models import priced, use_problems
from harness.verification.check_notes import notes_problems
from harness.verification.check_plan import follow_problems, followed, unplanned
from harness.verification.check_secrets import commitment_problems, object_problems, projection_problems, view_problems

State = Literal["ok", "broken", "not checked"]
LISTED = 20  # problems of one check that are shown
NO_KEY = "the bundle is sealed and its key is not here"
LUCK = (
    "No bundle can show that a run was not repeated until it came out well. Only a plan that was published before its "
    "first session excludes that."
)


@dataclass(frozen=True)
class Check:
    """One check: `says` has what holds, why it was not made, or one sentence a problem."""

    name: str
    state: State
    says: tuple[str, ...]


@dataclass(frozen=True)
class Verified:
    """`trusted`: whether the signer is one whom the caller trusts; None when no key was given to compare with."""

    checks: tuple[Check, ...]
    signer: PublicKey | None
    trusted: bool | None
    root: str = ""

    @property
    def broken(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.state == "broken")

    def holds(self, any_signer: bool) -> bool:
        """Whether every check that could be made holds, and the signer is trusted or any one is accepted."""
        return not self.broken and (self.trusted is True or (any_signer and self.trusted is None))


def verify(path: Path, trusted: PublicKey | None = None, seal: Seal | None = None) -> Verified:
    """Every check of a bundle. Raises UsageFault only for a file or key that cannot be used at all."""
    try:
        bundle = Bundle.open(path, seal)
    except BundleError as error:
        return Verified((_broken("container", str(error)),), None, None)
    with bundle:
        known = None if trusted is None else trusted == bundle.signer
        checks = [*_head(bundle, known), _digests(bundle)]
        if not any(check.state == "broken" for check in checks[1:]):
            with tempfile.TemporaryDirectory() as scratch:
                checks += _meaning(bundle, Path(scratch))
        else:
            checks.append(Check("the rest", "not checked", ("the file is not what its manifest says",)))
        return Verified(tuple(checks), bundle.signer, known, bundle.manifest.root)


def _head(bundle: Bundle, known: bool | None) -> Iterator[Check]:
    yield Check("container", "ok", (f"{len(bundle.names)} members in canonical form, all named by the manifest",))
    if not bundle.signed:
        yield _broken("signature", "the signature is not one over this manifest")
        return
    who = f"fingerprint {bundle.signer.fingerprint}"
    if known is None:
        yield Check("signature", "ok", (f"holds, of an unknown signer ({who}): integrity only",))
    elif known:
        yield Check("signature", "ok", (f"holds, of the trusted signer ({who})",))
    else:
        yield _broken("signature", f"is of another signer than the trusted one ({who})")


def _digests(bundle: Bundle) -> Check:
    bad = [f"{told.name}: its digest differs from the manifest's" for told in bundle.manifest.members
           if not bundle.unchanged(told)]  # fmt: skip
    if bad:
        return Check("digests", "broken", tuple(bad[:LISTED]))
    return Check("digests", "ok", (f"{len(bundle.names)} members, root {bundle.manifest.root}",))


@dataclass(frozen=True)
class _Ask:
    """A check: what it is called, its problems, what it says when there are none, whether it needs the key."""

    name: str
    problems: Callable[[Case], Iterator[str]]
    holds: Callable[[Case], str]
    key: bool = False


_ASKED = (
    _Ask("plan", plan_problems, lambda c: f"digest {c.stored.plan_digest}; {len(c.traps)} traps and oracles are those that were run"),  # noqa: E501
    _Ask("cells", cell_problems, lambda c: f"{len(c.newest)} arms, each planned and with a record"),
    _Ask("attempts", attempt_problems, lambda c: f"{len(c.arms)} attempts; none after one that counted"),
    _Ask("records", record_problems, lambda c: "every outcome follows from its checks, every record fits its trap"),
    _Ask("preregistration", follow_problems, followed),
    _Ask("commitments", commitment_problems, lambda c: _committed(c)),
    _Ask("channel", channel_problems, lambda c: f"{sum(map(len, c.sessions.values()))} carry manifests: the declared rows and no other; nothing in B0"),  # noqa: E501
    _Ask("equal starts", shared_problems, lambda c: "conditions of a trap start from the same tree, agent and command"),
    _Ask("model use", use_problems, lambda c: _used(c)),
    _Ask("public part", projection_problems, lambda c: "is the sealed part, changed only by what is left out", True),
    _Ask("objects", object_problems, lambda c: "every tree, text and store is there, and no other", True),
    _Ask("views", view_problems, lambda c: "every prompt is the trap's text and the rendered view", True),
    _Ask("notes", notes_problems, lambda c: "an agent that keeps notes found those that its session before left", True),
    _Ask("exchanges", exchange_problems, lambda c: "calls and tokens are those of the exchanges with a model", True),
)  # fmt: skip


def _committed(case: Case) -> str:
    return "every fact opens its commitment" if case.whole else "the commitments make up the draw digest (facts sealed)"


def _used(case: Case) -> str:
    used = sum(s.record.model is not None for told in case.sessions.values() for s in told)
    asked = sum(told.record.asked is not None for told in case.arms)
    return f"{used} sessions and {asked} memories asked a model, each where the plan has one"


def _meaning(bundle: Bundle, scratch: Path) -> Iterator[Check]:
    try:
        case = read_case(bundle, scratch)
    except BundleError as error:
        yield _broken("contents", str(error))
        return
    yield Check("contents", "ok", ("every format has a version that is known here",))
    for ask in _ASKED:
        yield _guarded(ask.name, partial(_asked, ask, case))
    yield _guarded("prices", lambda: _prices(case))
    yield _guarded("statistics", lambda: _numbers(case))
    yield _guarded("report", lambda: _report(case))
    yield _guarded("page", lambda: _page(case))


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    """The check; whatever a stranger's nonsense raises in it is a reason to refuse, and never one to stop or pass."""
    try:
        return check()
    except Exception as error:
        return _broken(name, f"cannot be checked: {type(error).__name__}: {str(error)[:200]}")


def _asked(ask: _Ask, case: Case) -> Check:
    if ask.key and case.whole is None:
        return Check(ask.name, "not checked", (NO_KEY,))
    if ask.problems is follow_problems and unplanned(case):
        return Check(ask.name, "not checked", ("no plan was frozen before this run",))
    problems = list(ask.problems(case))
    if not problems:
        return Check(ask.name, "ok", (ask.holds(case),))
    more = [f"and {len(problems) - LISTED} more"] if len(problems) > LISTED else []
    return Check(ask.name, "broken", tuple(clean(p) for p in problems[:LISTED] + more))


def _prices(case: Case) -> Check:
    problems, done, left = priced(case)
    if problems:
        more = [f"and {len(problems) - LISTED} more"] if len(problems) > LISTED else []
        return Check("prices", "broken", tuple(clean(p) for p in problems[:LISTED] + more))
    if left:
        why = f"{left} of {done + left} amounts are by another price table than the one that is here"
        return Check("prices", "not checked", (why,))
    return Check("prices", "ok", (f"{done} amounts computed again from tokens and the shipped price table",))


def _numbers(case: Case) -> Check:
    recorded = json.loads(case.bundle.get(layout.ANALYSIS))
    again = json.loads(case.again[0])
    found = [clean(line) for line in differing(recorded, again)]
    if found:
        more = [f"and {len(found) - LISTED} more"] if len(found) > LISTED else []
        return Check("statistics", "broken", (*found[:LISTED], *more))
    return Check(
        "statistics", "ok", ("computed again from the records: integers and exact p equal, the rest to 12 digits",)
    )


def _report(case: Case) -> Check:
    if case.again[1] != case.bundle.get(layout.REPORT):
        return _other(case, "report", "report.md is not the report on these records")
    return Check("report", "ok", ("report.md is the report on these records, to the byte",))


def _page(case: Case) -> Check:
    if case.whole is None:
        return Check("page", "not checked", (NO_KEY,))
    if page(case.whole) != case.bundle.get(layout.PAGE):
        return _other(case, "page", "report.html is not the page on these records")
    return Check("page", "ok", ("report.html is the page on these records, to the byte",))


def _other(case: Case, name: str, says: str) -> Check:
    """A text that differs. Another version of the program may word it otherwise; then it counts for nothing."""
    if case.bundle.manifest.code == code_digest():
        return _broken(name, says)
    why = "the bundle says that another version of the program made it, which may word it otherwise: do not rely on it"
    return Check(name, "not checked", (f"{says}; {why}",))


def _broken(name: str, says: str) -> Check:
    return Check(name, "broken", (clean(says),))


#: What no verification does, said every time.
NEVER = (
    ("verdicts", "are not scored again here (dreambench replay does that)"),
    ("luck", LUCK),
)
