"""The conformance suite of sandboxes: the same questions to every implementation.

    run_selfcheck(sandbox, forbidden=host_strings(cache, run_directory))

Invariant: a probe that cannot be carried out has failed. There is no third state, so a suite that passes has
asked everything.
"""

from __future__ import annotations

import getpass
import os
import platform
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from containers import (
    probes_channel,
    probes_export,
    probes_host,
    probes_inside,
    probes_limits,
    probes_network,
    probes_process,
    probes_walls,
)
from containers.bubblewrap import BubblewrapSandbox
from containers.docker import DockerSandbox
from containers.probes_base import Bench, Probe
from containers.sandbox import Sandbox, SandboxError

PROBES: tuple[Probe, ...] = (
    *probes_process.PROBES,
    *probes_inside.PROBES,
    *probes_network.PROBES,
    *probes_walls.PROBES,
    *probes_limits.PROBES,
    *probes_export.PROBES,
    *probes_channel.PROBES,
    *probes_host.PROBES,
)
_SHORTEST = 4  # shorter words are found by chance
_COMMON = {"root", "home", "user", "admin", "box", "localhost", "work", "/", "/tmp", "/usr", "/root", "/home"}


@dataclass(frozen=True)
class ProbeResult:
    """The answer to one probe: `seen` is None when it passed, else one line; `seconds` is what it took."""

    name: str
    meaning: str
    seen: str | None
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the sandbox did what the probe asks for."""
        return self.seen is None


def host_strings(*paths: Path) -> tuple[str, ...]:
    """Texts of this host that must not show in a sandbox: `paths` (checkout, caches, run directory), this file's
    directory, the working directory, home, host name and user name; words that are found everywhere are left out."""
    own = [Path(__file__).resolve().parent.parent, Path.cwd(), Path.home()]
    words = {str(path.resolve()) for path in (*own, *paths)}
    words |= {platform.node(), getpass.getuser(), os.environ.get("SUDO_USER", "")}
    return tuple(sorted(word for word in words if len(word) >= _SHORTEST and word not in _COMMON))


def named(names: Collection[str] | None = None) -> tuple[Probe, ...]:
    """The probes with these names, in order; all for None. Raises ValueError for an unknown name."""
    if names is None:
        return PROBES
    if unknown := set(names) - {probe.name for probe in PROBES}:
        raise ValueError(f"unknown probes: {', '.join(sorted(unknown))}")
    return tuple(probe for probe in PROBES if probe.name in names)


def check_one(probe: Probe, bench: Bench) -> ProbeResult:
    """Carry out one probe. Anything that goes wrong in it is a failure of the sandbox, with its reason."""
    began = time.monotonic()
    try:
        safe = not probe.harmful or bench.isolates
        seen = probe.check(bench) if safe else "not tried: this is no sandbox, and the host would be harmed"
    except (SandboxError, OSError, LookupError, ValueError, TypeError, AttributeError) as error:
        seen = f"{type(error).__name__}: {error}"
    return ProbeResult(probe.name, probe.meaning, seen, time.monotonic() - began)


def starter_of(sandbox: Sandbox) -> str:
    """Python source that binds `sandbox` to a new one of the same kind in another process; "" for a kind that is
    not known here, whose probes of killed harnesses then fail."""
    if isinstance(sandbox, DockerSandbox):
        made = f"DockerSandbox({sandbox.image!r}, {sandbox.label!r})"
        return f"from containers.docker import DockerSandbox\nsandbox = {made}"
    if isinstance(sandbox, BubblewrapSandbox):
        tools = sandbox._toolchain  # there is no public name for it
        made = f"Toolchain(Path({str(tools.directory)!r}), {tools.digest!r}, {dict(tools.versions)!r})"
        lines = ["from pathlib import Path", "from containers.toolchain import Toolchain"]
        lines += ["from containers.bubblewrap import BubblewrapSandbox", f"sandbox = BubblewrapSandbox({made})"]
        return "\n".join(lines)
    return ""


def each(
    sandbox: Sandbox,
    names: Collection[str] | None = None,
    forbidden: Sequence[str] | None = None,
    starter: str | None = None,
) -> Iterator[ProbeResult]:
    """Like `run_selfcheck`, one result at a time."""
    words = host_strings() if forbidden is None else tuple(forbidden)
    bench = Bench(sandbox, words, starter_of(sandbox) if starter is None else starter)
    for probe in named(names):
        yield check_one(probe, bench)


def run_selfcheck(
    sandbox: Sandbox,
    names: Collection[str] | None = None,
    forbidden: Sequence[str] | None = None,
    starter: str | None = None,
) -> list[ProbeResult]:
    """Ask `sandbox` all probes, or those named.

    `forbidden` are texts of the host (default: `host_strings()`); `starter` is Python source that binds
    `sandbox` to a new sandbox of the same kind, for the probes that kill a harness (default: `starter_of`).
    """
    return list(each(sandbox, names, forbidden, starter))
