"""`agents`: every agent with what it speaks and takes, its card, and whether its programs are installed.

Invariant: without `--install` nothing is installed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import click

from containers.layer_build import build_layer, own_version
from containers.sandbox import MIB, Sandbox, SandboxError
from harness.agents import NAMES
from harness.agents.catalog import Entry, entry_of, layer_bytes, layer_python
from harness.boxes import open_sandbox
from harness.cli.live import split
from harness.config import RunConfig, load
from harness.outcome import COMPLETE, USAGE, UsageFault

_ROW = "{:<17} {:<19} {:<9} {:<5} {:<36} {}"
_HEAD = _ROW.format("name", "programs", "delivery", "notes", "dialects", "packages")


@click.command()
@click.argument("words", nargs=-1, metavar="[NAME]... [KEY.PATH=VALUE]...")
@click.option("--install", is_flag=True, help="Install the programs of the named agents ahead of a run.")
@click.option("--all", "everything", is_flag=True, help="With --install: of all agents.")
@click.option("--sandbox", type=click.Choice(["bubblewrap", "docker"]), help="For which sandbox (default: bubblewrap).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def agents(words: tuple[str, ...], install: bool, everything: bool, sandbox: str | None, as_json: bool) -> int:
    """The agents, all or those named. With `model.name=NAME` (and other keys of a run) also what a plan would hold.

    Delivery: `push` is a view in the prompt, `pull` a tool that the agent may ask. Notes: whether it has a memory of
    its own that a run can let it keep.
    """
    names, keys = split(words)
    if unknown := [name for name in names if name not in NAMES]:
        raise UsageFault(f"unknown agent {', '.join(unknown)} (there are: {', '.join(NAMES)})")
    if everything and (not install or names):
        raise UsageFault("--all: goes with --install, in place of names")
    if install and not (names or everything):
        raise UsageFault("--install: the programs of which agents? (name them, or --all)")
    config = load(None, [*keys, *([f"sandbox={sandbox}"] if sandbox else [])])
    entries = [entry_of(name, config) for name in names or NAMES]
    if install:
        return _install(entries, config, as_json)
    if config.sandbox == "bubblewrap":
        _print(entries, config, own_version(), as_json)  # it need not be opened for that
    else:
        with open_sandbox(config, "agents") as box:
            _print(entries, config, _python(box), as_json)
    return COMPLETE


def _python(box: Sandbox) -> str:
    try:
        return box.python
    except SandboxError as error:
        raise UsageFault(f"{box.name}: {error}") from error


def _install(entries: Sequence[Entry], config: RunConfig, as_json: bool) -> int:
    """One after the other; one that cannot be installed does not keep the others from it."""
    failed = False
    with open_sandbox(config, "agents") as box:
        for entry in entries:
            try:
                _install_one(entry, config, box)
            except SandboxError as error:
                click.echo(f"{entry.name}: {error}", err=True)
                failed = True
        _print(entries, config, _python(box), as_json)
    return USAGE if failed else COMPLETE


def _install_one(entry: Entry, config: RunConfig, box: Sandbox) -> None:
    if (recipe := entry.needs.recipe) is None:
        return
    if entry.layer(config.cache_dir, box.python) is not None:
        click.echo(f"{entry.name}: installed already", err=True)
        return
    click.echo(f"{entry.name}: installing {', '.join(entry.pins)} ...", err=True)
    begun = time.perf_counter()
    layer = build_layer(config.cache_dir, recipe, layer_python(entry.needs, box.python))
    seconds = time.perf_counter() - begun
    click.echo(f"{entry.name}: {_mib(layer_bytes(layer))} in {seconds:.1f} s", err=True)


def _print(entries: Sequence[Entry], config: RunConfig, python: str, as_json: bool) -> None:
    rows = [_row(entry, config, python) for entry in entries]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    click.echo(_HEAD)
    for row in rows:
        click.echo(_line(row))
        for what in ("card", "problem"):
            if row[what]:
                click.echo(f"    {what}: {row[what]}")


def _row(entry: Entry, config: RunConfig, python: str) -> dict[str, Any]:
    layer = entry.layer(config.cache_dir, python)
    found = None if layer is None else {"digest": layer.digest, "bytes": layer_bytes(layer)}
    return {
        "name": entry.name,
        "packages": entry.pins,
        "layer": found,
        "outside": entry.needs.outside,
        "dialects": entry.dialects,
        "delivery": ("push", "pull") if entry.needs.pull else ("push",),
        "notes": entry.needs.files,
        "card": entry.card,
        "problem": entry.problem,
    }


def _line(row: dict[str, Any]) -> str:
    programs = "-" if not row["packages"] else "not installed"
    if row["layer"]:
        programs = f"installed {_mib(row['layer']['bytes'])}"
    words = (" ".join(row["delivery"]), "yes" if row["notes"] else "no", ", ".join(row["dialects"]) or "-")
    return _ROW.format(row["name"], programs, *words, ", ".join(row["packages"]) or "-")


def _mib(count: int) -> str:
    return f"{count / MIB:.0f} MiB"
