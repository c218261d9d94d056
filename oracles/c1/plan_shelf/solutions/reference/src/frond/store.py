"""Plans that are kept between runs, one file for each text of a program."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from frond._parser import EDITION, VERSION
from frond.errors import FrondError
from frond.parse import parse
from frond.plan import Plan, compile_program, dumps, loads

#: The folder of a store that the image of the site computers leaves alone.
SHELF = "<< shelf >>"


class Store:
    """A folder with plans. Trouble with the file system is not told: it only costs the time to compile."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._shelf = Path(root) / SHELF

    def plan(self, source: str) -> Plan:
        """The plan of a program's text. Raises SyntaxFault and CheckFault."""
        data = source.encode("utf-8")
        path = self._shelf / f"{hashlib.sha256(data).hexdigest()[:32]}.plan"
        found = _kept(path)
        if found is None:
            found = compile_program(parse(source))
            _keep(path, found)
        return found


def _kept(path: Path) -> Plan | None:
    """The plan in a file, if it is one that this frond could have made."""
    try:
        found = loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, FrondError):
        return None
    return found if (found.grammar, found.edition) == (VERSION, EDITION) else None


def _keep(path: Path, plan: Plan) -> None:
    fresh = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(dumps(plan), encoding="utf-8")
        fresh.replace(path)
    except OSError:
        return
