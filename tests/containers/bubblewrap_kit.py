"""What the tests of the embedded sandbox share: one sandbox a module, small trees, a look at processes."""

import io
import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

from containers.bubblewrap import BubblewrapSandbox
from containers.sandbox import Limits, Mount, Result, Spec

ROOT = Path(__file__).resolve().parents[2]


def tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def one(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info.tobuf()


def files_of(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = {}
        for member in archive:
            file = archive.extractfile(member)
            if member.isreg() and file is not None:
                found[member.name] = file.read()
        return found


def sh(sandbox: BubblewrapSandbox, script: str, limits: Limits | None = None, **more: object) -> Result:
    mounts = more.pop("mounts", {"/work": Mount(writable=True)})
    spec = Spec(("sh", "-c", script), mounts=mounts, limits=limits or Limits(wall=30), **more)  # type: ignore[arg-type]
    return sandbox.run(spec)


def processes_with(word: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if word.encode() in text and path.parent.name != str(os.getpid()):
            found.append(path.parent.name)
    return found


def soon(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
