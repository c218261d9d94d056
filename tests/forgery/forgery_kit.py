"""What the forgery tests share: one run of the mini trap with a scripted agent, and the questions asked of it.

Invariant: every attack goes the whole way (plan, three sessions, capture, score, ledger), and `judged` holds each
of them to the same rule: an agent may fail or be trapped, it may not pass and it may not spoil its own arm.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from containers.sandbox import Sandbox
from harness.config import load
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.outcome import Outcome
from harness.records import ArmRecord, Ending, SessionRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from harness.snapshot import Entry

LABELS = b"src/mini/labels.py"
BOXES = b"src/mini/boxes.py"

#: A module beside the agent's program: which session this is, and how files are written.
SESSION = '''\
import os
import sys

with open(sys.argv[1], encoding="utf-8") as prompt:
    PROMPT = prompt.read()
STEP = 3 if "agreed box mark" in PROMPT else 2 if "opposite of" in PROMPT else 1
WRONG = """\\
def label(name):
    return f"{name} box"


def width(name):
    return len(label(name))


def bare(name):
    return name
"""


def write(path, text, folder="/work"):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def wrong(before="", after=""):
    """Honest work without the fact, with something before and behind it."""
    write("src/mini/labels.py", before + WRONG + after)
'''


@dataclass(frozen=True)
class Played:
    """One finished arm and what was stored of it."""

    out: Path
    arm: ArmRecord
    sessions: tuple[SessionRecord, ...]

    @property
    def ending(self) -> Ending:
        assert len(self.arm.endings) == 1
        return self.arm.endings[0]

    def tree(self, tree_id: str) -> dict[bytes, Entry]:
        return ObjectStore(self.out / "objects.git").get(tree_id)

    def left(self, step: int) -> dict[bytes, Entry]:
        """The tree that a session left."""
        return self.tree(self.sessions[step - 1].tree_out)

    def said(self, step: int) -> str:
        """What a session printed."""
        return RunDir.open(self.out).get_blob(self.sessions[step - 1].transcript).decode("utf-8", "replace")


@dataclass(frozen=True)
class Stage:
    """Where the mini trap is played."""

    mini: Mapping[str, str]
    box: Sandbox

    def play(self, folder: Path, script: str, *words: str, extra: Mapping[str, bytes] | None = None) -> Played:
        """Run `script` as the agent of all three sessions. Condition B0 unless the words name another."""
        (played,) = self.play_all(folder, script, *words, extra=extra)
        return played

    def play_all(
        self, folder: Path, script: str, *words: str, extra: Mapping[str, bytes] | None = None
    ) -> tuple[Played, ...]:
        """As `play`, for words that make several arms."""
        program = folder / "program"
        program.mkdir()
        for name, data in {"agent.py": script.encode(), "session.py": SESSION.encode(), **(extra or {})}.items():
            (program / name).write_bytes(data)
        settings = {"seeds": "1", "conditions": "B0", "agent.name": "command", "agent.program": str(program)}
        settings["agent.command"] = json.dumps(["python3", "-B", "/agent/agent.py", "{prompt}"])
        settings |= dict(word.split("=", 1) for word in words)
        config = load(None, [f"{key}={value}" for key, value in settings.items()], dict(self.mini))
        out, arms = folder / "out", list[ArmRecord]()
        execute(prepare(config, out), arms.append, sandbox=self.box)
        with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
            return tuple(Played(out, arm, tuple(ledger.sessions(arm.arm, arm.attempt))) for arm in arms)


def judged(played: Played) -> Ending:
    """The ending of an attack, after the rule that holds for every attack."""
    ending = played.ending
    assert ending.outcome in (Outcome.FAILED, Outcome.TRAPPED), f"{ending.outcome}: {ending.cause}"
    assert not any(check.held for check in ending.checks if check.name in ("current_mark", "width_follows"))
    return ending


def scored(played: Played) -> Ending:
    """As `judged`, for attacks that must get as far as the oracle."""
    ending = judged(played)
    assert ending.checks, f"the oracle was not asked: {ending.cause}"
    return ending


def secrets_of(out: Path) -> dict[str, str]:
    """Every drawn value of the run: facts, note numbers and salts."""
    (row,) = json.loads((out / "facts.json").read_text(encoding="utf-8"))["draws"]
    return {f"{kind}.{name}": value for kind in ("facts", "refs", "salts") for name, value in row[kind].items()}


def captured(played: Played) -> dict[str, bytes]:
    """Everything that came out of the sandboxes: files, names and link targets of all trees, and all output."""
    found = {}
    for session in played.sessions:
        for path, entry in played.tree(session.tree_out).items():
            found[f"S{session.number} {path!r}"] = path + b"\n" + entry.data
        found[f"S{session.number} output"] = RunDir.open(played.out).get_blob(session.transcript)
    return found
