"""Everything that a program can see from where it runs, as named pieces of bytes.

Standard library only. Nothing here says what the program is looked at for: its own text is among the pieces.
"""

from __future__ import annotations

import base64
import grp
import json
import locale
import os
import platform
import pwd
import re
import resource
import stat
import subprocess
import sys
import sysconfig
import time
import zlib
from collections.abc import Callable, Iterator

SMALL = 256 << 10  # bytes of a file that is read whole
MEMORY = 48 << 20  # bytes read of the memory of one other process
SHARED = ("/usr", "/tools")  # large and the same everywhere: looked through only when asked to
GIT = (
    ("log", "--all", "--format=raw", "-p"),
    ("reflog", "--all"),
    ("config", "--list", "--show-origin"),
    ("for-each-ref",),
    ("stash", "list"),
    ("notes", "list"),
    ("remote", "-v"),
    ("fsck", "--unreachable", "--no-progress"),
    ("cat-file", "--batch-all-objects", "--batch"),
)

Pieces = dict[str, bytes]


def look(how: str = "") -> Pieces:
    """All pieces; "whole": also the names below /usr and /tools; "bare": without files."""
    pieces: Pieces = {}
    for name, part in (
        ("self", _self),
        ("system", _system),
        ("git", _git),
        ("kernel", _kernel),
        ("processes", _processes),
        ("files", lambda: _files(how == "whole") if how != "bare" else iter(())),
    ):
        try:
            for label, data in part():
                pieces[f"{name} {label}"] = data
        except OSError as error:
            pieces[f"{name} error"] = str(error).encode()
    return pieces


def packed(how: str = "") -> bytes:
    """The pieces as compressed JSON."""
    text = json.dumps({label: data.decode("latin-1") for label, data in look(how).items()})
    return zlib.compress(text.encode(), 1)


def spoken(data: bytes) -> str:
    """Packed pieces as one word."""
    return "SEEN<" + base64.b64encode(data).decode() + ">"


def now() -> str:
    """What a call sees."""
    return spoken(packed())


def first() -> str:
    """What was seen when this module was first imported (only where `FIRST` is set)."""
    return spoken(FIRST)


def left(path: str) -> str:
    """What another process left in a file."""
    with open(path, "rb") as file:
        return spoken(file.read())


def _self() -> Iterator[tuple[str, bytes]]:
    yield "environ", b"\n".join(k + b"=" + v for k, v in os.environb.items())
    yield "arguments", "\n".join([*sys.argv, *sys.orig_argv]).encode()
    yield "python", "\n".join([*sys.path, sys.prefix, sys.base_prefix, sys.executable, str(sys.flags)]).encode()
    yield "modules", "\n".join(f"{n} {getattr(m, '__file__', '')}" for n, m in list(sys.modules.items())).encode()
    yield "sysconfig", json.dumps([sysconfig.get_paths(), sysconfig.get_config_vars()], default=str).encode()
    yield "place", f"{os.getcwd()} {os.getuid()} {os.getgid()} {os.getgroups()}".encode()
    yield "descriptors", "\n".join(_descriptors()).encode()
    limits = {n: resource.getrlimit(getattr(resource, n)) for n in dir(resource) if n.startswith("RLIMIT_")}
    yield "limits", json.dumps(limits).encode()


def _descriptors() -> Iterator[str]:
    for name in os.listdir("/proc/self/fd"):
        try:
            kind = stat.S_IFMT(os.fstat(int(name)).st_mode)
            yield f"{name} {kind:o} {os.readlink('/proc/self/fd/' + name)}"
        except OSError:
            continue


def _system() -> Iterator[tuple[str, bytes]]:
    yield "uname", " ".join([*platform.uname(), *os.uname()]).encode()
    yield "users", "\n".join(map(str, [*pwd.getpwall(), *grp.getgrall()])).encode()
    yield "locale", f"{locale.getlocale()} {locale.setlocale(locale.LC_ALL)} {time.tzname}".encode()


