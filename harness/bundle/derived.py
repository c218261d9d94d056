"""What a bundle holds that can be computed from the rest: numbers, report, page, what each arm took.

Invariant: every byte made here is a function of the run directory alone, so that who thaws a bundle and computes it
again has to get the same.
"""

from __future__ import annotations

import json

from analysis.export import numbers
from analysis.report.build import build
from analysis.report.layout import as_markdown
from harness.archive import Archive
from harness.bundle.opened import Opened
from harness.ledger import Ledger
from harness.reporting import encoded, in_plan_order, report, run_data, spent_by
from harness.rundir import RunDir


def analysis(folder: RunDir) -> tuple[bytes, bytes]:
    """analysis.json and report.md of a run directory, with or without its facts.

    Raises UsageFault, RecordError, FamilyError.
    """
    stored, archive = folder.description(), Archive.open(folder)
    with Ledger(folder.ledger, read_only=True) as ledger:
        records = in_plan_order(stored, list(ledger.arms()))
    data = run_data(folder, records, archive)
    told = {"schema": 1, "plan": stored.plan_digest, "draw": stored.draw_digest, **numbers(data)}
    return as_json(told), encoded(as_markdown(build(data)))


def page(run: Opened) -> bytes:
    """report.html, which shows views and changes."""
    return encoded(report(run.folder, list(run.records)).page())


def spent(run: Opened) -> bytes:
    """public/spent.json: tokens of S3's view by reader level, bytes of the frozen store."""
    arms = {}
    for record in run.records:
        taken = {ending.reader: spent_by(run.archive, record, ending) for ending in record.endings}
        sizes = [each.store_bytes for each in taken.values()]
        tokens = {reader: each.view_tokens for reader, each in taken.items()}
        arms[record.arm] = {"view_tokens": tokens, "store_bytes": sizes[0] if sizes else None}
    return as_json({"schema": 1, "arms": arms})


def as_json(data: object) -> bytes:
    """Sorted and indented, so that a person can read it and two makings are the same."""
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False).encode() + b"\n"
