"""`edit`: our own agent of one call, for models that cannot drive tools: files in, whole files out.

The files are those that the task names (not those that notes name, so that they are the same in every condition); see
`inside.named` for how they are found and `inside.listing` for the form of the answer. The program is put at /agent and
runs by the toolchain's interpreter; nothing is installed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from containers.relay_usage import Dialect
from containers.sandbox import AGENT, TOOLS, Spec
from harness.agents import inside
from harness.agents.agent import PROMPT, Needs, Task, session_spec
from harness.agents.endpoint import V1_URL, spoken
from harness.config import ModelConfig
from memory_probe.render import HEADING
from traps.fixtures import File

ROOM = 48 << 10  # bytes of files that are shown
MOST = 8192  # tokens of an answer
SEED = 7

_MAIN = f"""\
import sys
sys.path.insert(0, {AGENT!r})
from inside.edit import main
sys.exit(main(sys.argv[1:]))
"""
_MODULES = ("edit.py", "listing.py", "named.py")


class EditAgent:
    """One call of the chat dialect a session, temperature 0."""

    own_fault = False
    needs = Needs(dialect=Dialect.CHAT)

    def __init__(self, model: ModelConfig) -> None:
        spoken("edit", model, Dialect.CHAT)
        settings = {
            "url": f"{V1_URL}/chat/completions",
            "model": model.name,
            "heading": HEADING,
            "room": ROOM,
            "most": MOST,
            "seed": SEED,
        }
        self._program = {f"inside/{name}": File(data) for name, data in program_files(*_MODULES).items()}
        self._program |= {"main.py": File(_MAIN.encode()), "settings.json": File(json.dumps(settings).encode())}
        said = hashlib.sha256(b"\0".join(file.data for _, file in sorted(self._program.items()))).hexdigest()[:16]
        self.card = (
            f"edit 1 (program {said}); model {model.name}, chat, one call, temperature 0, seed {SEED}, "
            f"at most {MOST} tokens out and {ROOM} bytes of files in; whole files"
        )

    def spec(self, task: Task) -> Spec:
        command = (f"{TOOLS}/bin/python3", "-I", "-S", "-B", f"{AGENT}/main.py", f"{AGENT}/settings.json", PROMPT)
        return session_spec(task, command, self._program)


def program_files(*names: str) -> dict[str, bytes]:
    """Files of the package that runs inside, with an empty `__init__`: its own tells us about its place here."""
    folder = Path(inside.__file__).parent
    return {"__init__.py": b"", **{name: (folder / name).read_bytes() for name in names}}
