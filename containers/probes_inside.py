"""Probes: the world that a command finds itself in."""

from __future__ import annotations

import time

from containers.probes_base import LIMITS, Bench, Probe, ended, first, inside, make_tar, python, run, unless
from containers.sandbox import Mount


def _user(bench: Bench) -> str | None:
    code = """
import grp, os, pwd
ids = {*os.getresuid(), *os.getresgid()}
if ids != {1000}: print('ids', ids)
if set(os.getgroups()) - {1000, 65534}: print('groups', os.getgroups())
if pwd.getpwuid(1000).pw_name != 'dev': print(pwd.getpwuid(1000))
if os.path.expanduser('~dev') != '/home/dev': print(os.path.expanduser('~dev'))
"""
    return inside(bench, code)


def _environment(bench: Bench) -> str | None:
    code = "import os; os.write(1, open('/proc/self/environ', 'rb').read())"
    result = python(bench, code, env={"ASKED": "x=y\n ü"})
    found = dict(pair.split("=", 1) for pair in result.stdout.decode().split("\0") if pair)
    wanted = {
        "PATH": "/tools/bin:/usr/bin:/bin",
        "HOME": "/home/dev",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "ASKED": "x=y\n ü",
    }
    found.pop("PWD", None)  # set by whoever changes the directory; says only what getcwd says
    return unless(found == wanted, f"environment {found}")


def _hostname(bench: Bench) -> str | None:
    return inside(bench, "import socket\nif socket.gethostname() != 'box': print(socket.gethostname())")


def _clock(bench: Bench) -> str | None:
    code = "import time; print(time.time(), time.strftime('%Z %z'), time.timezone)"
    before = time.time()
    words = python(bench, code).stdout.decode().split()
    if len(words) != 4 or not before - 5 < float(words[0]) < time.time() + 5:
        return f"clock {words} at {before}"
    return unless(words[1:] == ["UTC", "+0000", "0"], f"zone {words[1:]}")


def _locale(bench: Bench) -> str | None:
    code = """
import locale, sys
locale.setlocale(locale.LC_ALL, '')
seen = (locale.getlocale()[1], sys.getfilesystemencoding(), sys.stdout.encoding)
if {text.lower() for text in seen} != {'utf-8'}: print(seen)
"""
    return inside(bench, code)


def _directory(bench: Bench) -> str | None:
    mounts = {"/work": Mount(make_tar({"sub/file": b"x"}), writable=True)}
    result = run(bench, "sh", "-c", "pwd; ls", cwd="/work/sub", mounts=mounts)
    return unless(result.stdout == b"/work/sub\nfile\n", ended(result))


_SCRATCH = """
import os, sys
for place in ('/tmp', '/home/dev', '/work', '/dev/shm'):
    if not os.path.isdir(place): continue
    if os.listdir(place): print(place, 'has', os.listdir(place))
    if os.access(place, os.W_OK): open(place + '/marker', 'w').close()
"""


def _fresh(bench: Bench) -> str | None:
    return first(inside(bench, _SCRATCH), inside(bench, _SCRATCH))


def _fresh_ipc(bench: Bench) -> str | None:
    code = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for call in ('shmget', 'semget', 'msgget'):
    args = {'shmget': (7777, 4096), 'semget': (7777, 1), 'msgget': (7777,)}[call]
    if getattr(libc, call)(*args, 0o666) >= 0: print(call, 'found something')
    getattr(libc, call)(*args, 0o1666)
if os.path.isdir('/dev/mqueue') and os.listdir('/dev/mqueue'): print(os.listdir('/dev/mqueue'))
libc.mq_open(b'/marker', os.O_CREAT | os.O_RDWR, 0o666, None)
"""
    return first(inside(bench, code), inside(bench, code))


def _own_processes(bench: Bench) -> str | None:
    code = "import os\npids = [p for p in os.listdir('/proc') if p.isdigit()]\n"
    return inside(bench, code + "if len(pids) > 4: print(len(pids), 'processes')")


def _mounts_read(bench: Bench) -> str | None:
    files = {"plain": b"data", "deep/er/name with space\n": b"x", "b\udcff": b"raw"}
    code = """
