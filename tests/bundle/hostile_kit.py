"""A command on a hostile bundle in a process of its own, where everything that it does to the machine is written down.

The process has a home, a working directory and a folder for temporary files of its own, a PATH that begins with
programs that only say that they were called, a bound on memory and on processor time, and an audit hook that notes
programs, sockets, unpickling, imports from where a bundle was thawed, and every file that is opened for writing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from harness.config import load

_HOOK = """
import json, os, resource, sys
here = sys.argv.pop(1)
log = os.open(os.path.join(here, "log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
watched = ("socket.connect", "socket.getaddrinfo", "socket.bind", "os.system", "os.exec", "os.posix_spawn",
           "pickle.find_class", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.chmod")
def hook(event, args):
    if event == "open":
        if not (isinstance(args[2], int) and args[2] & writes) or isinstance(args[0], int):
            return
        told = ["write", os.fsdecode(args[0])]
    elif event == "subprocess.Popen":
        told = ["program", [os.fsdecode(word) for word in args[1]]]
    elif event == "import":
        if not (args[1] or "").startswith(here):
            return
        told = ["import", str(args[1])]
    elif event in watched:
        told = [event, *[str(a) for a in args[:2]]]
    else:
        return
    os.write(log, json.dumps(told).encode() + b"\\n")
memory, seconds = int(sys.argv.pop(1)), int(sys.argv.pop(1))
from harness.cli.main import main
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
sys.addaudithook(hook)
main()
"""
_FAKE = '#!/bin/sh\necho "$0 $*" >> "{log}"\nexit 66\n'
CHANGES = {"write", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.chmod"}

FIXTURE = "traps/fixtures/mini/fixture.toml"
HOSTED = """schema = 1
name = "mini"
title = "A package that nobody has"
tests = ["true"]
package = "dreambench-no-such-package"
version = "1.0"
sha256 = "{digest}"
filename = "{name}"
"""


def blown(mebibytes: int, wbits: int) -> bytes:
    """A stream that unpacks to so many MiB of zeros: one block that knows of none before it, again and again."""
    machine = zlib.compressobj(9, zlib.DEFLATED, wbits)
    first, block = (machine.compress(bytes(1 << 20)) + machine.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + block * (mebibytes - 1)


@dataclass(frozen=True)
class Outcome:
    """How the process ended, and what it did: [event, arguments...] each."""

    here: Path
    code: int
    output: str
    did: tuple[list[object], ...]

    def events(self, *names: str) -> list[list[object]]:
        return [told for told in self.did if told[0] in names]

    @property
    def programs(self) -> set[str]:
        return {Path(str(words[0])).name for _, words in self.events("program") if isinstance(words, list)}

    def written_outside(self, *allowed: Path) -> list[str]:
        """What was written elsewhere than in the folder for temporary files and `allowed`."""
        roots = tuple(f"{path}/" for path in (self.here / "tmp", Path("/dev"), *allowed))
        paths = [str(path) for told in self.events(*CHANGES) for path in told[1:2]]
        return [path for path in paths if path.startswith("/") and not f"{path}/".startswith(roots)]

    @property
    def left(self) -> dict[str, list[str]]:
        """What stands afterwards in each of its folders; the process started with nothing there."""
        return {name: sorted(p.name for p in (self.here / name).rglob("*")) for name in ("home", "cwd", "tmp")}

    @property
    def called(self) -> str:
        """Which of the false programs were called."""
        log = self.here / "called"
        return log.read_text() if log.exists() else ""


def dreambench(here: Path, *words: str | Path, memory: int = 6 << 30, seconds: int = 60) -> Outcome:
    """Run a command with everything it may touch below `here`, a new folder."""
    for name in ("home", "cwd", "tmp", "bin"):
        (here / name).mkdir(parents=True)
    for name in ("git", "python", "python3", "sh", "bash", "tar", "sqlite3", "pip"):
        fake = here / "bin" / name
        fake.write_text(_FAKE.format(log=here / "called"))
        fake.chmod(0o755)
    env = {
        "PATH": f"{here / 'bin'}:{os.environ['PATH']}",
        "HOME": str(here / "home"),
        "TMPDIR": str(here / "tmp"),
        "DREAMBENCH_CACHE": str(load(None).cache_dir),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
    }
    line = [sys.executable, "-c", _HOOK, str(here), str(memory), str(seconds), *map(str, words)]
    done = subprocess.run(line, cwd=here / "cwd", env=env, capture_output=True, timeout=300, check=False)
    log = here / "log"
    did = tuple(json.loads(text) for text in log.read_bytes().splitlines()) if log.exists() else ()
    return Outcome(here, done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"), did)
