"""Reads all of a run for an audit: each blob, store and file once, searched for every drawn value at the same time.

Invariant: what cannot be read is told to `Material.miss`. Stores and trees are of hostile origin: they are searched as
bytes, never opened, unpacked or run; so a text that a store splits over two pages, compresses or encodes is not found.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.auditing.audit_material import Case, Material
from harness.auditing.audit_search import Search, drawn_values
from harness.auditing.audit_traces import Trace, added, key_like, traces
from harness.auditing.audit_trees import TreeReader
from harness.bundle.opened import Opened
from harness.draw import Draw
from harness.ledger import Ledger
from harness.outcome import UsageFault
from harness.records import SessionRecord
from harness.stores import restore_store
from memory_probe.protocol import Scope, State, View, ViewItem
from traps.load import Trap

_CHUNKS = 16_384  # of a store that are put together, 1 GiB; a manifest may name one chunk many times
_PAIRS = 500  # changed files whose texts are held at a time


def gather(run: Opened) -> Material:
    """Read and search all of a revealed run. Of another only the cases are made: nothing else is there."""
    material = Material(run, TreeReader(run.folder.objects), Search(drawn_values(run.traps, run.draws)))
    material.cases = tuple(_cases(material))
    material.counted["arms"] = len(material.cases)
    material.counted["sessions"] = sum(len(case.sessions) for case in material.cases)
    _count_earlier(material)
    if run.revealed:
        sessions = [session for case in material.cases for session in case.sessions]
        _read_blobs(material, sessions)
        _read_exchanges(material, sessions)
        _read_stores(material)
        _read_trees(material, sessions)
        _read_edits(material, sessions)
    return material


def _cases(material: Material) -> Iterator[Case]:
    run = material.run
    for record in run.records:
        trap = run.traps.get(record.trap)
        if trap is None or record.history not in {h.name for h in trap.spec.history}:
            material.miss(f"arm {record.arm}", "its trap or history is not among those of the run")
            continue
        draw = run.draws.get((record.trap, record.seed))
        if run.revealed and (draw is None or not _complete(trap, draw)):
            material.miss(f"arm {record.arm}", "its draw is not among the facts, or lacks some")
            continue
        yield Case(record, trap, trap.history(record.history), draw, tuple(run.sessions(record)))


def _count_earlier(material: Material) -> None:
    """Attempts that were run again count for nothing, and are not looked into."""
    if not material.run.folder.ledger.exists():
        return
    newest = {(record.arm, record.attempt) for record in material.run.records}
    with Ledger(material.run.folder.ledger, read_only=True) as ledger:
        for arm, attempt in ledger.all_sessions().keys() - newest:
            material.miss("an earlier attempt", f"attempt {attempt} of {arm} is not the one that counts")


def _complete(trap: Trap, draw: Draw) -> bool:
    facts = {name for name, fact in trap.spec.facts.items() if fact.kind != "derived"}
    return facts <= draw.facts.keys() and {n.id for n in (*trap.spec.event, *trap.spec.poison)} <= draw.refs.keys()


def _read_blobs(material: Material, sessions: Iterable[SessionRecord]) -> None:
    owed: dict[str, set[str]] = {}
    for session in sessions:
        for kind in ("prompt", "view", "transcript"):
            owed.setdefault(getattr(session, kind), set()).add(kind)
    for blob, kinds in owed.items():
        try:
            data = material.blob(blob)
        except UsageFault as error:
            for kind in sorted(kinds):
                material.miss(f"a {kind}", _why(error))
            continue
        material.counted.update(blobs=1, bytes=len(data))
        material.found[blob] = material.search(data)
        material.keys[blob] = key_like(data)
        if "transcript" in kinds:
            material.traces[blob] = traces(data.decode("utf-8", "replace"))
        if "view" in kinds:
            try:
                material.views[blob] = read_view(data)
            except ValidationError:
                material.miss("a view", "not a view that can be read")


def _read_exchanges(material: Material, sessions: Iterable[SessionRecord]) -> None:
    uses = [*(session.model for session in sessions), *(case.record.asked for case in material.cases)]
    for blob in sorted({use.exchange for use in uses if use is not None}):
        try:
            data = material.exchange(blob)
        except UsageFault as error:
            material.miss("an exchange with a model", _why(error))
            continue
        material.counted.update(blobs=1, bytes=len(data))
        material.found[blob] = material.search(data)
        material.keys[blob] = key_like(data)
        material.traces[blob] = _said(data)


def _said(data: bytes) -> tuple[Trace, ...]:
    """What an exchange names beyond the beginning that a request has in common with the one before it."""
    told: dict[Trace, None] = {}
    before = ""
    for line in data.splitlines():
        try:
            row = json.loads(line)
            asked, answered = str(row.get("request", "")), str(row.get("response", ""))
        except (ValueError, AttributeError, RecursionError):
            asked, answered = "", line.decode("utf-8", "replace")
        new = asked[_common(before, asked) :]
        told |= dict.fromkeys(trace for text in (new, answered) for trace in traces(text) if trace.topic == "oracle")
        before = asked or before
    return tuple(told)


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    date: dt.date | None
    type: str | None
    scope: dict[str, tuple[str, ...] | str]
    state: State | None
    successor: int | None
    provenance: str | None


class _View(BaseModel):
    model_config = ConfigDict(extra="ignore")

    items: tuple[_Item, ...]
    considered: int


def read_view(data: bytes) -> View:
    """The items of a view as `harness.bank` stores it. Raises ValidationError."""
    found = _View.model_validate_json(data)
    items = (ViewItem(i.text, i.date, i.type, _scope(i.scope), i.state, i.successor, i.provenance) for i in found.items)
    return View(tuple(items), (), found.considered)


def _scope(found: Mapping[str, tuple[str, ...] | str]) -> Scope:
    return Scope(tuple(found.get("files", ())), tuple(found.get("symbols", ())), str(found.get("task", "")))


def _why(error: UsageFault) -> str:
    """The reason alone: the whole message names the host's folders."""
    return str(error).rpartition(": ")[2]


