"""What an audit knows of a run after everything was read once: the arms, which values stand where, what differs.

Invariant: it only looks up; what could not be read is in `unseen` with the reason, and nowhere else taken for clean.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from harness.auditing.audit_search import Needle, Search
from harness.auditing.audit_traces import Trace
from harness.auditing.audit_trees import Differing, Row, TreeReader
from harness.bundle.opened import Opened
from harness.delta import Change, Delta, classify
from harness.draw import Draw
from harness.outcome import UsageFault
from harness.records import ArmRecord, SessionRecord
from harness.snapshot import LINK, Entry
from memory_probe.protocol import View
from traps.load import Trap
from traps.schema import History

MOST = 1 << 29  # bytes of an exchange
_BLOB = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Case:
    """An arm with what its trap says of it. `draw` is None where the facts are not there."""

    record: ArmRecord
    trap: Trap
    history: History
    draw: Draw | None
    sessions: tuple[SessionRecord, ...]

    @property
    def key(self) -> tuple[str, int]:
        return self.record.trap, self.record.seed

    def last(self, reader: str) -> SessionRecord | None:
        """The S3 of a reader level."""
        return next((s for s in reversed(self.sessions) if s.number == 3 and s.reader == reader), None)


@dataclass
class Material:
    """What was read. Found values are positions in `search.needles`.

    found    blob (transcript, view, prompt, exchange with a model, store's manifest) -> values in it
    seen     git blob -> values in it
    views    blob -> view
    traces   transcript or exchange -> what it names
    keys     blob -> beginnings of what looks like a key of some service
    edits    (old, new) git blobs -> what the added lines name
    counted  how many arms, sessions, blobs, stores, trees, files and bytes were looked at
    unseen   (what, why) -> how often
    """

    run: Opened
    trees: TreeReader
    search: Search
    cases: tuple[Case, ...] = ()
    found: dict[str, frozenset[int]] = field(default_factory=dict)
    seen: dict[str, frozenset[int]] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    traces: dict[str, tuple[Trace, ...]] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    edits: dict[tuple[str, str], tuple[Trace, ...]] = field(default_factory=dict)
    counted: Counter[str] = field(default_factory=Counter)
    unseen: Counter[tuple[str, str]] = field(default_factory=Counter)
    _in_tree: dict[str, frozenset[int]] = field(default_factory=dict)
    _in_change: dict[tuple[str, str], frozenset[int]] = field(default_factory=dict)
    _differing: dict[tuple[str, str], list[Differing]] = field(default_factory=dict)
    _quoted: dict[tuple[str, str, str], bool] = field(default_factory=dict)
    _deltas: dict[tuple[str, str, str], Delta] = field(default_factory=dict)

    def needle(self, number: int) -> Needle:
        return self.search.needles[number]

    def own(self, case: Case, found: Iterable[int]) -> list[Needle]:
        """Those of the found values that are exact texts (tokens, note numbers) of this arm's draw."""
        needles = (self.needle(n) for n in sorted(found))
        return [n for n in needles if n.key == case.key and n.kind != "choice"]

    def foreign(self, case: Case, found: Iterable[int]) -> list[Needle]:
        """Tokens of the draws of other traps and seeds."""
        needles = (self.needle(n) for n in sorted(found))
        return [n for n in needles if n.key != case.key and n.kind in ("token", "escaped")]

    def in_tree(self, tree: str) -> frozenset[int]:
        """Values in the files or paths of a tree."""
        if tree not in self._in_tree:
            files = self.trees.files(tree)
            hits = self.search(b"\n".join(files))
            self._in_tree[tree] = hits.union(*(self.seen.get(row.id, frozenset()) for row in files.values()))
        return self._in_tree[tree]

    def differing(self, session: SessionRecord) -> list[Differing]:
        """The paths that a session changed; none where it left no tree."""
        pair = session.tree_in, session.tree_out
        if not all(pair):
            return []
        if pair not in self._differing:
            self._differing[pair] = self.trees.differing(*pair)
        return self._differing[pair]

    def in_change(self, session: SessionRecord) -> frozenset[int]:
        """Values in the files that a session left changed, or in their paths."""
        pair = session.tree_in, session.tree_out
        if pair not in self._in_change:
            changed = [d for d in self.differing(session) if d.new]
            hits = self.search(b"\n".join(d.path for d in changed))
            self._in_change[pair] = hits.union(*(self.seen.get(d.new.id, frozenset()) for d in changed if d.new))
        return self._in_change[pair]

    def delta(self, case: Case, session: SessionRecord) -> Delta:
        """The changes of an S3 by class. Their bytes are those of links alone; see `added`."""
        key = case.trap.id, session.tree_in, session.tree_out
        if key not in self._deltas:
            found = [Change(d.path, self._entry(d.old), self._entry(d.new)) for d in self.differing(session)]
            self._deltas[key] = classify(found, case.trap.spec.allow, case.trap.fixture.spec.roots)
        return self._deltas[key]

    def production(self, case: Case, session: SessionRecord) -> list[Differing]:
        """What a session changed and an oracle scores."""
        scored = {change.path for change in self.delta(case, session).production}
        return [d for d in self.differing(session) if d.path in scored]

    def _entry(self, row: Row | None) -> Entry | None:
        if row is None:
            return None
        mode = row.mode.decode("ascii", "replace")
        data = next((body for _, body in self.trees.bodies([row.id])), b"") if mode == LINK else b""
        return Entry(mode, data)

    def notes(self, session: SessionRecord) -> bytes:
        """The files of the notes that a session found, where the agent itself keeps some."""
        if not session.memory_in:
            return b""
        ids = sorted({row.id for row in self.trees.files(session.memory_in).values()})
        return b"\n".join(body for _, body in sorted(self.trees.bodies(ids)))

    def in_notes(self, session: SessionRecord) -> frozenset[int]:
        """Values in the notes that a session found."""
        return self.in_tree(session.memory_in) if session.memory_in else frozenset()

    def in_exchange(self, session: SessionRecord) -> frozenset[int]:
        """Values in what a session and its model said to each other."""
        return self.found.get(session.model.exchange, frozenset()) if session.model else frozenset()

    def readable(self, session: SessionRecord) -> bool:
        """Whether both trees of a session were read whole; what was not is in `unseen`."""
        return not any(self.trees.broken_in(tree) for tree in (session.tree_in, session.tree_out) if tree)

    def paths(self, tree: str) -> AbstractSet[bytes]:
        """The paths of a tree."""
        return self.trees.files(tree).keys()

    def quoted(self, session: SessionRecord, text: str) -> bool:
        """Whether the text stands in the tree that a session began with, or in its prompt."""
        key = session.tree_in, session.prompt, text
        if key not in self._quoted:
            wanted = text.encode("utf-8", "surrogateescape")
            ids = {row.id for row in self.trees.files(session.tree_in).values()}
            self._quoted[key] = wanted in self._prompt(session) or any(
                wanted in body for _, body in self.trees.bodies(ids)
            )
        return self._quoted[key]

    def _prompt(self, session: SessionRecord) -> bytes:
        try:
            return self.blob(session.prompt)
        except UsageFault:
            return b""

    def blob(self, name: str) -> bytes:
        """The bytes of a blob. Raises UsageFault; a name that is no digest might lead anywhere and is not followed."""
        if not _BLOB.fullmatch(name):
            raise UsageFault("not the name of a blob")
        return self.run.folder.get_blob(name)

    def exchange(self, name: str) -> bytes:
        """The bytes of an exchange: compressed in a run, plain in what a bundle held. Raises UsageFault."""
        if not _BLOB.fullmatch(name):
            raise UsageFault("not the name of a blob")
        folder = self.run.folder
        return folder.get_packed(name, MOST) if folder.has_packed(name) else folder.get_blob(name)

    def miss(self, what: str, why: str) -> None:
        """Note that something could not be looked at."""
        self.unseen[what, why] += 1
