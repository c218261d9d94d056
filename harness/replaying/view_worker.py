"""Runs inside a sandbox, never on the host: opens frozen stores and reads from each what S3 was shown.

    stdin   a key of 32 bytes; {"seconds", "bytes", "kept", "jobs": [...]}; the files of job n lie at /task/<n>/<k>
    stdout  {"ready": true}, then one line a job: {"job", "end", "said"}; HMAC-SHA256 in front of each (hex)
    end     said: what the reader of the store wrote is in `said`; unknown, version, extra: the condition cannot be
            opened here; late, long, died: the reader of the store was ended, or ended itself

Invariant: a store is opened in a child process that has a pipe of its own and nothing else of this process; before
the next one is opened every child is dead and what they wrote is gone. Only this process has the key, so no store
makes a line. (What this cannot stop: code that a store got to run could take over the first process of a bubblewrap
sandbox, and through it change the files of a store that is opened later in the same sandbox.)
"""

from __future__ import annotations

import ctypes
import datetime as dt
import hmac
import json
import mmap
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from memory_probe.opening import Condition
    from memory_probe.protocol import View, ViewItem

LIBRARY = "/agent/lib"
STORES = Path("/task")
NAMESPACE = Path("/tmp/store")
_WRITABLE = ("/tmp", "/home/dev", "/dev/shm")
_FAULT = 2000  # characters of an error that are told
KEY_BYTES = 32
_PR_SET_DUMPABLE = 4
Json = Mapping[str, Any]


def main() -> None:
    """Answer every job of the request, in order."""
    if not _alone():  # everything else in sight is killed after each store
        raise SystemExit("this program works in a sandbox of its own only")
    sys.path.insert(0, LIBRARY)
    from memory_probe.ladder import conditions

    key = _key()
    request = json.load(sys.stdin.buffer)
    known = conditions()
    if any(job["instrument"] for job in request["jobs"]):
        import traps.facts  # noqa: F401  # loaded once, here, and not in every child
    # children have this process' uid: they must not open its memory or its descriptors
    if ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise SystemExit("this process cannot be hidden from its children")
    _tell(key, {"ready": True})
    for number, job in enumerate(request["jobs"]):
        end, said = _unfit(job, known), ""
        if not end:
            end, said = _read_apart(number, job, known[job["code"]], request)
        _tell(key, {"job": number, "end": end, "said": said})


def _alone() -> bool:
    """Whether there is no process but this one and the first one of the sandbox."""
    seen = {int(name) for name in os.listdir("/proc") if name.isdigit()}
    return bool(seen) and seen <= {1, os.getpid()}


def _key() -> memoryview:
    """The key, read straight into memory that children do not get."""
    place = mmap.mmap(-1, mmap.PAGESIZE)
    place.madvise(mmap.MADV_DONTFORK)
    key = memoryview(place)[:KEY_BYTES]
    got = 0
    while got < KEY_BYTES:
        count = os.readv(0, [key[got:]])
        if not count:
            raise SystemExit("no key was given")
        got += count
    return key


def _tell(key: memoryview, line: Json) -> None:
    """Write a line. It begins anew, whatever others may have written to the pipe."""
    text = json.dumps(line).encode()
    mark = hmac.digest(key, text, "sha256").hex().encode()
    data = memoryview(b"\n" + mark + b" " + text + b"\n")
    while data:
        data = data[os.write(1, data) :]


def _unfit(job: Json, known: Mapping[str, Condition]) -> str:
    """Why the condition of a job cannot be opened here; "" if it can."""
    if job["code"] not in known:
        return "unknown"
    if known[job["code"]].extra:
        return "extra"
    card = known[job["code"]].card
    return "" if (card.version, card.instrument) == (job["version"], job["instrument"]) else "version"


# -- the child and its end -----------------------------------------------------------------------------------


