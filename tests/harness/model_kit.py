"""Runs of the mini trap by an agent that calls a model: a small shell agent of ours, before the scripted model.

Invariant: everything between the agent and the model's script is the real thing: sandbox, relay, sockets, run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from containers.sandbox import Sandbox
from harness.config import RunConfig, load
from harness.ledger import Ledger
from harness.records import ArmRecord, SessionRecord
from harness.run import execute, prepare
from tests.model.script import Function, Say, Script, Seen, Shell, Turn
from tests.model.server import ModelServer

AGENT = Path(__file__).parent.parent / "data" / "shell_agent"
MODEL = "scripted-1"


_MARK = re.compile(r"The box mark is `(bm-[0-9a-f]{12})`\.( This replaces)?")
_EDIT = """python3 - <<'END'
from pathlib import Path
path = Path("src/mini/labels.py")
text = path.read_text().replace('return f"{name}"', 'return f"{name} %s"')
path.write_text(text + "\\n\\ndef bare(name: str) -> str:\\n    return name\\n")
END"""
_EMPTY = "printf 'def empty(name):\\n    return not any(c.isalpha() for c in name)\\n' > src/mini/boxes.py"
_FULL = "printf '\\n\\ndef full(name):\\n    return not empty(name)\\n' >> src/mini/boxes.py"


def work(seen: Seen) -> Turn:
    """What a programmer would do in the mini trap's sessions, from nothing but what was sent."""
    said = seen.text()
    if seen.turn > 1:
        return Say("Done.")
    if "Labels end with" in said:
        marks = sorted(_MARK.findall(said), key=lambda found: bool(found[1]))
        return Shell(_EDIT % (marks[-1][0] if marks else "box"))
    return Shell(_FULL if "`full(name)" in said else _EMPTY)


WORK: Script = Function(work)


@dataclass
class Played:
    """A run that was executed (or stopped), and what it recorded."""

    folder: Path
    records: list[ArmRecord] = field(default_factory=list)

    @property
    def sessions(self) -> list[tuple[str, int, SessionRecord]]:
        """(arm, attempt, session) of all that is committed."""
        with Ledger(self.folder / "ledger.sqlite", read_only=True) as ledger:
            return [(*key, each) for key, found in ledger.all_sessions().items() for each in found]


def words(server: ModelServer, *more: str) -> list[str]:
    """The configuration of a run that asks that server, as words of a command line."""
    command = json.dumps(["python3", "/agent/main.py", "{prompt}", "{url}", "{model}"])
    own = ["agent.name=command", f"agent.command={command}", f"agent.program={AGENT}", "seeds=1", "jobs=1"]
    model = [f"model.name={MODEL}", f"model.base_url={server.url}/v1"]
    return [*own, *model, *(["model.key_env=TEST_MODEL_KEY"] if server.key else []), *more]


def play(
    server: ModelServer,
    box: Sandbox,
    mini: Mapping[str, str],
    out: Path,
    more: Sequence[str] = ("conditions=B0",),
    reach: Callable[[str], None] = lambda _: None,
    **how: Any,
) -> Played:
    """Run the mini trap to its end, or to what stops it (which is raised)."""
    config: RunConfig = load(None, words(server, *more), dict(mini))
    played = Played(out)
    execute(prepare(config, out), played.records.append, reach, sandbox=box, **how)
    return played
