"""Folds: frozen sets of traps, each member with the digest of its trap and oracle.

Invariant: a fold that loads names every member once; whoever runs it learns which member is missing or has changed
since it was frozen, and nothing is left out in silence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from traps.schema import TrapError, read_toml

FOLDER = "folds"
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Fold(BaseModel):
    """`traps/folds/<name>.toml`. `members` maps trap ids to digests, in the order in which they run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: Literal[1] = Field(alias="schema")
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    members: dict[str, Digest] = Field(min_length=1)

    @property
    def digest(self) -> str:
        """sha256 over the members: id and digest a line, sorted."""
        return hashlib.sha256("".join(f"{t} {d}\n" for t, d in sorted(self.members.items())).encode()).hexdigest()

    def changed(self, found: Mapping[str, str]) -> list[str]:
        """Members that are not in `found` (digests by trap id), or with another digest, in words."""
        return [
            f"{trap} is not there" if trap not in found else f"{trap} has changed since the fold was frozen"
            for trap, digest in self.members.items()
            if found.get(trap) != digest
        ]


def load_fold(root: Path, name: str) -> Fold:
    """The fold of that name in a traps folder. Raises TrapError for one that is missing, malformed or misnamed."""
    path = root / FOLDER / f"{name}.toml"
    if not path.is_file():
        there = ", ".join(sorted(p.stem for p in (root / FOLDER).glob("*.toml"))) or "none"
        raise TrapError(f"{path}: no such fold (there are: {there})")
    fold = read_toml(path, Fold)
    if fold.name != name:
        raise TrapError(f"{path}: name: {fold.name!r} does not fit the file")
    return fold


def member_digest(trap: str, oracle: str) -> str:
    """The digest of a member, from the digests of its trap (with its fixture) and of its oracle."""
    return hashlib.sha256(f"{trap}\n{oracle}\n".encode()).hexdigest()


def fold_text(fold: Fold) -> str:
    """The file of a fold."""
    lines = ["schema = 1", f'name = "{fold.name}"', f"title = {json.dumps(fold.title)}", "", "[members]"]
    return "\n".join([*lines, *(f'{trap} = "{digest}"' for trap, digest in fold.members.items())]) + "\n"