import os, sys
place = sys.argv[1]
names = sorted(os.path.join(top, name)[len(place) + 1:] for top, _, names in os.walk(place) for name in names)
if names != ['b\\udcff', 'deep/er/name with space\\n', 'plain']: print(ascii(names))
if open(place + '/plain').read() != 'data': print('wrong content')
times = {os.lstat(os.path.join(top, name)).st_mtime for top, _, names in os.walk(place) for name in names}
if len(times) != 1 or min(times) > 1_800_000_000: print('times', times)
"""
    tar = make_tar(files)
    mounts = {"/work": Mount(tar, writable=True), "/task": Mount(tar)}
    return first(*(inside(bench, code, place, mounts=mounts) for place in mounts))


def _read_only_mount(bench: Bench) -> str | None:
    code = """
import os
acts = {
    'create': lambda: open('/task/new', 'w'), 'append': lambda: open('/task/file', 'a'),
    'unlink': lambda: os.unlink('/task/file'), 'rename': lambda: os.rename('/task/file', '/task/other'),
    'chmod': lambda: os.chmod('/task/file', 0o777), 'chmod top': lambda: os.chmod('/task', 0o777),
    'mkdir': lambda: os.mkdir('/task/sub/dir'), 'link': lambda: os.link('/task/file', '/task/link'),
    'utime': lambda: os.utime('/task/file'), 'truncate': lambda: os.truncate('/task/file', 0),
}
for name, act in acts.items():
    try: act()
    except OSError: continue
    print(name, 'worked')
if open('/task/file').read() != 'data': print('changed')
"""
    tar = make_tar({"file": b"data", "sub/x": b""})
    return inside(bench, code, mounts={"/work": Mount(writable=True), "/task": Mount(tar)})


def _tools(bench: Bench) -> str | None:
    def version(*command: str) -> str | None:
        result = run(bench, *command, "--version")
        return unless(result.exit == 0, f"{command}: {ended(result)}")

    tools = ("python", "python3", "pytest", "git", "/tools/bin/python", "/tools/bin/python3", "/tools/bin/pytest")
    return first(*(version(tool) for tool in tools))


_SESSION = """
set -e
git init -q . && git add -A
git -c user.name=a -c user.email=a@b commit -q -m first
test -z "$(git status --porcelain)"
pytest -q -p no:cacheprovider
git log --oneline | wc -l
"""


def _session(bench: Bench) -> str | None:
    code = b"def two():\n    return 2\n"
    files = {"calc.py": code, "test_calc.py": b"import calc\n\ndef test():\n    assert calc.two() == 2\n"}
    mounts = {"/work": Mount(make_tar(files), writable=True)}
    result = run(bench, "sh", "-c", _SESSION, mounts=mounts, limits=LIMITS.but(wall=60))
    fine = result.exit == 0 and b"1 passed" in result.stdout and result.stdout.endswith(b"1\n")
    return unless(fine, ended(result))


def _imports(bench: Bench) -> str | None:
    """The program that runs inside has no trace of the harness."""
    code = """
import importlib.util, sys
for name in ('containers', 'harness', 'traps', 'oracles', 'memory_probe', 'docker', 'pydantic', 'click'):
    if importlib.util.find_spec(name): print(name, 'can be imported')
"""
    return inside(bench, code)


def _exec_tmp(bench: Bench) -> str | None:
    script = "cd $1 && printf '#!/bin/sh\\necho ran' > s && chmod +x s && ./s"
    for place in ("/tmp", "/home/dev", "/work"):
        result = run(bench, "sh", "-c", script, "sh", place)
        if result.stdout != b"ran\n":
            return f"{place}: {ended(result)}"
    return None


PROBES = (
    Probe("user", "uid and gid 1000, no other group, named dev", _user),
    Probe("environment", "exactly the declared variables", _environment),
    Probe("hostname", "the host name is box", _hostname),
    Probe("clock", "the clock is right and the zone is UTC", _clock),
    Probe("locale", "UTF-8 everywhere", _locale),
    Probe("directory", "the command starts in its directory", _directory),
    Probe(
        "fresh-places", "HOME, /tmp and work are empty, and nothing is carried to the next run", _fresh, harmful=True
    ),
    Probe("fresh-ipc", "System V and POSIX queues are not carried to the next run", _fresh_ipc, harmful=True),
    Probe("own-processes", "only its own processes are visible", _own_processes),
    Probe("mounts", "trees arrive with their names, contents and one constant time", _mounts_read),
    Probe("read-only-mount", "a read-only tree cannot be changed in any way", _read_only_mount),
    Probe("tools", "python, pytest and git start", _tools),
    Probe("session", "a repository, a commit and a test run work", _session),
    Probe("no-harness", "nothing of the harness can be imported", _imports),
    Probe("scratch-executes", "scripts in scratch places can be executed", _exec_tmp),
)
