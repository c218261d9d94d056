"""What every probe of the self-check uses: the bench it works on and short ways to run code inside.

Invariant: a probe says what it saw, in one line and with nothing of the host that was not asked for; it never
decides by the word of one process alone where it can look at a second place.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from containers.sandbox import MIB, WORK, Limits, Mount, Result, Sandbox, Spec


@dataclass(frozen=True)
class Bench:
    """What is probed. `forbidden` are texts of the host that must not show inside; `starter` is Python source
    that binds `sandbox` to a new sandbox of the same kind in another process ("" = cannot be done)."""

    sandbox: Sandbox
    forbidden: tuple[str, ...] = ()
    starter: str = ""

    @cached_property
    def isolates(self) -> bool:
        """Whether this is a sandbox at all: an own user, host name, root and process namespace."""
        return inside(self, _BASICS) is None


@dataclass(frozen=True)
class Probe:
    """One question to a sandbox. `check` returns None when the answer is right, else what was seen. A `harmful`
    one floods, bombs or kills, and is only put to what isolates at all (`Bench.isolates`)."""

    name: str
    meaning: str
    check: Callable[[Bench], str | None]
    harmful: bool = False


#: Enough for every probe, small enough that a flood is over soon.
LIMITS = Limits(wall=20, memory=384 * MIB, processes=96, disk=32 * MIB, inodes=4000)


def run(bench: Bench, *command: str, stdin: bytes = b"", limits: Limits = LIMITS, **more: object) -> Result:
    """Run `command` in an empty writable work directory."""
    mounts: Mapping[str, Mount] = {WORK: Mount(writable=True)}
    spec = Spec(command=command, stdin=stdin, limits=limits, **({"mounts": mounts} | more))  # type: ignore[arg-type]
    return bench.sandbox.run(spec)


def python(bench: Bench, code: str, *args: str, stdin: bytes = b"", limits: Limits = LIMITS, **more: object) -> Result:
    """Run Python code inside."""
    return run(bench, "python3", "-c", code, *args, stdin=stdin, limits=limits, **more)


def inside(bench: Bench, code: str, *args: str, **more: object) -> str | None:
    """Run Python code that prints what is wrong; None when it ended well and printed only `fine`."""
    result = python(bench, code + "\nprint('fine')", *args, **more)  # type: ignore[arg-type]
    if result.exit == 0 and result.stdout == b"fine\n":
        return None
    return ended(result)


_BASICS = """
import os, socket
if os.getuid() != 1000 or socket.gethostname() != 'box' or os.access('/', os.W_OK): print('user, name or root')
if len([pid for pid in os.listdir('/proc') if pid.isdigit()]) > 8: print('processes of others')
"""


def ended(result: Result) -> str:
    """How a run ended, for the message of a probe."""
    text = result.stdout[-300:].decode("utf-8", "backslashreplace").replace("fine\n", "").strip()
    error = result.stderr[-300:].decode("utf-8", "backslashreplace").strip()
    return (
        f"exit={result.exit} signal={result.signal} timed_out={result.timed_out} hit={list(result.hit)} "
        f"stdout={text!r} stderr={error!r}"
    )


def tree(result: Result, path: str = WORK) -> dict[str, tarfile.TarInfo]:
    """name -> member of an exported tree."""
    with tarfile.open(fileobj=io.BytesIO(result.exports[path]), errors="surrogateescape") as tar:
        return {member.name.removeprefix("./"): member for member in tar}


def content(result: Result, name: str, path: str = WORK) -> bytes:
    """Content of one file of an exported tree."""
    with tarfile.open(fileobj=io.BytesIO(result.exports[path]), errors="surrogateescape") as tar:
        stream = tar.extractfile(name)
        return stream.read() if stream is not None else b""


def make_tar(files: Mapping[str, bytes]) -> bytes:
    """A tar stream of regular files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def first(*findings: str | None) -> str | None:
    """The first finding, or None."""
    return next((finding for finding in findings if finding), None)


def unless(fine: bool, seen: str) -> str | None:
    """None when `fine`, else what was seen."""
    return None if fine else seen
