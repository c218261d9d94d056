"""Entry of the deterministic agent inside a sandbox: `python session.py STEP LEVEL` with the prompt in a file.

Prints one JSON object: the steps taken and what was recalled. Invariant: it reads the prompt file, the playbook
and the tree, and nothing else.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

from .notes import Notes
from .work import Work


def load(path: Path) -> ModuleType:
    """The playbook as a module under a neutral name, without touching the import path or a cache."""
    module = ModuleType("playbook")
    exec(compile(path.read_text(encoding="utf-8"), "playbook.py", "exec"), module.__dict__)
    return module


def main(step: str, level: str, prompt: Path, playbook: Path, root: Path) -> int:
    """Run one step. Exit status 0 when the playbook finished, 1 when it raised (the error is in the output)."""
    work = Work(root)
    notes = Notes(prompt.read_bytes().decode("utf-8"), level)
    error = ""
    try:
        getattr(load(playbook), step)(work, notes)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    json.dump({"steps": work.log, "recalled": notes.log, "error": error}, sys.stdout, ensure_ascii=True)
    return 1 if error else 0
