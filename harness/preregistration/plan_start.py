"""A start under a frozen plan: compare, amend with leave, tell.

Invariant: before the first session of every start the run is compared with its plan, whole; a difference is put into
the chain, signed, with its date and reason, or the start is refused and nothing is changed. plan.json is written once.
A run without a plan.json is none of this module's business.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.bundle import layout
from harness.bundle.manifest import canonical
from harness.bundle.signing import AMENDMENT, PLAN, SigningKey, default_key, load_key
from harness.description import Description
from harness.ledger import Ledger
from harness.outcome import REJECTED, UsageFault
from harness.plan import differing
from harness.preregistration.plan_file import SCHEMA, AmendmentBody, parse_amendments, parse_frozen
from harness.preregistration.preregister import (
    CIRCUMSTANCES,
    Amendment,
    Frozen,
    check_chain,
    check_follows,
    follows,
    load_amendments,
    load_frozen,
    named_in,
    states,
)
from harness.rundir import RunDir, replace_file
from traps.schema import explain


@dataclass(frozen=True)
class Amend:
    """Leave to differ from the plan: why, and the file of the key to sign with (None: this user's own)."""

    reason: str
    key: Path | None = None


def now() -> str:
    """This second, UTC, ISO 8601."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def planned(folder: RunDir) -> bool:
    """Whether the run has a frozen plan. Raises UsageFault when it says so and has none."""
    there = (folder.path / layout.PLAN).exists()
    if not there and folder.description().follows is not None:
        raise UsageFault(f"{folder.path / layout.PLAN}: is missing, and run.json says that the run follows it")
    return there


def arms_begun(folder: RunDir) -> int:
    """Arms of which anything is committed."""
    if not folder.ledger.exists():
        return 0
    with Ledger(folder.ledger, read_only=True) as ledger:
        return len(ledger.attempts())


def held(folder: RunDir) -> tuple[Frozen, tuple[Amendment, ...]]:
    """The plan of a run with its amendments. Raises UsageFault when either does not hold, or run.json names others."""
    frozen = load_frozen(folder.path / layout.PLAN)
    amendments = load_amendments(folder.path / layout.AMENDMENTS)
    wrong = check_chain(frozen, amendments)
    named = named_in(folder.description())
    # a start that was killed may have left run.json behind the chain, never before it
    if named is not None and named not in [follows(frozen, amendments[:n]) for n in range(len(amendments) + 1)]:
        wrong.append(f"run.json follows another plan, or {named.amendments} amendments of which one is not here")
    if wrong:
        raise UsageFault(f"{folder.path}: the frozen plan does not hold: {'; '.join(wrong)}", REJECTED)
    return frozen, amendments


def key_to_amend(frozen: Frozen, amend: Amend) -> SigningKey:
    """The key that signed the plan. Raises UsageFault when it is another one, or the reason is none."""
    if not amend.reason.strip():
        raise UsageFault("an amendment needs a reason")
    key = load_key(amend.key or default_key())
    if key.public != frozen.signer:
        raise UsageFault(
            f"the plan was signed by {frozen.signer.fingerprint[:16]}, this key is {key.public.fingerprint[:16]} "
            "(remedy: --sign with the key of the plan)"
        )
    return key


# -- compare -------------------------------------------------------------------------------------------------------


def follow(folder: RunDir, current: Mapping[str, Any], amend: Amend | None) -> None:
    """Compare a run that starts (`current`: its `body_of`) with its plan; a difference with leave becomes an amendment.

    For who holds the lock, before the first session. Raises UsageFault: a difference without leave, or in what is
    measured after sessions were committed; a plan or chain that does not hold.
    """
    frozen, amendments = held(folder)
    before = states(frozen, amendments)[-1]
    changed = {key: value for key, value in current.items() if before.get(key) != value}
    if changed:
        lines, begun = list(differing(before, {**before, **current})), arms_begun(folder)
        if begun and (measured := sorted(set(changed) - CIRCUMSTANCES)):
            raise UsageFault(_too_late(folder, begun, measured, lines))
        if amend is None:
            raise UsageFault(_differs(folder, frozen, lines))
        body = {"number": len(amendments) + 1, "date": now(), "reason": amend.reason, "begun": begun}
        amendments = _append(folder, frozen, amendments, amend, {**body, "differing": lines, "changed": changed})
    name_in_run(folder, frozen, amendments)


def _too_late(folder: RunDir, begun: int, measured: Sequence[str], lines: Sequence[str]) -> str:
    return (
        f"{folder.path}: sessions of {begun} arms are committed; what is measured ({', '.join(measured)}) can be "
        f"amended no longer, and nothing was changed. {NEW_PLAN} Differing keys:\n  " + "\n  ".join(lines)
    )


#: What to do when it is too late for an amendment.
NEW_PLAN = (
    "A change now makes another run: dreambench plan freeze CONFIG.toml facts_from=RUN --out DIR reuses its facts, "
    "says so, and is a plan of its own."
)


def _differs(folder: RunDir, frozen: Frozen, lines: Sequence[str]) -> str:
    return (
        f"{folder.path}: not as in the plan that was frozen at {frozen.plan.frozen}; nothing was run. Remedy: undo "
        'the difference, or start with --amend "REASON", which signs it and tells of it in every report. '
        "Differing keys:\n  " + "\n  ".join(lines)
    )


def _append(
    folder: RunDir, frozen: Frozen, before: tuple[Amendment, ...], amend: Amend, body: Mapping[str, Any]
) -> tuple[Amendment, ...]:
    key = key_to_amend(frozen, amend)
    signed = {**body, "previous": before[-1].sha256 if before else frozen.sha256}
    refuse_places({"reason": amend.reason, **body["changed"]}, folder)
    try:
        AmendmentBody.model_validate(signed)
    except ValidationError as error:
        raise UsageFault(
            f"amendment: {explain(error)[:400]} (a reason is one line of at most 150 characters)"
        ) from error
    entry = {
        "amendment": signed,
        "signer": key.public.raw.hex(),
        "signature": key.sign(AMENDMENT, canonical(signed)).hex(),
    }
    data = canonical({"schema": SCHEMA, "amendments": [*(a.raw for a in before), entry]})
    path = folder.path / layout.AMENDMENTS
    amendments = parse_amendments(data, str(path))
    if wrong := check_chain(frozen, amendments):  # such as a clock that went backwards
        raise UsageFault(f"{path}: this amendment would not hold: {'; '.join(wrong)}; nothing was run")
    put(path, data)
    return amendments


def name_in_run(folder: RunDir, frozen: Frozen, amendments: Sequence[Amendment]) -> None:
    """Let run.json name the plan and the end of its amendments."""
    data, named = folder.read_json("run.json"), follows(frozen, amendments).model_dump()
    if data.get("follows") != named:
        folder.write_json("run.json", {**data, "follows": named})


def write_plan(folder: RunDir, body: Mapping[str, Any], key: SigningKey) -> Frozen:
    """Sign and write plan.json. Raises UsageFault when it would name a place of this machine."""
    refuse_places(body, folder)
    plan = {**body, "frozen": now()}
    signature = key.sign(PLAN, canonical(plan)).hex()
    data = canonical({"schema": SCHEMA, "plan": plan, "signer": key.public.raw.hex(), "signature": signature})
    path = folder.path / layout.PLAN
    frozen = parse_frozen(data, str(path))  # what we could not read must not be published
    put(path, data)
    return frozen


def put(path: Path, data: bytes) -> None:
    """Put a public file in place, durably. Raises UsageFault."""
    try:
        replace_file(path, data, durable=True, mode=0o644)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}; nothing was run") from error


def refuse_places(body: Mapping[str, Any], folder: RunDir) -> None:
    """Raise UsageFault when a text that becomes public names a folder of this machine."""
    config = folder.description().config
    named = [config.get(key) for key in ("traps_dir", "oracles_dir", "cache", "facts_from", "family")]
    named += [config.get("agent", {}).get("program"), os.environ.get("HOME"), str(Path.home()), str(folder.path)]
    places = sorted({str(place).rstrip("/") for place in named if place and str(place).startswith("/")} - {""})
    found = re.compile("|".join(rf"{re.escape(place)}(?![\w.-])" for place in places))
    for key, text in _texts(body):
        if match := found.search(text):
            raise UsageFault(f"{key}: names {match[0]} of this machine, and a plan is public; nothing was run")


def _texts(data: Any, key: str = "plan") -> Iterator[tuple[str, str]]:
    if isinstance(data, str):
        yield key, data
    elif isinstance(data, Mapping):
        for name, value in data.items():
            yield key, str(name)
            yield from _texts(value, f"{key}.{name}")
    elif isinstance(data, (list, tuple)):
        for value in data:
            yield from _texts(value, key)


# -- tell ----------------------------------------------------------------------------------------------------------


def told(folder: RunDir, stored: Description) -> list[tuple[str, str]]:
    """What a report says of the plan, label and value; nothing for a run that follows none.

    A plan that does not hold, or that the run does not follow, is said and stops no report.
    """
    try:
        if not planned(folder):
            return []
        frozen = load_frozen(folder.path / layout.PLAN)
        amendments = load_amendments(folder.path / layout.AMENDMENTS)
        problems = check_run(folder, stored, frozen, amendments)
    except UsageFault as error:
        return [("preregistration", f"DOES NOT HOLD: {str(error).replace(f'{folder.path}/', '')}")]
    who = f"frozen at {frozen.plan.frozen}, signed by {frozen.signer.fingerprint[:16]}"
    rows = [("preregistration", f"{'NOT AS IN' if problems else 'follows'} the plan {who}")]
    rows += [("not as in the plan", problem) for problem in problems]
    rows += [("sha256 of the plan", frozen.sha256), ("amendments to the plan", str(len(amendments)))]
    for a in (a.body for a in amendments):
        rows.append((f"amendment {a.number}", f"{a.date}: {a.reason}"))
        rows.append((f"amendment {a.number} changes", f"{', '.join(sorted(a.changed))} ({a.begun} arms were begun)"))
    return rows


def check_run(folder: RunDir, stored: Description, frozen: Frozen, amendments: Sequence[Amendment]) -> list[str]:
    """`check_follows` with what the directory of a run holds. Raises UsageFault for a file that cannot be read."""
    commitments, first = folder.read_json("commitments.json"), ""
    if folder.ledger.exists():
        with Ledger(folder.ledger, read_only=True) as ledger:
            first = next((row.at for row in ledger.rows("session")), "")
    return check_follows(frozen, amendments, stored, commitments, first, folder.sandboxes())
