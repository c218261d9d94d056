"""One session of an agent: its real program in a real sandbox, the relay before a scripted model.

Invariant: what a test looks at is what the sandbox let out, what the relay counted and what the model server was sent;
nothing is put between the agent and those.
"""

from __future__ import annotations

import datetime as dt
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from containers.layer_build import build_layer
from containers.observer import Attempt, Observer, waiting
from containers.relay import Dialect, Ledger, Patience, Quota, Relay, Upstream, routes
from containers.sandbox import MEMORY, MIB, WORK, Limits, Result, Sandbox
from harness.agents.agent import Agent, Task
from harness.agents.pull import Pull, Shown
from harness.config import load
from harness.objects import ObjectStore
from harness.snapshot import REGULAR, Entry
from memory_probe.protocol import View

from ...model.faults import Fault
from ...model.formats import FORMATS, Format
from ...model.log import Log
from ...model.script import Script
from ...model.server import ModelServer

KEY = "sk-K3v/Qm7+xT2wL9pYb5Zc8Rn4"
MODEL = "scripted"
TREE: Mapping[str, bytes] = {
    "README.md": b"# Parcels\n",
    "src/parcels.py": b"def price(grams):\n    return grams * 2\n",
}
PROMPT = "Write the word parcel into the file out.txt of this repository. Nothing else is to be changed.\n"
DAY = dt.date(2026, 3, 2)
EAGER = Patience(attempts=3, first=0.0, longest=0.0)  # what is tried again is tried at once
LIMITS = Limits(wall=120, memory=2048 * MIB, processes=256, disk=256 * MIB)


@dataclass(frozen=True)
class Played:
    """What is left of a session. `rows` is the relay's transcript; `attempts` what the agent tried to reach (only
    where it was observed), `shown` what the memory answered it."""

    result: Result
    ledger: Ledger
    log: Log
    rows: list[dict[str, Any]]
    attempts: tuple[Attempt, ...] = ()
    shown: tuple[Shown, ...] = ()

    def tree(self, path: str = WORK) -> dict[str, bytes]:
        """The files that came out."""
        return _files(self.result.exports[path])

    def memory(self) -> dict[str, bytes]:
        """The files that the agent keeps for itself."""
        return self.tree(MEMORY)

    def told(self) -> str:
        """For the message of a test that fails."""
        out, err = (text.decode("utf-8", "replace")[-3000:] for text in (self.result.stdout, self.result.stderr))
        return f"exit {self.result.exit}, hit {self.result.hit}\n--- stdout\n{out}\n--- stderr\n{err}\n{self.ledger}"


def play(
    agent: Agent,
    box: Sandbox,
    script: Script,
    folder: Path,
    *,
    prompt: str = PROMPT,
    tree: Mapping[str, bytes] = TREE,
    memory: Mapping[str, bytes] | None = None,
    tools: bool = False,
    view: View | None = None,
    limits: Limits = LIMITS,
    quota: Quota | None = None,
    faults: Sequence[Fault] = (),
    formats: Sequence[Format] = FORMATS,
    observe: bool = False,
) -> Played:
    """Run one session. `folder` is an empty one for the store and the transcript.

    With `tools` the memory answers every search with `view`. With `observe` names and addresses that the agent tries
    are listed.
    """
    store = ObjectStore(folder / "objects.git")
    start = store.session_tar({path.encode(): Entry(REGULAR, data) for path, data in tree.items()})
    kept = None if memory is None else _tar(memory)
    spec = agent.spec(Task(1, prompt, start, "careful", limits, memory=kept, tools=tools))
    if agent.needs.recipe is not None:
        spec = replace(spec, layer=build_layer(load(None).cache_dir, agent.needs.recipe, box.python))
    pull = Pull(lambda query: view or View(), DAY)
    with ExitStack() as stack:
        server = stack.enter_context(ModelServer(script, key=KEY, faults=faults, formats=formats))
        relay = stack.enter_context(Relay(_upstream(agent, server), EAGER))
        session = relay.open(quota or Quota(), folder / "exchange.jsonl", local=(pull.local(),) if tools else ())
        observer = Observer(session) if observe else None
        spec = replace(waiting(spec) if observer else spec, endpoint=observer or session)
        result = pull.during(lambda: box.run(spec))
        ledger = session.ledger()
    rows = [json.loads(line) for line in (folder / "exchange.jsonl").read_text().splitlines()]
    return Played(result, ledger, server.log, rows, observer.attempts() if observer else (), pull.shown)


def _upstream(agent: Agent, server: ModelServer) -> Upstream:
    dialect = agent.needs.dialect
    assert dialect is not None
    base = server.url + ("/v1" if dialect in (Dialect.CHAT, Dialect.RESPONSES) else "")
    return Upstream(base, KEY, routes(dialect, MODEL), models=(MODEL,))


def _tar(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _files(data: bytes) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if member.isreg() and file is not None:
                found[member.name] = file.read()
    return found
