"""Load a trap folder: everything about it as data, ready for a plan.

Invariant: a `Trap` holds only bytes, text and validated models; loading runs nothing that the folder contains.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from traps import facts
from traps.fixtures import Fixture, Tree, load_fixture, read_folder
from traps.hosted import HostedError
from traps.schema import Event, History, Poison, TrapError, TrapFile, read_toml

CANARY = "f3b1c9d2-7a54-4e0e-9d63-5b8a1c0e2f47"

#: The roles whose events the EVIDENCE instrument shows, and those that POISON shows, by construct.
EVIDENCE_ROLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("C1", "C2", "C3", "C4", "C5", "C8", "C10"), ("governing",)),
    "C6": ("governing", "superseded", "rule"),
    "C7": ("rule", "parameter"),
    "C9": ("governing", "spurious", "confirming", "disconfirming"),
}
POISON_ROLES: dict[str, tuple[str, ...]] = {
    "C2": ("distractor",),
    "C3": ("superseded",),
    "C4": ("superseded",),
    "C6": ("superseded", "decoy"),
    "C9": ("spurious",),
}


@dataclass(frozen=True)
class Trap:
    """A trap as loaded. `texts` maps every prompt and event file name to its text without the canary line.

    `first` has the number, in its file, of the first line of each text.
    """

    spec: TrapFile
    folder: Path
    fixture: Fixture
    texts: Mapping[str, str]
    playbook: bytes
    overlays: tuple[Tree, Tree, Tree]
    digest: str
    first: Mapping[str, int] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def construct(self) -> str:
        return self.spec.construct_

    def history(self, name: str) -> History:
        """Raises KeyError for an unknown history."""
        return {h.name: h for h in self.spec.history}[name]

    def events(self, history: str, after: int) -> list[Event]:
        """The events of a history that appear after session 1 or 2, in file order."""
        roles = self.history(history).roles
        return [e for e in self.spec.event if e.id in roles and e.after == after]

    def evidence(self, history: str) -> list[Event]:
        """What the EVIDENCE instrument shows in this history."""
        return self._with_roles(history, EVIDENCE_ROLES[self.construct])

    def poison(self, history: str) -> list[Event | Poison]:
        """What the POISON instrument shows: events of bad roles, and the trap's own poison notes."""
        notes: list[Event | Poison] = list(self._with_roles(history, POISON_ROLES.get(self.construct, ())))
        return notes + [p for p in self.spec.poison if not p.histories or history in p.histories]

    def has_poison(self) -> bool:
        """Whether POISON shows anything in any history."""
        return any(self.poison(h.name) for h in self.spec.history)

    def _with_roles(self, history: str, wanted: tuple[str, ...]) -> list[Event]:
        roles = self.history(history).roles
        return [e for e in self.spec.event if roles.get(e.id) in wanted]


def load_trap(folder: Path, fixtures: Path, cache: Path, checked: bool = True) -> Trap:
    """Load one trap folder. Raises TrapError naming the file and the line or key.

    `checked` False is for a trap that a stranger sent: its templates are not filled in and its playbook is not parsed.
    """
    spec = read_toml(folder / "trap.toml", TrapFile)
    if (wanted := f"{folder.parent.name}_{folder.name}") != spec.id:
        raise TrapError(f"{folder / 'trap.toml'}: id: {spec.id!r} does not fit its folder (expected {wanted!r})")
    if spec.construct_.lower() != folder.parent.name:
        raise TrapError(f"{folder / 'trap.toml'}: construct: {spec.construct_} lies in {folder.parent.name}/")
    names = [s.prompt for s in spec.session] + [n.text for n in (*spec.event, *spec.poison)]
    found = {name: _text(folder / name) for name in names}
    texts = {name: text for name, (text, _) in found.items()}
    first = {name: line for name, (_, line) in found.items()}
    if checked:
        _check_notes(spec, folder, texts, first)
    playbook = _program(folder / "playbook.py", checked)
    try:
        one, two, three = (read_folder(folder / f"s{n}") for n in (1, 2, 3))
        fixture = load_fixture(fixtures, spec.fixture, cache)
    except OSError as error:
        raise TrapError(f"{error.filename or folder}: {error.strerror}") from error
    except HostedError as error:
        raise TrapError(f"{fixtures / spec.fixture / 'fixture.toml'}: {error}") from error
    return Trap(spec, folder, fixture, texts, playbook, (one, two, three), _digest(folder, fixture), first)


def discover(root: Path) -> list[Path]:
    """All trap folders below `root` (those with a trap.toml), ordered by construct number, then name.

    Raises TrapError for one that lies in a folder of no construct.
    """
    found = [p.parent for p in root.glob("c*/*/trap.toml")]
    if strange := [f for f in found if not re.fullmatch(r"c\d+", f.parent.name)]:
        raise TrapError(f"{strange[0] / 'trap.toml'}: a trap lies in a folder of its construct: c1, c2, ...")
    return sorted(found, key=lambda f: (int(f.parent.name[1:]), f.name))


def _text(path: Path) -> tuple[str, int]:
    """The text without the canary line, and the number of its first line in the file."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise TrapError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TrapError(f"{path}:{line}: not UTF-8 at byte {error.start}") from error
    first, _, rest = text.partition("\n")
    return (rest, 2) if CANARY in first else (text, 1)


def _program(path: Path, checked: bool) -> bytes:
    """The source of a program, which must parse if it is `checked`; it is not run here."""
    try:
        source = path.read_bytes()
        if checked:
            ast.parse(source, str(path))
    except OSError as error:
        raise TrapError(f"{path}: {error.strerror}") from error
    except SyntaxError as error:
        raise TrapError(f"{path}:{error.lineno or 1}: {error.msg}") from error
    except ValueError as error:
        raise TrapError(f"{path}: {error}") from error
    return source


def _check_notes(spec: TrapFile, folder: Path, texts: Mapping[str, str], first: Mapping[str, int]) -> None:
    """Every slot of every note has a value, and fills."""
    values = facts.draw(spec.facts)
    notes = (*spec.event, *spec.poison)
    refs = {n.id: facts.draw_token(n.ref) for n in notes}
    for note in notes:
        path, line = str(folder / note.text), first[note.text]
        facts.check_slots(texts[note.text], values, refs, path, line)
        facts.fill(texts[note.text], {**values, "ref": refs[note.id], "refs": refs}, path, line)


def _digest(folder: Path, fixture: Fixture) -> str:
    """sha256 over every file of the folder and the fixture's digest."""
    total = hashlib.sha256(fixture.digest.encode())
    for path, file in read_folder(folder).items():
        total.update(f"{path}:{len(file.data)}:".encode() + file.data)
    return total.hexdigest()


def note_text(trap: Trap, note: Event | Poison, values: Mapping[str, str], refs: Mapping[str, str]) -> str:
    """The text of an event or poison note with its facts, its own number and those of others filled in."""
    slots = {**values, "ref": refs[note.id], "refs": dict(refs)}
    return facts.fill(trap.texts[note.text], slots, str(trap.folder / note.text), trap.first.get(note.text, 1))