def _read_apart(number: int, job: Json, condition: Condition, request: Json) -> tuple[str, str]:
    """(end, what the child wrote)."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        _child(STORES / str(number), job, condition, request["kept"], sink)
    os.close(sink)
    until = time.monotonic() + request["seconds"]
    end, data = _hear(source, request["bytes"], until)
    os.close(source)
    code = _leave(child, until if end == "said" else 0.0)
    _clear()
    if end == "said" and code != 0:
        return "died", f"signal {-code}" if code < 0 else f"exit status {code}"
    return end, data.decode("utf-8", "replace")


def _hear(source: int, most: int, until: float) -> tuple[str, bytes]:
    """Read to the end of the pipe: at most `most` bytes, and not after `until`."""
    data = bytearray()
    while (left := until - time.monotonic()) > 0:
        if select.select([source], [], [], left)[0]:
            block = os.read(source, 1 << 16)
            if not block:
                return "said", bytes(data)
            data += block
            if len(data) > most:
                return "long", b""
    return "late", b""


def _leave(child: int, until: float) -> int:
    """Let the child exit until then, kill all that lives, and wait for it. The child's exit code, or minus a signal."""
    while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) and time.monotonic() < until:
        time.sleep(0.001)
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass  # nothing else is alive
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    while not _alone():
        time.sleep(0.001)
    return code


def _clear() -> None:
    """Remove what a store's reader wrote."""
    for place in (Path(name) for name in _WRITABLE):
        for path in list(place.iterdir()) if place.is_dir() else ():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


# -- inside the child ----------------------------------------------------------------------------------------


def _child(files: Path, job: Json, condition: Condition, kept: int, sink: int) -> NoReturn:
    """Read one store and write to `sink`: {"view": ...}, or {"fault": text} for whatever the memory raised."""
    try:
        nothing = os.open("/dev/null", os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.dup2(sink, 3)
        os.closerange(4, 1 << 16)
        try:
            said: Json = {"view": _plain(_view(files, job, condition), job["telling"], kept)}
        except Exception as error:
            said = {"fault": f"{type(error).__name__}: {error}"[:_FAULT]}
        with os.fdopen(3, "w", encoding="ascii") as file:
            json.dump(said, file, default=str)
        os._exit(0)
    finally:
        os._exit(1)


def _view(files: Path, job: Json, condition: Condition) -> View:
    """What the condition shows of a copy of the store, asked as before S3."""
    from memory_probe.model import Unasked
    from memory_probe.opening import Opening
    from memory_probe.protocol import Budget, Query

    NAMESPACE.mkdir()
    for place, name in enumerate(job["files"]):
        target = NAMESPACE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files / str(place), target)
    evidence, poison = (tuple(_item(job, note) for note in job["notes"].get(n, ())) for n in ("evidence", "poison"))
    memory = condition.open(Opening(NAMESPACE, evidence, poison, model=Unasked()))
    ask = job["query"]
    query = Query(
        **{**ask, **{n: tuple(ask[n]) for n in ("paths", "symbols")}, "now": dt.date.fromisoformat(ask["now"])}
    )
    return memory.read(query, Budget(**job["budget"]))


def _item(job: Json, note: Json) -> ViewItem:
    """An instrument's item, its text made from the trap's template: the same as `harness.items.items` makes."""
    from memory_probe.protocol import Scope, ViewItem
    from traps.facts import fill

    slots = {**job["facts"], "ref": job["refs"][note["id"]], "refs": job["refs"]}
    text = fill(note["template"], slots, note["id"]).rstrip("\n")
    scope = Scope(tuple(note["files"]), tuple(note["symbols"]), note["task"])
    return ViewItem(text, dt.date.fromisoformat(note["date"]), note["kind"], scope, "unknown")


def _plain(view: View, telling: list[str], kept: int) -> Json:
    """A view as `harness.bank` stores it: rejected candidates that hold a text of `telling`, then `kept` others."""
    told = [r for r in view.rejected if any(text in r.text for text in telling)]
    others = [r for r in view.rejected if not any(text in r.text for text in telling)]
    rejected = [vars(r) for r in (*told, *others[:kept])]
    return {"items": [asdict(i) for i in view.items], "rejected": rejected, "considered": view.considered}


if __name__ == "__main__":
    main()
