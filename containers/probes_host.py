"""Probes that look from the outside: what a sandbox leaves on the host, and what two of them share.

They need a host with /proc for the look at processes and mounts; without it they say so.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from containers.docker_neighbours import foreign_mounts
from containers.probes_base import LIMITS, Bench, Probe, ended, python, run, unless
from containers.sandbox import Mount, SandboxError, Spec

_PATIENCE = 8.0  # seconds for the kernel and an engine to finish what a dead harness left


def _processes(marker: str) -> list[str]:
    """Processes of this machine whose arguments have the marker."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue  # it ended while we looked
    return [pid for pid in found if int(pid) != os.getpid()]


def _mounts() -> set[str]:
    return {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}


def _soon(look: Callable[[], list[str]]) -> list[str]:
    """The findings, once they are gone or patience is."""
    deadline = time.monotonic() + _PATIENCE
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def _mounts_left(before: set[str], label: str = "") -> list[str]:
    """The mounts that are new at this moment, stay, and are not those of other programs' containers.

    What is mounted later cannot be the probe's: its runs are over. `label` is that of our own containers.
    """
    left = _mounts() - before
    here = _soon(lambda: sorted(left & _mounts()))
    return sorted(set(here) - foreign_mounts(label, here)) if here else []


def _label(bench: Bench) -> str:
    """The label of the sandbox's containers; "" for one that has none."""
    return str(getattr(bench.sandbox, "label", ""))


def _nothing_left(bench: Bench) -> str | None:
    run(bench, "true")  # what is kept for the next run (a warm helper) is there now
    marker = f"7{secrets.randbelow(10**9):09d}"
    before = _mounts()
    for command in (f"sleep {marker} & true", f"sleep {marker} & exit 3", f"sleep {marker} & kill -9 $$"):
        run(bench, "sh", "-c", command)
    run(bench, "sh", "-c", f"setsid sleep {marker} & sleep {marker}", limits=LIMITS.but(wall=0.5))
    left = _processes(marker)
    if left:
        return f"processes {left} are alive after the return"
    mounts = _mounts_left(before, _label(bench))
    return unless(not mounts, f"mounts {mounts[:5]}")


def _nothing_left_of_failure(bench: Bench) -> str | None:
    """A mount that is no tar is our own fault: an error, and nothing left of it."""
    before = _mounts()
    try:
        bench.sandbox.run(Spec(command=("true",), mounts={"/work": Mount(b"no tar" * 200, writable=True)}))
    except SandboxError:
        mounts = _mounts_left(before, _label(bench))
        return unless(not mounts, f"mounts {mounts[:5]}") or _alive(bench)
    return "a mount that is no tar stream raised nothing"


def _alive(bench: Bench) -> str | None:
    result = run(bench, "echo", "alive")
    return unless(result.stdout == b"alive\n", ended(result))


_HARNESS = """
import sys
sys.path[:0] = {path!r}
{starter}
from containers.sandbox import Limits, Mount, Spec
print("ready", flush=True)
spec = Spec(command=("sh", "-c", "setsid sleep $0 & sleep $0", {marker!r}), limits=Limits(wall={wall}),
            mounts={{"/work": Mount(writable=True), "/task": Mount()}})
sandbox.run(spec)
sandbox.close()
print("closed", flush=True)
"""


def _harness(bench: Bench, marker: str, scratch: str, wall: float) -> subprocess.Popen[str]:
    code = _HARNESS.format(path=sys.path, starter=bench.starter, marker=marker, wall=wall)
    env = {**os.environ, "TMPDIR": scratch}
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)


def _wait_for(look: Callable[[], list[str]], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not look():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _killed_harness(bench: Bench) -> str | None:
    if not bench.starter:
        return "cannot be probed: no starter was given"
    marker = f"8{secrets.randbelow(10**9):09d}"
    before = _mounts()
    with tempfile.TemporaryDirectory() as scratch:
        with _harness(bench, marker, scratch, 60) as harness:
            running = _wait_for(lambda: [p for p in _processes(marker) if p != str(harness.pid)][1:], 20)
            harness.send_signal(signal.SIGKILL)
        if not running:
            return "the harness did not start a sandbox within 20 s"
        processes = _soon(lambda: _processes(marker))
        mounts = _mounts_left(before, _label(bench))
        files = os.listdir(scratch)
    return unless(not (processes or mounts or files), f"processes {processes}, mounts {mounts[:5]}, files {files[:5]}")


def _closed_harness(bench: Bench) -> str | None:
    if not bench.starter:
        return "cannot be probed: no starter was given"
    marker = f"9{secrets.randbelow(10**9):09d}"
    before = _mounts()
    with tempfile.TemporaryDirectory() as scratch:
        with _harness(bench, marker, scratch, 0.5) as harness:
            said = harness.stdout.read() if harness.stdout else ""
        processes = _soon(lambda: _processes(marker))
        mounts = _mounts_left(before, _label(bench))
        files = os.listdir(scratch)
    fine = said.split() == ["ready", "closed"] and not (processes or mounts or files)
    return unless(fine, f"said {said!r}, processes {processes}, mounts {mounts[:5]}, files {files[:5]}")


_NEIGHBOUR = """
import os, socket, sys, time
open('/tmp/' + sys.argv[1], 'w').close(); open('/work/' + sys.argv[1], 'w').close()
server = socket.create_server(('127.0.0.1', 5555))
hidden = socket.socket(socket.AF_UNIX); hidden.bind('\\0neighbour'); hidden.listen()
time.sleep(0.7)
if os.listdir('/tmp') != [sys.argv[1]] or os.listdir('/work') != [sys.argv[1]]: print('files are shared')
server.settimeout(0.01)
try: server.accept(); print('somebody connected')
except OSError: pass
pids = [p for p in os.listdir('/proc') if p.isdigit()]
if len(pids) > 4: print(len(pids), 'processes')
print('fine')
"""


def _parallel(bench: Bench) -> str | None:
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda name: python(bench, _NEIGHBOUR, name), ("one", "two", "three")))
    bad = [ended(result) for result in results if result.stdout != b"fine\n" or result.exit != 0]
    return unless(not bad, "; ".join(bad))


def _describe(bench: Bench) -> str | None:
    said = bench.sandbox.describe()
    text = " ".join(f"{key} {value}" for key, value in said.items())
    found = [word for word in bench.forbidden if word in text]
    return unless(bool(said) and not found, f"{dict(said)} has {found}")


PROBES = (
    Probe("nothing-left", "no process and no mount is left after runs that end in every way", _nothing_left),
    Probe("nothing-left-error", "an error of ours leaves nothing, and the next run works", _nothing_left_of_failure),
    Probe("nothing-left-close", "a harness that ends leaves nothing on the host", _closed_harness),
    Probe("nothing-left-kill", "a harness that is killed leaves nothing on the host", _killed_harness),
    Probe("parallel", "three runs at once share no file, port, socket or process", _parallel),
    Probe("describe", "the sandbox says what it is, without a path of the host", _describe),
)
