"""A finished run on the bench of the audit: copied, changed at one place, opened and audited.

Invariant: a change that is not meant to be noticed is carried through everything that the harness would have written
with it (prompt, view, manifest), so that a test shows the rule that it is about.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from containers.sandbox import Sandbox
from harness.auditing.audit import Audited, audit
from harness.bundle.opened import Opened, open_run
from harness.config import load
from harness.objects import ObjectStore
from harness.records import SessionRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from harness.snapshot import REGULAR, Entry
from memory_probe.protocol import View, ViewItem
from memory_probe.render import memory_bytes, render
from traps.fixtures import File, to_tar

B0, B5, ALL = "c1_label/B0/1/given", "c1_label/B5/1/given", "c1_label/ALL/1/given"
B5_TWO = "c1_label/B5/2/given"
#: What no audit can look at.
GIT = ("mount /work", "the repository around the tree is made by git; its bytes are not kept")


def play(out: Path, box: Sandbox, mini: Mapping[str, str]) -> Path:
    """A finished run of the mini trap: two seeds of B0, B5 and ALL by the reference agent."""
    words = ("conditions=B0,B5,ALL", "seeds=2", "readers=careful")
    execute(prepare(load(None, words, dict(mini)), out), lambda record: None, sandbox=box)
    return out


class Bench:
    """A copy of a run that may be changed. `change` functions take fields of the stored JSON records."""

    def __init__(self, run: Path, place: Path) -> None:
        self.out = place
        shutil.copytree(run, place)
        self.folder = RunDir(place)

    def opened(self) -> Opened:
        return open_run(self.out)

    def audit(self) -> Audited:
        return audit(self.opened())

    def token(self, name: str, seed: int = 1) -> str:
        return self.opened().draws["c1_label", seed].facts[name]

    def number(self, event: str, seed: int = 1) -> str:
        return self.opened().draws["c1_label", seed].refs[event]

    def session(self, arm: str, number: int, reader: str = "") -> SessionRecord:
        run = self.opened()
        record = next(r for r in run.records if r.arm == arm)
        return next(s for s in run.sessions(record) if (s.number, s.reader) == (number, reader))

    def edit_session(self, arm: str, number: int, reader: str = "", /, **fields: Any) -> None:
        """Change the stored session of an arm."""

        def chosen(record: dict[str, Any]) -> bool:
            return (record["number"], record["reader"]) == (number, reader)

        self._edit("session", arm, chosen, fields)

    def edit_arm(self, arm: str, **fields: Any) -> None:
        self._edit("arm", arm, lambda record: True, fields)

    def edit_ending(self, arm: str, reader: str, **fields: Any) -> None:
        record = next(r for r in self.opened().records if r.arm == arm)
        endings = [e.model_dump(mode="json") | (fields if e.reader == reader else {}) for e in record.endings]
        self.edit_arm(arm, endings=endings)

    def _edit(self, table: str, arm: str, chosen: Any, fields: dict[str, Any]) -> None:
        with sqlite3.connect(self.out / "ledger.sqlite") as db:
            rows = db.execute(f"SELECT id, record FROM {table} WHERE arm = ?", (arm,)).fetchall()
            found = [(row, json.loads(text)) for row, text in rows]
            wanted = [(row, record) for row, record in found if chosen(record)]
            assert wanted, (table, arm)
            for row, record in wanted:
                db.execute(f"UPDATE {table} SET record = ? WHERE id = ?", (json.dumps(record | fields), row))
        db.close()

    def drop_seed(self, seed: int) -> None:
        """As if the run had not had this seed."""
        with sqlite3.connect(self.out / "ledger.sqlite") as db:
            for table in ("arm", "session"):
                db.execute(f"DELETE FROM {table} WHERE arm LIKE ?", (f"%/{seed}/%",))
        db.close()

    def repeat(self, arm: str, number: int, reader: str, attempt: int = 1) -> None:
        """Store a session once more, for this attempt."""
        text = self.session(arm, number, reader).model_dump_json()
        with sqlite3.connect(self.out / "ledger.sqlite") as db:
            db.execute("INSERT INTO session (arm, attempt, at, record) VALUES (?, ?, '', ?)", (arm, attempt, text))
        db.close()

    def say(self, arm: str, number: int, reader: str, text: str) -> None:
        """Let the transcript of a session be this text."""
        self.edit_session(arm, number, reader, transcript=self.folder.put_blob(text.encode()))

    def put_tree(self, tree: str, files: Mapping[str, str | None]) -> str:
        """A tree with files laid over it (None: taken out); its id."""
        store = ObjectStore(self.folder.objects)
        found = store.get(tree)
        for path, text in files.items():
            if text is None:
                del found[path.encode()]
            else:
                found[path.encode()] = Entry(REGULAR, text.encode())
        return store.put(found)

    def show(self, arm: str, number: int, reader: str, items: Iterable[ViewItem]) -> None:
        """Let the view of a session be these items, and with it prompt and manifest, as the harness writes them."""
        view = View(tuple(items))
        trap = self.opened().traps["c1_label"]
        about = trap.spec.session[number - 1]
        text = trap.texts[about.prompt]
        prompt = f"{text.rstrip()}\n\n{render(view, about.date)}"
        memory = prompt[len(text) :] if view.items else ""
        task = to_tar({"prompt.md": File(prompt.encode())})
        changed = {"prompt": prompt.encode(), "memory in prompt": memory.encode(), "mount /task": task}
        stored = {"items": [asdict(i) for i in view.items], "rejected": [], "considered": len(view.items)}
        self.edit_session(
            arm,
            number,
            reader,
            view=self.folder.put_blob(json.dumps(stored, default=str).encode()),
            prompt=self.folder.put_blob(prompt.encode()),
            memory_bytes=memory_bytes(view),
            carried=self.rows(arm, number, reader, changed),
        )

    def rows(self, arm: str, number: int, reader: str, changed: Mapping[str, bytes]) -> list[dict[str, Any]]:
        """The manifest of a session with other bytes in some rows; a row that was not there is added."""
        old = {row.name: row.model_dump() for row in self.session(arm, number, reader).carried}
        for name, data in changed.items():
            old[name] = {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        return list(old.values())


def told(audited: Audited) -> set[tuple[str, str]]:
    """Which rules spoke, and how loud."""
    return {(finding.rule, finding.level) for finding in audited.findings}


def messages(audited: Audited) -> list[str]:
    return [finding.message for finding in audited.findings]
