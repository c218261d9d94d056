"""`status`, `show`, `report`: everything that only reads a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from analysis.plain import plain
from harness.archive import Archive
from harness.candidates import read as read_candidates
from harness.candidates import removed
from harness.cli.output import committed
from harness.cli.pages import html_option, only_one, write_page
from harness.details import fate
from harness.draw import load as load_draws
from harness.ledger import Ledger
from harness.leftovers import lost
from harness.objects import ObjectStore
from harness.outcome import COMPLETE, INCOMPLETE, Outcome, UsageFault
from harness.plan import Arm
from harness.records import ArmRecord, Ending, SessionRecord
from harness.reporting import encoded
from harness.reporting import report as reported
from harness.rows import memory_rows, outcome_counts, rows
from harness.rundir import RunDir
from harness.used import used_rows

_folder = click.argument("folder", type=click.Path(path_type=Path), metavar="RUN")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@_folder
@_json
def status(folder: Path, as_json: bool) -> int:
    """How far a run is: outcomes that sum to the plan, and what is owed. Exit 2 while anything is."""
    home = RunDir.open(folder)
    stored = home.description()
    records = committed(home)
    counts = outcome_counts(records, stored.arms, len(stored.readers))
    complete = not counts["owed"] and not counts[Outcome.INVALID.value]
    if as_json:
        click.echo(
            json.dumps({"run": str(folder), "plan": stored.plan_digest, "outcomes": counts, "complete": complete})
        )
    else:
        click.echo(f"plan {stored.plan_digest[:16]}, draw {stored.draw_digest[:16]}, agent {stored.agent}")
        click.echo("endings (arm x reader level): " + ", ".join(f"{n} {name}" for name, n in counts.items()))
        for record in records:
            for ending in record.endings:
                if ending.outcome == Outcome.INVALID:
                    click.echo(f"invalid {record.arm} [{ending.reader}] {ending.boundary}: {ending.cause}")
    return COMPLETE if complete else INCOMPLETE


@click.command()
@_folder
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@html_option
@click.option(
    "--candidates",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A record of candidates: traps that it says were removed are in no rate, and put back in a sensitivity.",
)
@_json
def report(folder: Path, markdown: bool, html: Path | None, candidates: Path | None, as_json: bool) -> int:
    """Rates with intervals, the registered family, gates, the fact funnel, hygiene metrics, outcomes and causes.

    With --json: the rows that all of it is counted from. The page (--html) also has every arm with its views and
    changes, and with them the facts.
    """
    only_one(markdown=markdown, as_json=as_json, html=html)
    if as_json and candidates:
        raise UsageFault("--candidates and --json: the rows are all arms, whatever was removed")
    home = RunDir.open(folder)
    records = committed(home)
    if as_json:
        arms = [row.__dict__ for row in rows(records)]
        used = plain(used_rows(records, Archive.open(home), lost(home)))
        told = {"arms": arms, **memory_rows(home.description(), records).plain(), "used": used}
        click.echo(json.dumps(told, indent=1))
        return COMPLETE
    made = reported(home, records, _removed(candidates))
    if html is not None:
        write_page(html, encoded(made.page()))
    else:
        click.echo(made.markdown if markdown else made.text)
    return COMPLETE


def _removed(candidates: Path | None) -> frozenset[str] | None:
    """What the record says is removed; None without one. Raises UsageFault for a record that is missing or damaged."""
    if candidates is None:
        return None
    if not candidates.is_file():
        raise UsageFault(f"{candidates}: no such record of candidates")
    return removed(read_candidates(candidates))


@click.command()
@_folder
@click.argument("arm", metavar="[ARM]", default="")
@_json
def show(folder: Path, arm: str, as_json: bool) -> int:
    """One arm: prompts, views, the S3 change, checks, carry manifests. Without ARM: a list of all.

    An arm that was cut off shows the sessions that it finished.
    """
    home = RunDir.open(folder)
    records = {r.arm: r for r in committed(home)}
    if not arm:
        return _list(list(records.values()), as_json)
    wanted = Arm.parse(arm)
    record, sessions = _found(home, wanted, records.get(wanted.id))
    if as_json:
        click.echo(json.dumps(_data(home, record, sessions), indent=1, ensure_ascii=False))
    else:
        click.echo(printable(_text(home, wanted, record, sessions)))
    return COMPLETE


def _found(home: RunDir, arm: Arm, record: ArmRecord | None) -> tuple[ArmRecord | None, list[SessionRecord]]:
    """The record of an arm, if it ended, and the sessions of its newest attempt."""
    if home.ledger.exists():
        with Ledger(home.ledger, read_only=True) as ledger:
            attempt = record.attempt if record else ledger.attempts().get(arm.id, 0)
            sessions = ledger.sessions(arm.id, attempt)
        if record or sessions:
            return record, sessions
    raise UsageFault(f"{arm.id}: not in the ledger (dreambench show {home.path} lists what is)")


def _list(records: list[ArmRecord], as_json: bool) -> int:
    if as_json:
        click.echo(json.dumps({r.arm: {e.reader: e.outcome for e in r.endings} for r in records}, indent=1))
    else:
        for record in records:
            click.echo(record.arm + "  " + "  ".join(f"{e.reader}={e.outcome.value}" for e in record.endings))
    return COMPLETE


def _data(home: RunDir, record: ArmRecord | None, sessions: list[SessionRecord]) -> dict[str, Any]:
    store = _store(home)
    return {
        "arm": record.model_dump(mode="json") if record else None,
        "sessions": [
            {
                **session.model_dump(mode="json"),
                "prompt_text": _blob(home, session.prompt),
                "view_json": json.loads(_blob(home, session.view)),
                "transcript_text": _blob(home, session.transcript),
                "diff": _diff(store, session),
            }
            for session in sessions
        ],
    }


def _text(home: RunDir, arm: Arm, record: ArmRecord | None, sessions: list[SessionRecord]) -> str:
    store = _store(home)
    draw = load_draws(home.facts).get((arm.trap, arm.seed))
    out = [f"# {arm.id}"]
    if record:
        out += [f"construct {record.construct_}, expects to {record.expect}, attempt {record.attempt}"]
    else:
        out += ["not finished: cut off, or still running"]
    if draw:
        out += ["facts: " + ", ".join(f"{name}={value}" for name, value in draw.facts.items())]
    for session in sessions:
        out += ["", f"## S{session.number}{f' ({session.reader})' if session.reader else ''}", "", "### prompt", ""]
        out += [_blob(home, session.prompt), "### view"]
        view = json.loads(_blob(home, session.view))
        out += [f"{len(view['items'])} items of {view['considered']} considered, {session.memory_bytes} memory bytes"]
        out += [f"rejected ({r['why']}): {r['text'][:120]!r}" for r in view["rejected"]]
        out += ["", "### change", "", _diff(store, session) or "(none)"]
        out += ["### carried in"] + [f"{c.bytes:>8} B  {c.sha256[:16]}  {c.name}" for c in session.carried]
        if session.dropped:
            out += ["### not captured", *session.dropped]
        if session.check:
            out += [f"### public check: {'passed' if session.check.passed else 'failed'} (exit {session.check.exit})"]
    for ending in record.endings if record else ():
        out += ["", *_ending(ending)]
    return "\n".join(out)


def _ending(ending: Ending) -> list[str]:
    where = f" ({ending.boundary.value})" if ending.boundary else ""
    lines = [f"## verdict [{ending.reader}]: {ending.outcome.value}{where} {ending.cause}"]
    for check in ending.checks:
        mark = {("requires", True): "ok  ", ("requires", False): "MISS", ("forbids", True): "SEEN"}.get(
            (check.kind, check.held), "ok  "
        )
        lines.append(f"{mark} {check.kind} {check.text}{f' [{check.detail}]' if check.detail else ''}")
    if ending.check is not None:
        lines.append(f"public check of S3: {'passed' if ending.check else 'failed'}")
    lines += [f"fact {fate(trace)}" for trace in ending.funnel]
    for name in ("production", "stripped", "forbidden", "used"):
        if values := getattr(ending, name):
            lines.append(f"{name}: {', '.join(values)}")
    return lines


def _store(home: RunDir) -> ObjectStore:
    """The trees of a run that has some: looking must not make a store."""
    if not (home.objects / "HEAD").is_file():
        raise UsageFault(f"{home.objects}: the store of trees is missing")
    return ObjectStore(home.objects)


def printable(text: str) -> str:
    """Text of an agent made safe for a terminal: control characters but line end and tab as escapes."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", lambda m: f"\\x{ord(m.group()):02x}", text)


def _blob(home: RunDir, name: str) -> str:
    return home.get_blob(name).decode("utf-8", "backslashreplace")


def _diff(store: ObjectStore, session: SessionRecord) -> str:
    if not session.tree_out:
        return ""
    return store.diff(session.tree_in, session.tree_out).decode("utf-8", "backslashreplace")
