"""The solutions of an oracle folder: `expect.toml` (what each must get) and the overlay files of each.

Invariant: every row has its folder and every folder its row, but for the two automatic ones, which have none;
paths stay inside the tree. Overlays are returned as bytes; templates in them are filled in by the caller.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

#: Rows that need no folder: no edit at all; the `use` reference with one character of every token changed.
AUTOMATIC = ("nothing", "mutated")


class SolutionError(Exception):
    """`expect.toml` or the solutions folder is not as it should be; one line that says what and where."""


@dataclass(frozen=True)
class Expectation:
    """One row: what the solution `name` must get. `history` None means in every history of the trap."""

    name: str
    history: str | None
    outcome: Literal["pass", "trapped", "failed"]
    remove: tuple[str, ...]

    @property
    def automatic(self) -> bool:
        """Whether the harness makes this solution itself."""
        return self.name in AUTOMATIC


@dataclass(frozen=True)
class OverlayFile:
    """A file that a solution puts over the tree."""

    data: bytes
    executable: bool


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    history: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]*$")
    outcome: Literal["pass", "trapped", "failed"]
    remove: list[str] = []

    @field_validator("remove")
    @classmethod
    def _inside(cls, paths: list[str]) -> list[str]:
        for path in paths:
            parts = PurePosixPath(path).parts
            if not parts or parts[0] == "/" or ".." in parts or str(PurePosixPath(path)) != path:
                raise ValueError(f"not a path inside the tree: {path!r}")
        return paths


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    schema_: Literal[1] = Field(alias="schema")
    solution: list[_Row] = Field(min_length=1)


def load_expectations(folder: Path) -> tuple[Expectation, ...]:
    """The rows of `folder`/expect.toml, in file order. `folder` is an oracle folder. Raises SolutionError."""
    try:
        found = _File.model_validate(tomllib.loads((folder / "expect.toml").read_text("utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        place, says = ".".join(str(part) for part in first["loc"]), first["msg"]
        if place == "schema" and first["type"] == "literal_error":
            says = f"{repr(first['input'])[:20]} is not known here (expected {first['ctx']['expected']})"
        raise SolutionError(f"{folder.name}/expect.toml: {place}: {says}") from None
    except (OSError, ValueError) as error:
        raise SolutionError(f"{folder.name}/expect.toml: {error}") from None
    rows = tuple(Expectation(row.name, row.history, row.outcome, tuple(row.remove)) for row in found.solution)
    _check(folder, rows)
    return rows


def load_overlay(folder: Path, row: Expectation) -> dict[str, OverlayFile]:
    """The files of a solution by path in the tree. Raises SolutionError for links and for automatic rows."""
    if row.automatic:
        raise SolutionError(f"{folder.name}: {row.name!r} is made by the harness")
    base = folder / "solutions" / row.name
    found: dict[str, OverlayFile] = {}
    for path in sorted(base.rglob("*")):
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise SolutionError(f"{folder.name}: {path.relative_to(folder)} is neither a file nor a folder")
        if path.is_file() and "__pycache__" not in path.parts:
            executable = bool(path.stat().st_mode & 0o100)
            found[path.relative_to(base).as_posix()] = OverlayFile(path.read_bytes(), executable)
    return found


def _check(folder: Path, rows: tuple[Expectation, ...]) -> None:
    seen: set[tuple[str, str | None]] = set()
    for row in rows:
        clash = {(row.name, row.history), (row.name, None)} if row.history else {r for r in seen if r[0] == row.name}
        if clash & seen:
            raise SolutionError(f"{folder.name}: the solution {row.name!r} is declared twice")
        seen.add((row.name, row.history))
        if row.automatic and row.remove:
            raise SolutionError(f"{folder.name}: {row.name!r} is automatic and removes nothing")
    base = folder / "solutions"
    folders = {path.name for path in base.iterdir() if path.is_dir()} if base.is_dir() else set()
    declared = {row.name for row in rows if not row.automatic}
    if folders - declared:
        raise SolutionError(f"{folder.name}: undeclared solutions: {', '.join(sorted(folders - declared))}")
    empty = declared - folders - {row.name for row in rows if row.remove}
    if empty:
        raise SolutionError(f"{folder.name}: solutions without a folder: {', '.join(sorted(empty))}")
    if not any(row.outcome == "pass" for row in rows):
        raise SolutionError(f"{folder.name}: no solution passes")
