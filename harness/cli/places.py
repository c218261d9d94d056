"""What the commands over traps share: where traps and oracles lie, which are meant, in which sandbox.

Invariant: a trap that cannot be read ends a command with one message and the exit code of a rejection.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from harness.config import RunConfig, load
from harness.outcome import REJECTED, UsageFault
from harness.plan import select
from traps.hosted import HostedError
from traps.load import Trap
from traps.schema import TrapError

folder = click.Path(path_type=Path)


def places(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where traps and oracles lie."""
    for name in ("oracles", "traps"):
        text = f"{name.capitalize()} folder (default: ours)."
        command = click.option(f"--{name}", f"{name}_dir", type=folder, help=text)(command)
    return command


def which(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which traps, and in which sandbox."""
    command = click.option("--sandbox", default="bubblewrap", help="bubblewrap or docker.")(command)
    command = click.option("--all", "every", is_flag=True, help="Every trap found.")(command)
    return click.argument("ids", nargs=-1, metavar="[TRAP]...")(command)


def placed(traps_dir: Path | None, oracles_dir: Path | None, ids: tuple[str, ...] = (), *words: str) -> RunConfig:
    """The configuration for these traps (none named: all found)."""
    given = {k: str(v) for k, v in (("traps_dir", traps_dir), ("oracles_dir", oracles_dir)) if v is not None}
    return load(None, words, {"traps": list(ids), **given})


def wanted(ids: tuple[str, ...], every: bool, sandbox: str, traps: Path | None, oracles: Path | None) -> RunConfig:
    """The same for a command that wants traps named. Raises UsageFault when neither ids nor --all are given."""
    if not ids and not every:
        raise UsageFault("name a trap, or --all")
    return placed(traps, oracles, ids, f"sandbox={sandbox}")


def selected(config: RunConfig) -> dict[str, Trap]:
    """The traps by id. Raises UsageFault for one that cannot be read."""
    try:
        return select(config, config.cache_dir)
    except (TrapError, HostedError) as error:
        raise UsageFault(str(error), REJECTED) from error