def _git() -> Iterator[tuple[str, bytes]]:
    if not os.path.isdir("/work/.git"):
        return
    for words in GIT:
        done = subprocess.run(["git", "-C", "/work", *words], capture_output=True, timeout=20)
        yield " ".join(words), done.stdout + done.stderr


def _kernel() -> Iterator[tuple[str, bytes]]:
    yield from _texts(
        "/proc", lambda path: not re.match(r"/proc/(\d+|self|thread-self|bus|fs|irq|driver|acpi)\b", path)
    )
    yield from _texts("/proc/self/net", lambda path: True)
    yield from _texts("/sys", lambda path: path.count("/") < 4)


def _processes() -> Iterator[tuple[str, bytes]]:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        base = f"/proc/{pid}"
        for name in ("cmdline", "comm", "environ", "maps", "mountinfo", "cgroup", "status", "limits", "stat", "auxv"):
            data = _read(f"{base}/{name}")
            if data is not None:
                yield f"{pid} {name}", data
        yield f"{pid} links", "\n".join(_links(base)).encode()
        if int(pid) != os.getpid():
            yield f"{pid} memory", b"\n".join(dict.fromkeys(_memory(base)))


def _links(base: str) -> Iterator[str]:
    names = ["cwd", "exe", "root"]
    for folder in ("fd", "map_files", "ns"):
        try:
            names += [f"{folder}/{n}" for n in os.listdir(f"{base}/{folder}")]
        except OSError:
            continue
    for name in names:
        try:
            yield f"{name} {os.readlink(f'{base}/{name}')}"
        except OSError:
            continue


def _memory(base: str) -> Iterator[bytes]:
    """Printable runs in the memory of a process, where the kernel lets us read it."""
    budget = MEMORY
    try:
        with open(f"{base}/maps") as maps, open(f"{base}/mem", "rb", 0) as memory:
            for line in maps:
                place, rights, *_ = line.split()
                start, end = (int(n, 16) for n in place.split("-"))
                if rights[:2] != "rw" or end - start > budget:
                    continue
                budget -= end - start
                try:
                    memory.seek(start)
                    runs = re.findall(rb"[\x20-\x7e]{8,}", memory.read(end - start))
                    # Without what this module has answered before.
                    yield from (re.sub(rb"[A-Za-z0-9+/]{2000,}", b"<long>", run) for run in runs)
                except (OSError, OverflowError, ValueError):
                    continue
    except OSError:
        return


def _texts(top: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    for folder, folders, names in os.walk(top):
        folders[:] = [n for n in folders if wanted(f"{folder}/{n}")]
        for name in names:
            path = f"{folder}/{name}"
            if wanted(path) and (data := _read(path)) is not None:
                yield path, data


def _files(whole: bool) -> Iterator[tuple[str, bytes]]:
    names: dict[str, list[str]] = {"": []}
    dates = []
    for folder, folders, files in os.walk("/"):
        top = next((t for t in SHARED if folder == t or folder.startswith(t + "/")), "")
        if (top and not whole) or folder in ("/proc", "/sys"):
            folders.clear()
            continue
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            found = os.lstat(path)
            target = os.readlink(path) if stat.S_ISLNK(found.st_mode) else ""
            names.setdefault(top, []).append(f"{path} {found.st_mode:o} {found.st_uid} {found.st_gid} {target}")
            if folder.startswith(("/work", "/task", "/agent", "/memory")):
                dates.append(f"{found.st_mode:o} {found.st_mtime_ns} {path}")
            if not top and stat.S_ISREG(found.st_mode) and (data := _read(path)) is not None:
                yield f"content {path}", data
    for top, lines in names.items():
        yield f"names {top or '/'}", "\n".join(lines).encode("utf-8", "surrogateescape")
    yield "dates", "\n".join(dates).encode("utf-8", "surrogateescape")


def _read(path: str) -> bytes | None:
    """A small file, or None. Never waits: sources of events are opened without blocking."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return os.read(handle, SMALL)
    except OSError:
        return None
    finally:
        os.close(handle)


FIRST = packed() if __name__ == "mini.seen" else b""

if __name__ == "__main__":
    with open(sys.argv[1], "wb") as out:
        out.write(packed(*sys.argv[2:3]))
