"""A scripted model that does a trap's work: the reference agent, as commands of an agent that has a shell.

It knows what is public of the traps (the texts of their prompts and their playbooks) and finds the session's prompt
and its notes in the request. The work is done inside, by the programs of the reference agent, on the notes as the
request had them: an agent that hands the prompt on as it is ends as the reference agent does, and one that mangles it
does not.

Invariant: nothing but the request decides, so a prompt that is not in it gets no work done.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from containers.sandbox import TOOLS, WORK
from harness.agents.pull import PULL_INSTRUCTION
from memory_probe.render import HEADING
from traps import reader
from traps.load import Trap

from .notes import notes, openings
from .script import Call, Say, Seen, Shell, Turn

ASIDE, DONE = Say("Understood."), Say("The work is done.")
LIMIT = 90_000  # characters of a command; one argument of a program may have 131,071 bytes
_PARTS = "/tmp/parts.txt"
_RUN = "import base64,sys,zlib;exec(zlib.decompress(base64.b64decode(sys.argv[1] or sys.stdin.read())))"
_MAIN = """\
import shutil, sys, tempfile
from pathlib import Path
files, step, level, root, parts = {words!r}
folder = Path(tempfile.mkdtemp())
try:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode())
    sys.path.insert(0, str(folder))
    from reader.session import main
    status = main(step, level, folder / "prompt.md", folder / "playbook.py", Path(root))
finally:
    shutil.rmtree(folder)
    Path(parts).unlink(missing_ok=True)
print()
sys.exit(status)
"""


@dataclass(frozen=True)
class Case:
    """One session of a trap: its step (s1, s2 or s3), the text of its prompt, the trap's playbook."""

    step: str
    text: str
    playbook: str


@dataclass(frozen=True)
class Found:
    """The session that a request is about, its prompt as the agent was given it, and whether notes are to be asked
    for."""

    case: Case
    prompt: str
    pull: bool


class TrapWork:
    """The script for a set of traps. `level` is that of the reader; `limit` is for the length of a command.

    Raises ValueError when two sessions have the same prompt, since they could not be told apart.
    """

    def __init__(self, traps: Mapping[str, Trap], level: str = "careful", limit: int = LIMIT) -> None:
        self._level, self._limit = level, limit
        cases = [case for trap in traps.values() for case in _cases(trap)]
        self._cases = sorted(cases, key=lambda case: -len(case.text))
        texts = [case.text for case in cases]
        if len(set(texts)) < len(texts):
            raise ValueError("two sessions have the same prompt")
        folder = Path(reader.__file__).parent
        self._reader = {f"reader/{p.name}": p.read_text(encoding="utf-8") for p in sorted(folder.glob("*.py"))}
        self._reader["reader/__init__.py"] = ""  # as the reference agent has it

    def turn(self, seen: Seen) -> Turn:
        found = self.find(seen)
        if found is None:
            return ASIDE
        prompt, asked = found.prompt, 0
        tool = next((name for name in seen.tools if _asks_memory(name)), None) if found.pull else None
        if tool is not None:
            if seen.turn == 1:
                return Call(tool, {"query": found.case.text})
            prompt, asked = f"{found.case.text}\n\n{_told(seen)}", 1
        todo = self.commands(found.case, prompt)
        at = seen.turn - 1 - asked
        return Shell(todo[at]) if at < len(todo) else DONE

    def find(self, seen: Seen) -> Found | None:
        """The session whose prompt a request holds: one with the section that stands after every prompt before one
        without, then the longest."""
        said = "\n\n".join([seen.system, *(m.text for m in seen.messages if m.role == "user")])
        bare: Found | None = None
        for case in self._cases:
            for rest in openings(said, case.text):
                rest = rest.lstrip()
                if section := notes(rest):
                    return Found(case, f"{case.text}\n\n{section}", False)
                if rest.startswith(PULL_INSTRUCTION.rstrip()):
                    return Found(case, f"{case.text}\n\n{PULL_INSTRUCTION}", True)
                bare = bare or Found(case, f"{case.text}\n", False)
        return bare

    def commands(self, case: Case, prompt: str) -> tuple[str, ...]:
        """The commands that do the work, one a turn: a single line each, which no wrapping can break."""
        files = {**self._reader, "playbook.py": case.playbook, "prompt.md": prompt}
        program = _MAIN.format(words=(files, case.step, self._level, WORK, _PARTS))
        data = base64.b64encode(zlib.compress(program.encode(), 9)).decode()
        run = f"{TOOLS}/bin/python3 -I -S -B -c '{_RUN}'"
        if len(run) + len(data) < self._limit:
            return (f"{run} {data}",)
        size = self._limit - 100
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        puts = [f"printf %s {part} {'>>' if number else '>'} {_PARTS}" for number, part in enumerate(parts)]
        return (*puts, f"{run} '' < {_PARTS}")


def _cases(trap: Trap) -> Iterator[Case]:
    playbook = trap.playbook.decode()
    for number, session in enumerate(trap.spec.session, 1):
        yield Case(f"s{number}", trap.texts[session.prompt].rstrip(), playbook)


def _asks_memory(tool: str) -> bool:
    """Whether a tool is the memory's, by whatever prefix an agent puts before its name."""
    return tool == "search" or re.sub("_+", "_", tool).endswith("memory_search")


def _told(seen: Seen) -> str:
    """The notes that a tool printed last, or none."""
    for message in reversed(seen.messages):
        if message.role == "tool":
            for rest in openings(message.text, HEADING):
                if section := notes(HEADING + rest):
                    return section
    return ""
