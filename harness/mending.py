"""`trap check --fix`: mend what follows from the files themselves, and nothing else.

Invariant: every change is reported; a value is written only when the other files of the trap leave no second one, so an
outcome, a date, a fact or a sentence is never made up; a file that cannot be read as it should is left as it is.
"""

from __future__ import annotations

import copy
import re
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateError, meta
from pydantic import ValidationError

from harness.config import RunConfig
from harness.outcome import UsageFault
from harness.rundir import replace_file
from oracles.folder import NOTHING
from traps import facts
from traps.load import CANARY, discover
from traps.scaffolding import CANARY_LINE
from traps.schema import TrapFile

_CACHES = ("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache")
_COMPILED = (".pyc", ".pyo")
_HEADER = re.compile(r"^\s*\[")
_NOTE = re.compile(r"^\s*\[\[\s*(?:event|poison)\s*\]\]")
_LIST = re.compile(r"^(\s*carries\s*=\s*)\[[^\[\]]*\](\s*(?:#.*)?)$")
_TEXT = re.compile(r"^\s*text\s*=")
_ROW = f'\n[[solution]]\nname = "{NOTHING}"\noutcome = "failed"\n'


@dataclass(frozen=True)
class Mended:
    """A change that was made: the file or folder, and what was done to it."""

    path: Path
    what: str


def mend_all(config: RunConfig) -> Iterator[Mended]:
    """Mend the traps that the configuration names (all without names); none when a name is unknown.

    Raises UsageFault naming a file that cannot be written, TrapError as `discover`.
    """
    folders = {f"{f.parent.name}_{f.name}": f for f in discover(Path(config.traps_dir))}
    if set(config.traps) - set(folders):
        return
    for name in config.traps or folders:
        folder = folders[name]
        yield from mend(folder, Path(config.oracles_dir) / folder.parent.name / folder.name)


def mend(trap: Path, oracle: Path) -> Iterator[Mended]:
    """Mend one trap folder and its oracle folder. Raises UsageFault naming a file that cannot be written."""
    try:
        yield from _caches(trap, set())
        yield from _caches(oracle, {oracle / "solutions" / name for name in _declared(oracle)})
        yield from _identity(trap)
        yield from _carried(trap)
        yield from _canaries(trap)
        yield from _nothing(oracle)
        for path in (*sorted(trap.glob("*.md")), trap / "trap.toml", trap / "playbook.py",
                     oracle / "oracle.py", oracle / "expect.toml"):  # fmt: skip
            yield from _last_line(path)
    except OSError as error:
        raise UsageFault(f"{error.filename}: {error.strerror}") from error


def _caches(folder: Path, keep: set[Path]) -> Iterator[Mended]:
    """Caches, files compiled from one beside them, and folders that held nothing else, but for those to keep."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.exists():
            continue
        if path.is_dir() and path.name in _CACHES:
            shutil.rmtree(path)
            yield Mended(path, "removed: a cache is no part of a trap")
        elif path.is_file() and path.suffix in _COMPILED and path.with_suffix(".py").is_file():
            path.unlink()
            yield Mended(path, "removed: compiled from the file beside it")
        else:
            continue
        for above in path.parents:
            if above in keep or above.parent == folder or not above.is_relative_to(folder) or any(above.iterdir()):
                break
            above.rmdir()
            yield Mended(above, "removed: nothing is left in it")


def _declared(oracle: Path) -> list[str]:
    rows = _toml(oracle / "expect.toml").get("solution")
    return [str(row.get("name")) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _identity(trap: Path) -> Iterator[Mended]:
    """The id is the name of the folder, where construct and folder agree."""
    data, wanted = _spec(trap), f"{trap.parent.name}_{trap.name}"
    if str(data.get("construct", "")).lower() != trap.parent.name or data.get("id") == wanted:
        return
    text = _text(trap / "trap.toml")
    changed = re.sub(r'(?m)^(id\s*=\s*)"[^"]*"', lambda match: f'{match[1]}"{wanted}"', text, count=1)
    if _same(changed, {**data, "id": wanted}):
        _write(trap / "trap.toml", changed)
        yield Mended(trap / "trap.toml", f'id = "{wanted}", as its folder says (was "{data["id"]}")')


def _carried(trap: Path) -> Iterator[Mended]:
    """A fact that stands in the text of a note is carried by it, unless the note only says that it is replaced."""
    data = _spec(trap)
    for kind in ("event", "poison"):
        for number, note in enumerate(data.get(kind, ())):
            if not (more := _missing(trap, data, note)):
                continue
            wanted = copy.deepcopy(data)
            wanted[kind][number]["carries"] = carries = [*note.get("carries", ()), *more]
            changed = _with_carries(_text(trap / "trap.toml"), note["id"], carries)
            if _same(changed, wanted):
                _write(trap / "trap.toml", changed)
                data = wanted
                yield Mended(trap / "trap.toml", f"{note['id']} carries {', '.join(more)}, as {note['text']} shows")


def _missing(trap: Path, data: dict[str, Any], note: dict[str, Any]) -> list[str]:
    """Facts in the slots of a note's text that it does not say it carries; in the order of their declaration."""
    known: dict[str, Any] = data.get("facts", {})
    text, carries = _text(trap / note["text"]), note.get("carries", [])
    try:
        used = meta.find_undeclared_variables(facts.environment().parse(text))
    except TemplateError:
        return []
    more = [name for name in known if name in used and name not in carries and known[name].get("kind") != "derived"]
    replaced = {known[name].get("supersedes") for name in (*carries, *more) if name in known}
    return [name for name in more if name not in replaced]


