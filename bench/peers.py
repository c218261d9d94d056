"""A neighbour on the same machine: Inspect's unsandboxed `local` environment on equal commands, if it is installed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

from bench.measure import Figure, seconds
from containers.sandbox import Sandbox, Spec

SAMPLES = 40
_COMMANDS = (("true",), ("sh", "-c", "echo hello"), ("python3", "-c", "print(1)"), ("git", "--version"))
_TASK = f"""
import logging, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def commands():
    async def solve(state, generate):
        for command in {[list(c) for c in _COMMANDS]!r}:
            await sandbox().exec(command)
        return state
    return solve

task = Task(dataset=[Sample(input=str(n)) for n in range({SAMPLES})], solver=commands(), sandbox="local")
(log,) = eval(task, model="mockllm/model", log_dir=sys.argv[1], display="none", max_sandboxes=2, max_samples=2)
assert log.status == "success", log.status
"""


def figures(box: Sandbox) -> Iterator[Figure]:
    """Rate of our sandboxed commands over theirs without a sandbox; nothing when Inspect is not installed."""
    if find_spec("inspect_ai") is None:
        print("inspect-ai is not installed (pip install -e '.[bench]'): its ratio is not measured")
        return
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "task.py"
        script.write_text(_TASK)
        theirs = seconds(lambda: subprocess.run([sys.executable, str(script), folder], check=True, capture_output=True))
    ours = seconds(lambda: _ours(box))
    text = f"{SAMPLES} samples of {len(_COMMANDS)} commands: {ours:.1f} s here, {theirs:.1f} s there"
    yield Figure("rate over Inspect's local environment", theirs / ours, 3.0, at_least=True, note=text)


def _ours(box: Sandbox) -> None:
    def sample(_: int) -> None:
        for command in _COMMANDS:
            box.run(Spec(command))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(sample, range(SAMPLES)))
