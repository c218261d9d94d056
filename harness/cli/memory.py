"""`memory inspect` and `memory verify`: the frozen store of an arm, looked at as its files.

Invariant: a store is restored into a folder of its own that is removed again; the run directory is only read.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from harness.bank import ask
from harness.cli.output import committed
from harness.ledger import Ledger
from harness.outcome import COMPLETE, REJECTED, Fault, UsageFault
from harness.plan import Arm
from harness.records import ArmRecord
from harness.rundir import RunDir
from harness.stores import restore_store, write_files
from memory_probe.inspect import inspect as inspect_file
from memory_probe.ladder import Condition, conditions
from memory_probe.model import Unasked
from memory_probe.opening import Opening
from memory_probe.protocol import MemoryFault, Unlisted
from memory_probe.store.schema import FILE
from memory_probe.store.verify import verify as verify_file

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def memory() -> None:
    """Look into the stores that memories left behind."""


@memory.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="RUN")
@click.argument("arm", metavar="ARM")
@_json
def inspect(folder: Path, arm: str, as_json: bool) -> int:
    """What an arm's store held after S2, and what was left out of the S3 view, with the reasons."""
    home = RunDir.open(folder)
    home.description().require_own(str(folder))
    record = _record(home, Arm.parse(arm))
    view = _last_view(home, record)
    with _restored(home, record) as space:
        data = {"arm": record.arm, "condition": record.condition, **_listing(home, record, space), "view": view}
        told = inspect_file(space / FILE) if (space / FILE).is_file() else ""
    click.echo(
        json.dumps({**data, "told": told}, indent=1, ensure_ascii=False) if as_json else _visible(_text(data, told))
    )
    return COMPLETE


@memory.command()
@click.argument("place", type=click.Path(path_type=Path), metavar="RUN|STORE")
@click.argument("arm", metavar="[ARM]", default="")
@_json
def verify(place: Path, arm: str, as_json: bool) -> int:
    """Check the frozen stores of a run, of one arm, or a store file of the probe. Exit 3 on any problem.

    Every store must be whole and open and list as its condition; a store of the probe is audited row by row.
    """
    if (place / "run.json").is_file():
        home = RunDir.open(place)
        home.description().require_own(str(place))
        records = [_record(home, Arm.parse(arm))] if arm else [r for r in committed(home) if r.store]
        problems = {r.arm: _problems(home, r) for r in records}
    elif arm:
        raise UsageFault(f"{place}: no run here (run.json is missing)")
    else:
        file = place / FILE if place.is_dir() else place
        problems = {str(place): [asdict(problem) for problem in verify_file(file)]}
    bad = sum(len(found) for found in problems.values())
    if as_json:
        click.echo(json.dumps({"stores": len(problems), "problems": bad, "found": problems}, indent=1))
    else:
        for name, found in problems.items():
            for problem in found:
                click.echo(f"{name}: {problem['where']}: {problem['message']}")
        click.echo(f"{len(problems)} stores, {bad} problems")
    return REJECTED if bad else COMPLETE


def _record(home: RunDir, arm: Arm) -> ArmRecord:
    record = next((r for r in committed(home) if r.arm == arm.id), None)
    if record is None:
        raise UsageFault(f"{arm.id}: not in the ledger (dreambench show {home.path} lists what is)")
    if not record.store:
        raise UsageFault(f"{arm.id}: it ended before its store was frozen")
    return record


@contextmanager
def _restored(home: RunDir, record: ArmRecord) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="store-") as name:
        write_files(Path(name), restore_store(home, record.store))
        yield Path(name)


def _condition(home: RunDir, record: ArmRecord) -> Condition:
    """The condition as it was in the run: a store of another version is not opened."""
    known = conditions().get(record.condition)
    stored = home.description().meaning.get("conditions", {}).get(record.condition, {})
    if known is None:
        raise MemoryFault(f"condition {record.condition} is not installed here")
    if known.card.version != stored.get("version"):
        raise MemoryFault(f"{record.condition} is {known.card.version} here, {stored.get('version')} in the run")
    return known


def _listing(home: RunDir, record: ArmRecord, space: Path) -> dict[str, Any]:
    """The records as the protocol lists them."""
    condition = _condition(home, record)
    opened = ask(lambda: condition.open(Opening(space, model=Unasked())))
    try:
        listed = ask(lambda: opened.records(include_inactive=True))
        if isinstance(listed, Unlisted):
            return {"records": None, "unlisted": listed.why}
        return {"records": ask(lambda: [asdict(item) for item in listed])}
    finally:
        ask(opened.close)


def _last_view(home: RunDir, record: ArmRecord) -> dict[str, Any]:
    with Ledger(home.ledger, read_only=True) as ledger:
        sessions = [s for s in ledger.sessions(record.arm, record.attempt) if s.number == 3]
    if not sessions:
        return {"items": [], "rejected": [], "considered": 0}
    found: dict[str, Any] = json.loads(home.get_blob(sessions[0].view))
    return found


def _problems(home: RunDir, record: ArmRecord) -> list[dict[str, str]]:
    try:
        with _restored(home, record) as space:
            if (space / FILE).is_file() and (found := verify_file(space / FILE)):
                return [asdict(problem) for problem in found]
            _listing(home, record, space)
    except (MemoryFault, UsageFault, Fault) as error:
        return [{"where": "store", "message": str(error)}]
    return []


def _text(data: dict[str, Any], told: str) -> str:
    view = data["view"]
    out = [f"# {data['arm']}", ""]
    if told:
        out += [told.rstrip()]
    elif data["records"] is None:
        out += [f"the store cannot be listed: {data['unlisted']}"]
    else:
        out += [f"{len(data['records'])} records"]
        for item in data["records"]:
            out += ["", item["state"], *(f"    | {line}" for line in item["text"].splitlines())]
    out += ["", f"## S3 was shown {len(view['items'])} of {view['considered']} considered"]
    for rank, item in enumerate(view["items"], 1):
        out += [f"[{rank}] {item['type'] or 'no type'}, {item['state'] or 'no state'}: {_short(item['text'])}"]
    out += [f"left out ({item['why']}): {_short(item['text'])}" for item in view["rejected"]]
    return "\n".join(out)


def _short(text: str) -> str:
    return " ".join(text.split())[:200]


def _visible(text: str) -> str:
    """What a store holds may come from an agent: nothing of it may steer a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)
