"""Runs that are looked at: what every session and every scoring saw, and what was not theirs to see."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from containers.sandbox import AGENT, TASK, WORK, Mount, Sandbox, Spec
from harness import draw
from harness.boxes import open_sandbox
from harness.config import ROOT, RunConfig, load
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.plan import Plan
from harness.records import ArmRecord, SessionRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from harness.snapshot import Entry, from_tar
from traps.fixtures import File, to_tar
from traps.load import CANARY

from .blindness_kit import INSIDE, NAME, Needle, Recorder, Talk, name, path, pieces_of, unpacked, word
from .blindness_world import World

CONDITIONS = ("B0", "ALL", "EVIDENCE", "POISON")


@dataclass(frozen=True)
class Session:
    """One session of a finished run, with the texts that its record names."""

    arm: ArmRecord
    record: SessionRecord
    prompt: bytes
    view: bytes  # the texts and fields of the items that were shown
    pieces: dict[str, bytes]

    @property
    def name(self) -> str:
        return f"{self.arm.arm} S{self.record.number} {self.record.reader}".strip()


@dataclass
class Played:
    """A finished run and everything that went through its sandbox."""

    out: Path
    plan: Plan
    records: list[ArmRecord]
    recorder: Recorder
    secrets: dict[str, str]  # drawn facts, note numbers and salts, by a name for messages
    _read: list[Session] = field(default_factory=list, kw_only=True)

    def sessions(self) -> list[Session]:
        """Every session, read once."""
        if not self._read:
            self._read.extend(self._sessions())
        return self._read

    def _sessions(self) -> Iterator[Session]:
        folder, store = RunDir.open(self.out), ObjectStore(self.out / "objects.git")
        with Ledger(self.out / "ledger.sqlite", read_only=True) as ledger:
            for arm in self.records:
                for record in ledger.sessions(arm.arm, arm.attempt):
                    items = json.loads(folder.get_blob(record.view))["items"]
                    view = json.dumps(items, ensure_ascii=False).encode()
                    seen = store.get(record.tree_out).get(b"seen.z") if record.tree_out else None
                    pieces = unpacked(seen.data) if seen else {}
                    yield Session(arm, record, folder.get_blob(record.prompt), view, pieces)

    def tree(self, tree: str) -> dict[bytes, Entry]:
        return ObjectStore(self.out / "objects.git").get(tree)

    def outside(self, view: bytes) -> list[Needle]:
        """Needles for every secret that this view does not show."""
        return [word(name, value) for name, value in self.secrets.items() if value.encode() not in view]


@dataclass
class Aliased(Played):
    """The run of the aliased world. `neutral` is what a sandbox without any harness shows, all names included."""

    world: World
    needles: list[Needle]
    neutral: dict[str, bytes]

    def scorings(self) -> list[Talk]:
        """Conversations with the agent's code (the others are with the judge)."""
        return [talk for talk in self.recorder.talks if WORK in talk.spec.mounts]


@dataclass
class Real(Played):
    """The run of the real traps."""


def play_aliased(world: World, sandbox: str = "bubblewrap", conditions: tuple[str, ...] = CONDITIONS) -> Aliased:
    """Run the world. The toolchain is built into the world's own cache; an image, which takes long, is not.

    Raises UsageFault or SandboxError when there is no such sandbox here.
    """
    config = load(None, [*world.words(*conditions), f"sandbox={sandbox}"])
    chosen = config if sandbox == "bubblewrap" else load(None, [f"sandbox={sandbox}"])
    recorder = Recorder(open_sandbox(chosen, world.names["label"]))
    with recorder:
        neutral = look_around(recorder.inner)
        plan, records, found = _play(config, world.out, recorder, world)
    needles = [*sentinels(world), *host_paths(world), word("the canary", CANARY)]
    if sandbox == "docker" and str(Path.home()) == "/root":  # which the image has for itself
        needles = [needle for needle in needles if needle.what != "the harness's home"]
    return Aliased(world.out, plan, records, recorder, found, world, needles, neutral)


def play_real(out: Path, recorder: Recorder) -> Real:
    """Run the quick fold with the reference agent, one seed."""
    config = load(None, ["fold=quick", "family=quick", "seeds=1"])
    plan, records, found = _play(config, out, recorder, None)
    return Real(out, plan, records, recorder, found)


def _play(
    config: RunConfig, out: Path, recorder: Recorder, world: World | None
) -> tuple[Plan, list[ArmRecord], dict[str, str]]:
    ready = prepare(config, out, world.known if world else None)
    records: list[ArmRecord] = []
    execute(ready, records.append, sandbox=recorder)
    found: dict[str, str] = {}
    for (trap, seed), drawn in draw.load(out / "facts.json").items():
        for kind, values in (("fact", drawn.facts), ("number", drawn.refs), ("salt", drawn.salts)):
            facts = ready.plan.traps[trap].spec.facts
            names = [n for n in values if kind != "fact" or facts[n].kind == "token"]
            found |= {f"{kind} {trap}/{seed}.{name}": values[name] for name in names}
    return ready.plan, records, found


def look_around(sandbox: Sandbox) -> dict[str, bytes]:
    """What the probe sees in a sandbox that holds nothing but itself."""
    program = to_tar({"seen.py": File((INSIDE / "seen.py").read_bytes())})
    spec = Spec(
        ("python3", f"{AGENT}/seen.py", f"{WORK}/seen.z", "whole"),
        mounts={WORK: Mount(writable=True), AGENT: Mount(program), TASK: Mount()},
        exports=(WORK,),
    )
    result = sandbox.run(spec)
    assert result.exit == 0, result.stderr
    return unpacked(from_tar(result.exports[WORK])[0][b"seen.z"].data)


def sentinels(world: World) -> list[Needle]:
    """Every name and code of the world, and its seed."""
    named = [word(f"sentinel {what}", value) for what, value in {**world.names, **world.codes}.items()]
    return [*named, word("the seed", str(world.seed)), word("the seed in hex", f"{world.seed:x}")]


def host_paths(world: World) -> list[Needle]:
    """Places of this machine. A path that every sandbox has for itself (/work, /usr, /tmp) tells nothing."""
    inside = {"/", "/usr", "/tmp", "/work", "/home", "/home/dev"}
    places = {
        "the checkout": str(ROOT),
        "the test's folder": str(world.base),
        "the harness's environment": sys.prefix,
        "the harness's interpreter": sys.executable,
        "the usual cache": str(load(None).cache_dir),
    }
    found = [path(what, place) for what, place in places.items() if place not in inside]
    # Not the home itself: "/root" is a word of its own.
    found.append(Needle("the harness's home", f"{Path.home()}/".encode(), before=NAME))
    host = socket.gethostname()
    if len(host) > 3 and host not in ("localhost",):
        found.append(name("the host's name", host))
    return found


def toolchain_files(world: World) -> dict[str, bytes]:
    """Every file of the toolchain that was built into the world's cache."""
    found = {}
    for folder, _, files in os.walk(world.cache):
        for entry in files:
            file = Path(folder, entry)
            if file.is_file() and not file.is_symlink() and file.parent != world.cache:
                found[str(file.relative_to(world.cache))] = file.read_bytes()
    return found


__all__ = ["CONDITIONS", "Aliased", "Played", "Real", "Session", "pieces_of"]
