"""Is every cell of the plan accounted for, once, by a record that agrees with itself?

Each check yields problems in words; none when it holds. Invariant: what is compared with the plan is recomputed from
the plan's meaning and from the traps in the bundle, never taken from a number that stands beside it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator

from harness import kept
from harness.bundle import layout
from harness.bundle.rows import Told
from harness.config import PLACES, flatten, validate
from harness.items import carried_facts
from harness.outcome import BOUNDARIES, CAPTURE_LIMIT, FORBIDDEN_PATH, NO_EDIT, STOPPED, Outcome
from harness.plan import Arm
from harness.records import ArmRecord, Ending, SessionRecord
from harness.verification.case import Case
from oracles.verdict import CheckResult, Verdict
from traps.folds import member_digest


def plan_problems(case: Case) -> Iterator[str]:
    """The meaning of the plan against its digest and against the traps, oracles, fold and family in the bundle."""
    stored, meaning = case.stored, case.stored.meaning
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != stored.plan_digest:
        yield "the plan digest is not that of the plan's meaning"
    for kind, found in (("trap", case.traps), ("oracle", case.oracles)):
        told = meaning.get(f"{kind}s", {})
        for name in sorted({*told, *found}):
            if name not in found or told.get(name) != found[name].digest:
                yield f"{kind} {name} is not the one that was run (its digest is not that of the plan)"
    if fold := meaning.get("fold"):
        members = {t: member_digest(case.traps[t].digest, case.oracles[t].digest) for t in case.traps}
        lines = "".join(f"{t} {d}\n" for t, d in sorted(members.items()))
        if hashlib.sha256(lines.encode()).hexdigest() != fold.get("digest"):
            yield f"the traps and oracles are not those of the fold {str(fold.get('name'))[:40]!r}"
    own = validate(case.stored.config, "run.json: config").semantic()
    told, planned = {k: v for k, v in flatten(case.stored.config).items() if k in own}, meaning.get("config", {})
    for key in sorted({*told, *planned} - PLACES - {"sandbox"}):
        if told.get(key) != planned.get(key):
            yield f"run.json: config.{key} is not the one of the plan"
    yield from _told_problems(case)


def _told_problems(case: Case) -> Iterator[str]:
    """What stands in run.json beside the plan and can be computed from it."""
    stored = case.stored
    config = stored.meaning.get("config", {})
    readers = tuple(config.get("readers", ())) if config.get("agent.name") == "reference" else ("-",)
    if stored.readers != readers:
        yield "run.json: the reader levels are not those of the plan"
    if stored.follows is not None and not case.bundle.has(layout.PLAN):
        yield "run.json says that the run follows a frozen plan, and none is here"
    for name, trap in case.traps.items():
        told = stored.traps_told.get(name)
        spec = trap.spec
        wanted = (spec.construct_, spec.family, spec.fixture, spec.evidence, spec.clean_start, trap.has_poison())
        if stored.constructs.get(name, spec.construct_) != spec.construct_ or (
            told is not None
            and (told.construct_, told.family, told.fixture, told.evidence, told.clean_start, told.poisoned) != wanted
        ):
            yield f"run.json: what it tells of the trap {name} is not so"
    if strange := sorted({*stored.traps_told, *stored.constructs} - set(case.traps)):
        yield f"run.json: tells of a trap {strange[0][:60]!r} that was not run"


def planned_arms(case: Case) -> list[str]:
    """Every arm of the plan, from its meaning and the histories of the traps."""
    config = case.stored.meaning.get("config", {})
    first, number = int(config.get("first_seed", 1)), int(config.get("seeds", 0))
    return [
        Arm(trap.id, code, seed, history.name).id
        for trap in case.traps.values()
        for seed in range(first, first + min(number, 10_000))
        for history in trap.spec.history
        for code in case.stored.meaning.get("conditions", {})
    ]


def cell_problems(case: Case) -> Iterator[str]:
    """Arms without a record, arms that nobody planned, and counts that stand beside the plan."""
    planned, found = planned_arms(case), case.newest
    for arm in sorted(set(planned) - set(found)):
        yield f"{arm} was planned and has no record"
    for arm in sorted(set(found) - set(planned)):
        yield f"{arm} has a record and was not planned"
    if case.stored.arms != len(planned):
        yield f"run.json tells of {case.stored.arms} arms, the plan has {len(planned)}"
    by = Counter(Arm.parse(arm).condition for arm in planned)
    if dict(by) != case.stored.arms_by_condition:
        yield "run.json tells of other numbers of arms by condition than the plan has"
    if keys := sorted(key for key in case.sessions if key[0] not in set(planned)):
        yield f"{keys[0][0]} has a session and was not planned"


def attempt_problems(case: Case) -> Iterator[str]:
    """An arm is run again only when an attempt was cut off or ended invalid: no outcome can be thrown for twice."""
    by: dict[str, dict[int, Told[ArmRecord]]] = {}
    for told in case.arms:
        by.setdefault(told.arm, {})[told.attempt] = told
    for arm, attempts in by.items():
        begun = {number for name, number in case.sessions if name == arm}
        for number in range(1, max({*attempts, *begun})):
            ended = attempts.get(number)
            if ended and all(e.outcome != Outcome.INVALID for e in ended.record.endings):
                yield f"{arm} was run again although attempt {number} counted"
            if not ended and number not in begun:
                yield f"{arm} has later attempts and no trace of attempt {number}"
                break  # one sentence an arm, however high the number that it claims


def record_problems(case: Case) -> Iterator[str]:
    """Each record against its trap, its sessions and itself."""
    for told in case.newest.values():
        yield from _against_trap(case, told.record)
        yield from _against_sessions(case, told)
        for ending in told.record.endings:
            if why := _inconsistent(ending):
                yield f"{told.arm} [{ending.reader}]: {why}"


def _against_trap(case: Case, record: ArmRecord) -> Iterator[str]:
    trap = case.traps.get(record.trap)
    if trap is None or record.history not in {h.name for h in trap.spec.history}:
        return  # told by `cell_problems`
    named = Arm(record.trap, record.condition, record.seed, record.history).id
    wanted = (named, trap.construct, trap.history(record.history).expect, record.history == trap.spec.main_history)
    if (record.arm, record.construct_, record.expect, record.main) != wanted:
        yield f"{record.arm}: construct, expectation, history or name are not those of the trap"
    if record.injected != carried_facts(trap, record.history):
        yield f"{record.arm}: the facts that its events carried are not those of the trap"
    if [ending.reader for ending in record.endings] != list(case.stored.readers):
        yield f"{record.arm}: the endings are not one for each reader level"


def _against_sessions(case: Case, told: Told[ArmRecord]) -> Iterator[str]:
    sessions = case.sessions.get((told.arm, told.attempt), ())
    numbers = [s.record.number for s in sessions if not kept.is_debrief(s.record)]
    scored = [ending.reader for ending in told.record.endings if ending.checks or ending.cause.endswith(NO_EDIT)]
    if numbers != sorted(numbers) or numbers.count(1) > 1 or numbers.count(2) > 1 or {*numbers} - {1, 2, 3}:
        yield f"{told.arm}: its sessions are not 1, 2, 3 in order"
    last = [s.record.reader for s in sessions if s.record.number == 3]
    if missing := [reader for reader in scored if reader not in last]:
        yield f"{told.arm} [{missing[0]}]: has a verdict and no third session"
    if sessions and any(ending.outcome == Outcome.UNAVAILABLE for ending in told.record.endings):
        yield f"{told.arm}: is unavailable, and sessions of it were run"
    yield from _against_turns(case, told, [s.record for s in sessions])
    yield from _against_checks(told, kept.work(s.record for s in sessions))
    if len(set(last)) != len(last):
        yield f"{told.arm}: a third session is there twice"
    times = [s.at for s in sessions] + [told.at]
    if times != sorted(times):
        yield f"{told.arm}: was committed before a session of its own"
    if sessions and case.stored.begun and sessions[0].at[:19] < case.stored.begun[:19]:
        yield f"{told.arm}: its first session was committed before the run was begun ({case.stored.begun[:40]})"


def _against_turns(case: Case, told: Told[ArmRecord], sessions: list[SessionRecord]) -> Iterator[str]:
    """The further turns of an agent that keeps notes: one right after S1 and S2, where there was something to tell.

    An arm that ended `invalid` may have been cut off before one.
    """
    trap, record = case.traps.get(told.record.trap), told.record
    if trap is None or record.history not in {h.name for h in trap.spec.history}:
        return
    keeps = kept.keeps(record.condition)
    invalid = any(ending.outcome == Outcome.INVALID for ending in record.endings)
    for at, session in enumerate(sessions):
        before = sessions[at - 1] if at else None
        if kept.is_debrief(session):
            number = session.number
            if not keeps or not kept.due(trap, record.history, number):
                yield f"{told.arm}: a further turn after S{number}, where nothing was to be told"
            elif before is None or (before.number, kept.is_debrief(before)) != (number, False) or not before.tree_out:
                yield f"{told.arm}: the further turn after S{number} does not follow it"
        elif keeps and session.tree_out and kept.due(trap, record.history, session.number) and not invalid:
            after = sessions[at + 1] if at + 1 < len(sessions) else None
            if after is None or not kept.is_debrief(after):
                yield f"{told.arm}: what was said after S{session.number} was never told (its further turn is missing)"


def _against_checks(told: Told[ArmRecord], sessions: list[SessionRecord]) -> Iterator[str]:
    """What the record says of public checks, against the sessions that they were made in."""
    passed = {(s.number, s.reader): s.check.passed if s.check else None for s in sessions}
    invalid = any(ending.outcome == Outcome.INVALID for ending in told.record.endings)
    warm_up = tuple(found for (number, _), found in passed.items() if number < 3)
    if told.record.warm_up != warm_up and not invalid:
        yield f"{told.arm}: the public checks of S1 and S2 are not those of its sessions"
    for ending in told.record.endings:
        if ending.outcome != Outcome.INVALID and ending.check != passed.get((3, ending.reader)):
            yield f"{told.arm} [{ending.reader}]: the public check of S3 is not that of its session"


def _inconsistent(ending: Ending) -> str:
    """Why an ending cannot be what it says; "" when it can."""
    if ending.outcome in (Outcome.INVALID, Outcome.UNAVAILABLE):
        policy = BOUNDARIES[ending.boundary].outcome if ending.boundary else None
        fits = ending.outcome == Outcome.UNAVAILABLE or policy == Outcome.INVALID
        return "" if fits and not ending.checks else f"cannot be {ending.outcome.value} with what it tells"
    if ending.checks:
        checks = tuple(CheckResult(c.name, c.text, c.kind, c.held, c.choked) for c in ending.checks)
        follows = Verdict(checks).outcome
        return (
            ""
            if follows == ending.outcome.value
            else f"{ending.outcome.value} does not follow from its checks ({follows})"
        )
    head = ending.cause
    for word in STOPPED:
        head = head.removeprefix(f"{word}: ")
    head = head.partition(":")[0]
    known = {NO_EDIT: Outcome.FAILED, CAPTURE_LIMIT: Outcome.FAILED, FORBIDDEN_PATH: Outcome.TRAPPED}
    return "" if known.get(head) == ending.outcome else f"{ending.outcome.value} without any check"