def _read_stores(material: Material) -> None:
    for store in {case.record.store for case in material.cases} - {""}:
        try:
            if material.blob(store).count(b'"') > _CHUNKS * 2:
                raise UsageFault("it is too large")
            files = restore_store(material.run.folder, store)
        except UsageFault as error:
            material.miss("a store", _why(error))
            continue
        material.counted.update(stores=1, bytes=sum(map(len, files.values())))
        names = "\n".join(files).encode("utf-8", "surrogateescape")
        material.found[store] = frozenset().union(material.search(names), *map(material.search, files.values()))


def _read_trees(material: Material, sessions: Iterable[SessionRecord]) -> None:
    trees = {tree for session in sessions for tree in session.trees}
    material.trees.learn(trees)
    rows = {row.id for tree in trees for row in material.trees.files(tree).values()}
    for name, body in material.trees.bodies(rows):
        material.counted.update(files=1, bytes=len(body))
        material.seen[name] = material.search(body)
    for tree in trees:
        why = material.trees.broken_in(tree)
        material.counted["trees"] += not why
        for each in why:
            material.miss("a tree or a file of one", each)


def _read_edits(material: Material, sessions: Iterable[SessionRecord]) -> None:
    owed = {(d.old.id if d.old else "", d.new.id) for s in sessions for d in material.differing(s) if d.new}
    pairs = sorted(owed)
    for at in range(0, len(pairs), _PAIRS):
        some = pairs[at : at + _PAIRS]
        bodies = dict(material.trees.bodies({name for pair in some for name in pair if name}))
        for old, new in some:
            if new in bodies:
                material.edits[old, new] = traces(added(bodies.get(old, b""), bodies[new]))
