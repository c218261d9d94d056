"""Two traps, the script that does their work, and requests as agents make them of a session's prompt."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness import items
from harness.config import load
from harness.draw import Draw
from memory_probe.protocol import View
from memory_probe.render import render
from traps.load import Trap, load_trap

from .script import Message, Seen
from .work import TrapWork

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = {"c1_label": ROOT / "tests/data/mini/traps", "c1_plan_shelf": ROOT / "traps"}


@cache
def loaded(name: str) -> Trap:
    """One of the two."""
    root = FOLDERS[name]
    construct, _, folder = name.partition("_")
    return load_trap(root / construct / folder, root / "fixtures", load(None).cache_dir)


@cache
def worker() -> TrapWork:
    """The script for both."""
    return TrapWork({name: loaded(name) for name in FOLDERS})


def prompt_of(trap: Trap, step: int, view: View) -> str:
    """As the harness makes it."""
    session = trap.spec.session[step - 1]
    return f"{trap.texts[session.prompt].rstrip()}\n\n{render(view, session.date)}"


def evidence(trap: Trap, draw: Draw) -> View:
    """What a trap's session needs to be told."""
    return View(items.items(trap, trap.evidence(trap.spec.main_history), draw))


def seen(*texts: str, system: str = "You are careful.", tools: tuple[str, ...] = ("bash",), turn: int = 1) -> Seen:
    """A request with these messages of a user."""
    return Seen("chat", system, tuple(Message("user", text) for text in texts), tools, turn)