def _with_carries(text: str, note: str, carries: list[str]) -> str:
    """The text of a trap.toml with the list of one note changed or added; unchanged where its lines are unusual."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if _NOTE.match(line)]
    for start in starts:
        end = next((n for n in range(start + 1, len(lines)) if _HEADER.match(lines[n])), len(lines))
        block = range(start + 1, end)
        if not any(re.match(rf'\s*id\s*=\s*"{re.escape(note)}"', lines[n]) for n in block):
            continue
        told = ", ".join(f'"{name}"' for name in carries)
        for n in block:
            if found := _LIST.match(lines[n]):
                lines[n] = f"{found[1]}[{told}]{found[2]}"
                return "\n".join(lines)
        for n in block:
            if _TEXT.match(lines[n]):
                lines.insert(n + 1, f"carries = [{told}]")
                return "\n".join(lines)
    return text


def _canaries(trap: Path) -> Iterator[Mended]:
    """Every prompt and note begins with the canary line, which no agent sees."""
    data = _spec(trap)
    notes = [*data.get("event", ()), *data.get("poison", ())]
    for name in [s["prompt"] for s in data.get("session", ())] + [n["text"] for n in notes]:
        path = trap / name
        text = _text(path) if path.parent == trap else ""
        if text and CANARY not in text:
            _write(path, CANARY_LINE.replace("\n", _line_end(text)) + text)
            yield Mended(path, "the canary line is its first")


def _nothing(oracle: Path) -> Iterator[Mended]:
    """An empty change has failed before any check, whatever the trap is about."""
    path = oracle / "expect.toml"
    rows = _toml(path).get("solution")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        return
    if NOTHING in _declared(oracle):
        return
    text = _text(path)
    changed = text + ("" if text.endswith("\n") else "\n") + _ROW
    if _same(changed, {**_toml(path), "solution": [*rows, {"name": NOTHING, "outcome": "failed"}]}):
        _write(path, changed)
        yield Mended(path, f"`{NOTHING}` must get failed")


def _last_line(path: Path) -> Iterator[Mended]:
    text = _text(path)
    if text and not text.endswith("\n"):
        _write(path, text + _line_end(text))
        yield Mended(path, "its last line ends")


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _text(path: Path) -> str:
    """The text of a regular UTF-8 file with its line ends, else ""."""
    try:
        return path.read_bytes().decode("utf-8") if path.is_file() and not path.is_symlink() else ""
    except UnicodeDecodeError:
        return ""


def _toml(path: Path) -> dict[str, Any]:
    """What a TOML file says; nothing when it cannot be read, which the check then reports."""
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError:
        return {}


def _spec(trap: Path) -> dict[str, Any]:
    """What a trap.toml says when it is one; nothing otherwise."""
    data = _toml(trap / "trap.toml")
    try:
        TrapFile.model_validate(data)
    except ValidationError:
        return {}
    return data


def _same(text: str, wanted: dict[str, Any]) -> bool:
    """Whether a changed text says exactly what it should."""
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _write(path: Path, text: str) -> None:
    replace_file(path, text.encode("utf-8"), mode=path.stat().st_mode & 0o777)
