"""Instruments for checking traps: `nop` does nothing, `solution` puts a stored solution over S3's tree.

Invariant: neither reads notes; `solution` does S1 and S2 as the reference agent does, so that S3 starts alike.
"""

from __future__ import annotations

from containers.sandbox import AGENT, TOOLS, WORK, Spec
from harness.agents.agent import Needs, Task, session_spec
from harness.agents.reference import ReferenceAgent
from harness.snapshot import LINK, to_tar
from traps.fixtures import File

_PUT = f"""\
import os, shutil, tarfile
for name in os.listdir({WORK!r}):
    if name != ".git":
        path = os.path.join({WORK!r}, name)
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
with tarfile.open({AGENT + "/tree.tar"!r}) as tar:
    tar.extractall({WORK!r}, filter="tar")
"""


class NopAgent:
    """`nop`: leaves the tree as it is."""

    card = "nop 1 (does nothing)"
    own_fault = False
    needs = Needs()

    def spec(self, task: Task) -> Spec:
        return session_spec(task, ("true",), {})


class SolutionAgent:
    """`solution`: S1 and S2 by playbook, then the tree of a stored solution."""

    card = "solution 1 (stored solution in S3)"
    own_fault = True
    needs = Needs()

    def __init__(self) -> None:
        self._reference = ReferenceAgent()

    def spec(self, task: Task) -> Spec:
        if task.step < 3 or task.script.solution is None:
            return self._reference.spec(task)
        whole = {p: e for p, e in task.script.solution.items() if e.mode != LINK or not e.data.startswith(b"/")}
        program = {"put.py": File(_PUT.encode()), "tree.tar": File(to_tar(whole))}
        return session_spec(task, (f"{TOOLS}/bin/python3", "-I", "-S", "-B", f"{AGENT}/put.py"), program)
