"""`doctor` and `clean`: what works on this machine, and what a run left behind."""

from __future__ import annotations

import json
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from containers.building import pip_command
from containers.layer_build import own_version
from containers.relay import check as check_relay
from containers.sandbox import TOOLS, SandboxError
from harness.agents import WITH_MODEL
from harness.agents.catalog import entry_of
from harness.boxes import open_sandbox
from harness.config import load
from harness.outcome import COMPLETE, REJECTED
from harness.rundir import RunDir


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    works: bool
    detail: str
    needed: bool = True


@click.command()
@click.option("--full", is_flag=True, help="Run the whole sandbox self-check (about half a minute each).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(full: bool, as_json: bool) -> int:
    """What works here, and the remedy for what does not. Exit 3 when no sandbox can work."""
    found = [_python(), _git(), *_sandboxes(full), *_installers(), *_agents()]
    if as_json:
        click.echo(json.dumps([f.__dict__ for f in found], indent=1))
    else:
        for finding in found:
            click.echo(f"{'ok  ' if finding.works else 'no  '}{finding.what}: {finding.detail}")
    usable = any(f.works for f in found if f.what in ("bubblewrap", "docker"))
    return COMPLETE if usable and all(f.works for f in found if f.needed) else REJECTED


def _python() -> Finding:
    detail = f"{platform.python_version()} on {platform.system()} {platform.release()} {platform.machine()}"
    return Finding("python", sys.version_info >= (3, 11), f"{detail}; {_prefix()}")


def _prefix() -> str:
    """The one exception to "no host path inside": the interpreter's compiled-in prefix, where it cannot be hidden."""
    prefix = sys.base_prefix
    if prefix in ("/usr", "/usr/local") or len(prefix) < len(TOOLS):
        return f"one host path shows in the sandbox, the interpreter's compiled-in prefix {prefix}"
    return "its compiled-in prefix is rewritten in the sandbox"


def _git() -> Finding:
    where = shutil.which("git")
    return Finding("git", bool(where), where or "not installed (remedy: install git)")


def _sandboxes(full: bool) -> list[Finding]:
    from containers.bubblewrap import check as check_bubblewrap
    from containers.docker import check as check_docker

    found = []
    for name, check in (("bubblewrap", check_bubblewrap), ("docker", check_docker)):
        problem = check()
        found.append(Finding(name, not problem, problem or "ready", needed=False))
        if full and not problem:
            found.append(_selfcheck(name))
    return found


def _installers() -> list[Finding]:
    """What agents that call a model take: the way to it, and what installs their programs."""
    relay, npm = check_relay(), shutil.which("npm")
    try:
        pip = Finding("pip", True, " ".join(pip_command()), needed=False)
    except SandboxError as error:
        pip = Finding("pip", False, str(error), needed=False)
    return [
        Finding("relay", not relay, relay or "ready", needed=False),
        pip,
        Finding("npm", bool(npm), npm or "not installed (remedy: apt-get install -y npm)", needed=False),
    ]


def _agents() -> list[Finding]:
    """Whether the programs of each are installed, for the embedded sandbox; nothing is built."""
    config, found = load(None), []
    for entry in (entry_of(name, config) for name in WITH_MODEL):
        if entry.needs.recipe is None:
            there, detail = True, "needs no programs"
        elif there := entry.layer(config.cache_dir, own_version()) is not None:
            detail = f"{', '.join(entry.pins)} installed"
        else:
            detail = f"not installed (remedy: dreambench agents --install {entry.name})"
        found.append(Finding(f"agent {entry.name}", there, detail, needed=False))
    return found


def _selfcheck(name: str) -> Finding:
    from containers.selfcheck import run_selfcheck

    with open_sandbox(load(None, [f"sandbox={name}"]), "doctor") as box:
        results = run_selfcheck(box)
    bad = [f"{r.name}: {r.seen}" for r in results if r.seen is not None]
    return Finding(
        f"{name} self-check", not bad, f"{len(results) - len(bad)} of {len(results)} probes; " + "; ".join(bad)
    )


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="RUN")
def clean(folder: Path) -> int:
    """Remove what an interrupted run left behind: its containers (by its label) and its scratch stores.

    Results are never touched, nor is anything of another run.
    """
    home = RunDir.open(folder)
    home.lock()
    try:
        label = home.description().label
        scratch = home.sweep()
        removed = _containers(label)
    finally:
        home.unlock()
    click.echo(f"{scratch} scratch stores and {removed} containers removed")
    return COMPLETE


def _containers(label: str) -> int:
    from containers import docker

    if docker.check():
        return 0
    sweep: Callable[[str], int] = docker.sweep
    return sweep(label)
