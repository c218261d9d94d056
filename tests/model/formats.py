"""Answers as text, for agents that call no tools: mini-swe-agent's command blocks, aider's file listings and blocks.

Invariant: an agent is known by the words in which it asks for its format, and by nothing else; a turn that a format
cannot carry is None, never something near it.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Protocol

from .dialects import Asked
from .script import Edit, Replace, Say, Shell, Turn, Write

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
_FENCE = "mswea_bash_command"
_CHANGE = """\
import json, pathlib, sys
for path, old, new in json.loads(sys.argv[1]):
    file = pathlib.Path(path)
    if old is not None:
        text = file.read_bytes().decode()
        if text.count(old) != 1:
            sys.exit(path + ": the text to be replaced does not occur once")
        new = text.replace(old, new)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(new.encode())
"""


class Format(Protocol):
    """A way to answer in plain text."""

    def fits(self, asked: Asked) -> bool: ...

    def render(self, turn: Turn, asked: Asked) -> str | None: ...


def edit_command(edit: Edit) -> str:
    """The edit as one command for a shell with python3."""
    changes = [
        [change.path, change.old, change.new] if isinstance(change, Replace) else [change.path, None, change.text]
        for change in edit.changes
    ]
    return f"python3 -c {shlex.quote(_CHANGE)} {shlex.quote(json.dumps(changes))}"


class CommandBlock:
    """mini-swe-agent without tools: one fenced command a turn; it ends when the command prints its last line."""

    def fits(self, asked: Asked) -> bool:
        return not asked.tools and _FENCE in _said(asked)

    def render(self, turn: Turn, asked: Asked) -> str | None:
        if isinstance(turn, Say):
            return self._block(turn.text, SUBMIT)
        if isinstance(turn, Shell):
            return self._block("Next.", turn.command)
        return self._block("Change the files.", edit_command(turn)) if isinstance(turn, Edit) else None

    def _block(self, thought: str, command: str) -> str:
        return f"THOUGHT: {thought}\n\n```{_FENCE}\n{command}\n```"


class FileListing:
    """aider's `whole` format: the path and, between fences, the whole text."""

    def fits(self, asked: Asked) -> bool:
        return not asked.tools and "*file listing*" in _said(asked)

    def render(self, turn: Turn, asked: Asked) -> str | None:
        if isinstance(turn, Say):
            return turn.text
        if not isinstance(turn, Edit):
            return None
        opening = _fence(asked, r"path/to/filename\.js\n(\S+)\n")
        blocks = []
        for change in turn.changes:
            text = change.text if isinstance(change, Write) else _replaced(change, asked, opening)
            if text is None:
                return None
            blocks.append(f"{change.path}\n{opening}\n{_line(text)}{_closing(opening)}\n")
        return "\n".join(blocks)


class SearchReplace:
    """aider's `diff` format: what is there and what takes its place, in whole lines."""

    def fits(self, asked: Asked) -> bool:
        return not asked.tools and "*SEARCH/REPLACE block*" in _said(asked)

    def render(self, turn: Turn, asked: Asked) -> str | None:
        if isinstance(turn, Say):
            return turn.text
        if not isinstance(turn, Edit):
            return None
        opening = _fence(asked, r"mathweb/flask/app\.py\n(\S+?)python\n")
        blocks = []
        for change in turn.changes:
            old, new = _listed(asked, change.path, opening) or "", ""
            if isinstance(change, Write):
                new = change.text
            else:
                found = _replaced(change, asked, opening)
                if found is None:
                    return None
                new = found
            body = f"<<<<<<< SEARCH\n{_line(old)}=======\n{_line(new)}>>>>>>> REPLACE\n"
            blocks.append(f"{change.path}\n{opening}\n{body}{_closing(opening)}\n")
        return "\n".join(blocks)


FORMATS: tuple[Format, ...] = (CommandBlock(), SearchReplace(), FileListing())


def ends_by_command(asked: Asked) -> bool:
    """Whether the agent has tools, but ends only when a command prints the words that it names."""
    return bool(asked.tools) and SUBMIT in _said(asked)


def _said(asked: Asked) -> str:
    return "\n".join([asked.system, *(m.text for m in asked.messages if m.role == "user")])


def _line(text: str) -> str:
    """The text with its last line ended (nothing for no text)."""
    return text if not text or text.endswith("\n") else text + "\n"


def _fence(asked: Asked, example: str) -> str:
    """The fence of the example that the agent shows."""
    found = re.search(example, "\n".join([asked.system, *(m.text for m in asked.messages)]))
    return found[1] if found else "```"


def _closing(opening: str) -> str:
    return opening.replace("<", "</", 1) if opening.startswith("<") else opening


def _listed(asked: Asked, path: str, opening: str) -> str | None:
    """The text of a file as the request last listed it; None for a file that it does not list."""
    start, end = f"\n{path}\n{opening}\n", f"\n{_closing(opening)}\n"
    for message in reversed(asked.messages):
        text = f"\n{message.text}\n"
        if message.role == "user" and start in text:
            listed, closed, _ = f"\n{text.rpartition(start)[2]}".partition(end)
            return f"{listed[1:]}\n" if listed and closed else "" if closed else None
    return None


def _replaced(change: Replace, asked: Asked, opening: str) -> str | None:
    text = _listed(asked, change.path, opening)
    if text is None or text.count(change.old) != 1:
        return None
    return text.replace(change.old, change.new)
