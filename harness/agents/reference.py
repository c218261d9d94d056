"""The deterministic reference agent: a playbook does the work, the one general reader finds the facts in the notes.

Free and without a key. It measures what memory delivers, not models. Invariant: it reads facts only from the rendered
notes in the prompt, so what an arm of it loses, memory lost.
"""

from __future__ import annotations

from pathlib import Path

import traps.reader
from containers.sandbox import AGENT, TOOLS, WORK, Spec
from harness.agents.agent import PROMPT, Needs, Task, session_spec
from traps.fixtures import File

_MAIN = f"""\
import sys
from pathlib import Path
sys.path.insert(0, {AGENT!r})
from reader.session import main
sys.exit(main(sys.argv[1], sys.argv[2], Path({PROMPT!r}), Path({AGENT + "/playbook.py"!r}), Path({WORK!r})))
"""


class ReferenceAgent:
    """`reference`: plays the playbook in all three sessions."""

    card = "reference agent 2 (deterministic; reader levels careful and credulous)"
    own_fault = True
    needs = Needs()

    def __init__(self) -> None:
        folder = Path(traps.reader.__file__).parent
        self._program = {f"reader/{p.name}": File(p.read_bytes()) for p in sorted(folder.glob("*.py"))}
        self._program["reader/__init__.py"] = File(b"")  # its text explains the place of the reader to us
        self._program["main.py"] = File(_MAIN.encode())

    def spec(self, task: Task) -> Spec:
        program = {**self._program, "playbook.py": File(task.script.playbook)}
        command = (f"{TOOLS}/bin/python3", "-I", "-S", "-B", f"{AGENT}/main.py", f"s{task.step}", task.reader)
        return session_spec(task, command, program)
