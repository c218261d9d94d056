"""Probes: what happens when something inside takes too much."""

from __future__ import annotations

import time

from containers.probes_base import LIMITS, Bench, Probe, ended, first, inside, python, run, unless
from containers.sandbox import MIB

_FORK_BOMB = """
import os, time
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            time.sleep(60); os._exit(0)
        made += 1
except OSError:
    pass
print(made)
"""


def _fork_bomb(bench: Bench) -> str | None:
    began = time.monotonic()
    result = python(bench, _FORK_BOMB, limits=LIMITS.but(processes=64))
    took = time.monotonic() - began
    made = int(result.stdout.strip() or b"-1") if result.stdout.strip().isdigit() else -1
    return unless(0 <= made <= 64 and took < 10, f"{made} processes, {took:.1f} s, {ended(result)}")


def _wild_fork_bomb(bench: Bench) -> str | None:
    began = time.monotonic()
    result = run(bench, "sh", "-c", "f() { f | f & }; f; sleep 30", limits=LIMITS.but(processes=64, wall=2))
    took = time.monotonic() - began
    return unless(took < 12 and (result.timed_out or result.exit != 0), f"{took:.1f} s, {ended(result)}")


_HOG = """
import mmap, sys
taken = []
for _ in range(1024):
    area = mmap.mmap(-1, 1 << 20)
    area.write(b'x' * (1 << 20))
    taken.append(area)
print('took 1 GiB')
"""


def _memory_bomb(bench: Bench) -> str | None:
    result = python(bench, _HOG, limits=LIMITS.but(memory=192 * MIB))
    held = result.exit != 0 and b"took" not in result.stdout
    return unless(held and "memory" in result.hit and not result.timed_out, ended(result))


def _memory_of_all(bench: Bench) -> str | None:
    """Four processes that each stay below the limit, where the host says that it limits them together."""
    code = _HOG.replace("1024", "100").replace("print('took 1 GiB')", "print('held'); sys.stdout.flush(); input()")
    script = f'for i in 1 2 3 4; do sleep 2 | python3 -c "{code}" & done; wait'
    result = run(bench, "sh", "-c", script, limits=LIMITS.but(memory=256 * MIB, wall=10))
    if result.active.get("memory") not in ("cgroup", "watchdog"):
        return None
    return unless(result.stdout.count(b"held") < 4 or "memory" in result.hit, ended(result))


def _next_after_memory(bench: Bench) -> str | None:
    python(bench, _HOG, limits=LIMITS.but(memory=128 * MIB))
    result = run(bench, "echo", "alive")
    return unless(result.stdout == b"alive\n", ended(result))


_FILL = """
import errno, os, sys
written = 0
try:
    with open(sys.argv[1] + '/flood', 'wb', buffering=0) as file:
        for _ in range(200):
            written += file.write(b'x' * (1 << 20))
except OSError as error:
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG): print(error)
if not written: print('nothing could be written')
if written > 40 << 20: print('wrote', written)
"""


def _disk_flood(bench: Bench) -> str | None:
    def flood(place: str) -> str | None:
        found = inside(bench, _FILL, place)
        return f"{place}: {found}" if found else None

    return first(*map(flood, ("/work", "/tmp", "/home/dev")))


def _disk_said(bench: Bench) -> str | None:
    result = python(bench, _FILL, "/work")
    return unless("disk" in result.hit, ended(result))


_MANY = """
import os, sys
made = 0
try:
    for number in range(20000):
        os.close(os.open(f'{sys.argv[1]}/{number}', os.O_CREAT | os.O_WRONLY)); made += 1
except OSError:
    pass
if not 500 < made < 5000: print('made', made)
"""


def _inode_flood(bench: Bench) -> str | None:
    def flood(place: str) -> str | None:
        found = inside(bench, _MANY, place)
        return f"{place}: {found}" if found else None

    return first(*map(flood, ("/work", "/tmp", "/home/dev")))


_OTHER_PLACES = """
import os
places = []
for top, names, _ in os.walk('/'):
    if top == '/': names[:] = [name for name in names if name not in ('proc', 'sys')]
    if not os.access(top, os.W_OK): continue
    try: os.close(os.open(top + '/probe', os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except OSError: continue
    os.unlink(top + '/probe'); places.append(top); names.clear()
    if len(places) > 20: break
allowed = {'/work', '/tmp', '/home/dev', '/dev/shm', '/dev/mqueue'}
if set(places) - allowed: print('writable:', sorted(set(places) - allowed)[:10])
"""


def _writable_places(bench: Bench) -> str | None:
    return inside(bench, _OTHER_PLACES)


def _shared_memory(bench: Bench) -> str | None:
    code = """
import os
if not os.access('/dev/shm', os.W_OK): print('fine'); raise SystemExit
space = os.statvfs('/dev/shm')
if space.f_frsize * space.f_blocks > 64 << 20: print('a quota of', space.f_frsize * space.f_blocks)
"""
    return inside(bench, code)


def _cores(bench: Bench) -> str | None:
    code = """
import os, resource, signal
soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
if not (0 <= soft <= 1 and 0 <= hard <= 1): print('RLIMIT_CORE', soft, hard)
child = os.fork()
if child == 0: os.kill(os.getpid(), signal.SIGSEGV)
os.waitpid(child, 0)
if os.listdir('.'): print(os.listdir('.'))
"""
    return inside(bench, code)


def _active(bench: Bench) -> str | None:
    result = run(bench, "true")
    wanted = {"wall", "memory", "processes", "output", "disk", "inodes"}
    known = {"cgroup", "rlimit", "tmpfs", "watchdog", "none"}
    missing, odd = wanted - set(result.active), set(result.active.values()) - known
    return unless(not missing and not odd, f"missing {sorted(missing)}, odd {sorted(odd)}")


PROBES = (
    Probe("fork-bomb", "the number of processes is limited", _fork_bomb, harmful=True),
    Probe("fork-bomb-wild", "a fork bomb is dead soon after the wall limit", _wild_fork_bomb, harmful=True),
    Probe("memory-bomb", "memory is limited, and the hit is said", _memory_bomb, harmful=True),
    Probe(
        "memory-of-all",
        "memory of all processes together is limited where that is claimed",
        _memory_of_all,
        harmful=True,
    ),
    Probe("memory-next", "the next run is not hurt by a memory bomb", _next_after_memory, harmful=True),
    Probe("disk-flood", "every writable place has a quota on bytes", _disk_flood, harmful=True),
    Probe("disk-said", "a full disk is said in the result", _disk_said, harmful=True),
    Probe("inode-flood", "every writable place has a quota on files", _inode_flood, harmful=True),
    Probe("writable-places", "nothing else is writable", _writable_places, harmful=True),
    Probe("shared-memory", "shared memory has a quota", _shared_memory),
    Probe("core-dumps", "a crash leaves no core", _cores),
    Probe("active-limits", "the result says how each limit is enforced", _active),
)
