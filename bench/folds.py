"""What the harness adds: whole arms against the floor of their commands, jobs, and the driver's memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.floor import Floor
from bench.measure import Figure, in_turn, note, ratio
from containers.sandbox import WORK, Channel, Result, Sandbox, Spec
from harness.config import RunConfig, load
from harness.run import execute, prepare

_AGENT = """\
import pathlib, subprocess, sys
pathlib.Path("src/mini/boxes.py").write_text("def empty(name):\\n    return not any(c.isalpha() for c in name)\\n"
    "def full(name):\\n    return not empty(name)\\n")
labels = pathlib.Path("src/mini/labels.py")
labels.write_text(labels.read_text() + "\\n# looked at\\n")
subprocess.run(["git", "commit", "-qam", "work"], check=True)
sys.exit(subprocess.run([sys.executable, "-m", "pytest", "-q"]).returncode)
"""


class Recorder:
    """A sandbox that remembers every spec it ran, so that the floor can run the same commands."""

    def __init__(self, box: Sandbox) -> None:
        self._box, self.name = box, box.name
        self.specs: list[Spec] = []
        self._lock = threading.Lock()

    @property
    def python(self) -> str:
        return self._box.python

    def describe(self) -> dict[str, str]:
        return dict(self._box.describe())

    def run(self, spec: Spec) -> Result:
        with self._lock:
            self.specs.append(spec)
        return self._box.run(spec)

    def talk(self, spec: Spec) -> Channel:
        with self._lock:
            self.specs.append(spec)
        return self._box.talk(spec)


@contextmanager
def mini(seeds: int, jobs: int, agent: Path | None, mini_root: Path) -> Iterator[RunConfig]:
    """A configuration of the mini trap with the given agent program (None: nop)."""
    words = [f"seeds={seeds}", f"jobs={jobs}", "conditions=B0", "readers=careful"]
    places = {"traps_dir": str(mini_root / "traps"), "oracles_dir": str(mini_root / "oracles")}
    if agent is None:
        yield load(None, [*words, "agent.name=nop"], places)
        return
    words += ["agent.name=command", f"agent.program={agent}"]
    words += ["agent.command=" + json.dumps(["/tools/bin/python3", "/agent/agent.py"])]
    yield load(None, words, places)


def run(config: RunConfig, box: Sandbox) -> None:
    """One whole run in a fresh directory."""
    with tempfile.TemporaryDirectory() as folder:
        execute(prepare(config, Path(folder) / "run"), lambda record: None, sandbox=box)


def figures(box: Sandbox, floor: Floor, mini_root: Path) -> Iterator[Figure]:
    """Arms that run git and pytest, over the same commands bare; and two jobs over one."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder)
        (program / "agent.py").write_text(_AGENT)
        recorder = Recorder(box)
        with mini(4, 1, program, mini_root) as config:
            run(config, recorder)  # type: ignore[arg-type]
            specs = list(recorder.specs)
            harness, bare = in_turn(lambda: run(config, box), lambda: _bare(floor, specs, program), 5)
        text = f"{len(specs)} commands, {note(harness, bare, 1, 's')}"
        yield Figure("whole arms with git and pytest over their floor", ratio(harness, bare), 1.6, note=text)
        with mini(12, 1, program, mini_root) as one, mini(12, 2, program, mini_root) as two:
            single, double = in_turn(lambda: run(one, box), lambda: run(two, box), 3)
        yield Figure("arms: two jobs over one (rate)", ratio(single, double), 1.5, True, note(single, double, 1, "s"))
    yield _memory(mini_root)


def _bare(floor: Floor, specs: list[Spec], program: Path) -> None:
    """Every recorded command once, as a bare process; a conversation becomes the start of its program."""
    for spec in specs:
        command = tuple(w.replace("/agent/agent.py", str(program / "agent.py")) for w in spec.command)
        if any("/agent/oracles/" in w or "hands.py" in w for w in command):
            command = ("python3", "-I", "-B", "-c", "import json, socket, subprocess, decimal, datetime")
        floor.run(command, spec.mounts[WORK].tar if WORK in spec.mounts else b"")


def _memory(mini_root: Path) -> Figure:
    """Peak memory of a driver process over 1,500 no-op cells against 150."""
    small, large = (_peak(count, mini_root) for count in (150, 1500))
    return Figure("driver memory, 1,500 no-op cells over 150", large / small, 1.2, note=f"{small} and {large} KiB")


def _peak(count: int, mini_root: Path) -> int:
    words = [sys.executable, "-m", "bench.folds", str(count), str(mini_root)]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[-1])


def _child() -> None:
    """In a process of its own: run no-op cells, print the peak resident KiB of this process."""
    from harness.boxes import open_sandbox

    count, root = int(sys.argv[1]), Path(sys.argv[2])
    with mini(count, 2, None, root) as config, open_sandbox(config, "bench") as box:
        run(config, box)
    # not ru_maxrss: that is inherited from the process that started this one
    (peak,) = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line[:6] == "VmHWM:"]
    print(peak)


if __name__ == "__main__":
    _child()
