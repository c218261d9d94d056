"""A layer: programs that sandboxes offer read-only at /opt/agent, installed once and shared by all sessions.

    /opt/agent/bin            one launcher for each console script of the pip packages; node
    /opt/agent/site           the pip packages; on the path of the launchers' own processes only
    /opt/agent/node_modules   the npm packages

Invariant: nothing that is installed is executed on the host while it is being built, nothing of the host's own
environment gets in, and a directory once published under its digest never changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LAYER = "/opt/agent"  # inside; LAYER/bin is not on PATH: whoever starts a program names it

_PIP_PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]+\])?==[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_NPM_PIN = re.compile(r"(@[a-z0-9._~-]+/)?[a-z0-9._~-]+@\d+\.\d+\.\d+([.+-][A-Za-z0-9.+-]+)?")


@dataclass(frozen=True)
class Recipe:
    """What a layer is made of: exactly pinned packages. Raises ValueError for one that is not pinned.

    pip   requirements ("name==version"), wheels only, with all that they need
    npm   packages ("@scope/name@version"), installed without running their scripts
    node  whether the programs need a Node interpreter in the layer
    """

    pip: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    node: bool = False

    def __post_init__(self) -> None:
        loose = [name for name in self.pip if not _PIP_PIN.fullmatch(name)]
        loose += [name for name in self.npm if not _NPM_PIN.fullmatch(name)]
        if loose:
            raise ValueError(f"not an exactly pinned package: {loose[0]!r}")


@dataclass(frozen=True)
class Layer:
    """A built layer. `directory` is a host path (never shown inside); `digest` is sha256 over paths, modes and
    contents without the compiled files; `versions` names the distributions that are in it."""

    directory: Path
    digest: str
    versions: Mapping[str, str]
