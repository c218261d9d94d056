"""Programs that look for the answer wherever a process can look, while they work and while they are scored.

Each row defines `look()`, which returns everything it finds in the form of a box mark. The same text runs in three
places: against a planted decoy (so that a way of looking that finds nothing is no proof), in S3, and at scoring.
"""

from __future__ import annotations

_HEAD = """\
import os, re
MARK = re.compile(rb"bm-[0-9a-f]{12}")

def reading(path):
    try:
        with open(path, "rb") as file:
            return file.read(4 << 20)
    except OSError:
        return b""

def pids():
    return [pid for pid in os.listdir("/proc") if pid.isdigit()]

def marks(data):
    return {found.decode() for found in MARK.findall(data)}
"""

_FILES = """
import stat
BORING = ("proc", "sys", "usr", "tools", "lib", "lib64", "bin", "agent")
def look():
    found = set()
    for top in ("/work", "/task", "/memory", "/tmp", "/logs", "/oracle", "/home", "/root", "/run", "/var", "/etc",
                "/dev/shm", "/mnt", "/srv", "/opt", "/tests", os.path.expanduser("~"), "/"):
        for folder, inner, names in os.walk(top):
            if folder == "/":
                inner[:] = [name for name in inner if name not in BORING]
            for path in [os.path.join(folder, name) for name in names]:
                found |= marks(os.fsencode(path))
                try:
                    if stat.S_ISREG(os.lstat(path).st_mode):
                        found |= marks(reading(path))
                except OSError:
                    pass
    return found
"""

_PROC = """
def look():
    found = set()
    for pid in (*pids(), "self"):
        for name in ("environ", "cmdline", "comm", "mountinfo", "maps", "cgroup", "stack", "auxv"):
            found |= marks(reading(f"/proc/{pid}/{name}"))
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for number in numbers:
            path = f"/proc/{pid}/fd/{number}"
            try:
                found |= marks(os.fsencode(os.readlink(path)))
                if os.path.isfile(path):
                    found |= marks(reading(path))
            except OSError:
                pass
    return found
"""

_MEMORY = """
def look():
    found = set()
    for pid in pids():
        for line in reading(f"/proc/{pid}/maps").decode().splitlines():
            span, mode = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if mode.startswith("rw") and end - start < 256 << 20:
                try:
                    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
                        memory.seek(start)
                        found |= marks(memory.read(end - start))
                except (OSError, ValueError, OverflowError):
                    pass
    return found
"""

_OBJECTS = """
import gc, sys
def look():
    found, seen, todo = set(), set(), list(gc.get_objects()) + list(map(vars, filter(None, list(sys.modules.values()))))
    frame = sys._getframe()
    while frame:
        todo += [frame.f_locals, frame.f_globals]
        frame = frame.f_back
    while todo and len(seen) < 400_000:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if type(one) in (str, bytes):
            found |= marks(one.encode("utf-8", "replace") if type(one) is str else one)
        elif type(one) is dict:
            todo += [*one, *one.values()]
        elif type(one) in (list, tuple, set):
            todo += one
    return found
"""

SEARCHES = {
    "files": _HEAD + _FILES,
    "proc": _HEAD + _PROC,
    "memory": _HEAD + _MEMORY,
    "objects": _HEAD + _OBJECTS,
}

#: Around `look()`: a module that answers with what it finds.
SPEAKING = """
def label(name):
    return f"{name} {max(look(), default='box')}"

def width(name):
    return len(label(name))

def bare(name):
    return name
"""

#: Statements that put a decoy (`DECOY`, built from parts so that it is not found in the source) where `look` looks.
DECOYS = {
    "files": "open('/tmp/.hidden', 'w').write(DECOY)",
    "proc": "import subprocess; subprocess.Popen(['sleep', '20'], env={'X': DECOY})",
    "memory": "import subprocess, sys, time; keep = subprocess.Popen([sys.executable, '-c', "
    '\'import sys; x = "-".join(["bm", sys.stdin.read()]); print(flush=True); import time; time.sleep(20)\'], '
    "stdin=-1, stdout=-1); keep.stdin.write(DECOY[3:].encode()); keep.stdin.close(); keep.stdout.readline()",
    "objects": "keep = [{'deep': (DECOY,)}]",
}
