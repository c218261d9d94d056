"""Remote hands: runs beside a program, calls its functions, runs its commands, and answers with plain values.

Started as a script in the program's directory with the import roots as arguments. A parent that never imports
the program serves one request at a time; a forked worker imports and calls it. Invariant: the parent holds the
pipe, the worker holds only two pipes to the parent, so a program that dies, floods or writes on every
descriptor it finds ends as an answer of the parent (or as silence), not as somebody's value.
Standard library only; nothing in here is trusted by the other end.
"""

from __future__ import annotations

import builtins

globals()["__builtins__"] = dict(vars(builtins))  # functions below keep these even if the program replaces some

import binascii  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import select  # noqa: E402
import stat  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost a tenth of the start time here
    from typing import Any

MAX_LINE = 16 << 20
MAX_FRAME = 8 << 20
MAX_OUTPUT = 1 << 20  # of one stream of one command, and of what one call prints
MAX_FILE = 8 << 20
MAX_FILES = 20_000
NONCE = 16  # as in worker.py
KILL = 9


def _load(name: str) -> Any:
    """A module that lies beside this file, under a private name and with builtins of its own."""
    package = "_remote"
    if package not in sys.modules:
        sys.modules[package] = type(sys)(package)
    full = f"{package}.{name}"
    loader = type(globals()["__loader__"])(full, os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py"))
    module = type(sys)(full)
    module.__dict__.update(__builtins__=globals()["__builtins__"], __package__=package)
    sys.modules[full] = module
    exec(loader.get_code(full), module.__dict__)
    return module


class _Child:
    """The parent's end of one worker: its process id, pipes and output file."""

    def __init__(self, worker: Any, roots: list[str], private: list[int]) -> None:
        self.log, self.seen = _scratch(), 0
        theirs, self.outbox = os.pipe()
        self.inbox, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _enter_worker(self.log, [*private, self.inbox, self.outbox])
                worker.Worker(theirs, answers, roots).serve()
            finally:
                os._exit(70)
        os.close(theirs)
        os.close(answers)
        os.set_blocking(self.outbox, False)
        self.status: int | None = None

    def ask(self, body: str, timeout: float) -> tuple[str, str]:
        """(answer, text): ("value", what the worker said) or ("died" | "timeout" | "garbled" | "flood", "")."""
        if self.status is not None:
            return "died", ""
        until, nonce = time.monotonic() + timeout, os.urandom(NONCE)
        if select.select([self.inbox], [], [], 0)[0]:
            return self.condemn("died" if self.gone() else "garbled")
        data = body.encode()
        data = len(data).to_bytes(4, "big") + nonce + data
        try:
            while data:
                if not select.select([], [self.outbox], [], max(until - time.monotonic(), 0.0))[1]:
                    return self.condemn("timeout")
                data = data[os.write(self.outbox, data) :]
        except OSError:
            return self.condemn("died")
        return self.hear(nonce, until)

    def hear(self, nonce: bytes, until: float) -> tuple[str, str]:
        data, need = b"", 4 + NONCE
        while len(data) < need:
            left = until - time.monotonic()
            if left <= 0:
                return self.condemn("timeout")
            gone = self.gone()
            if select.select([self.inbox], [], [], 0 if gone else min(left, 0.05))[0]:
                part = os.read(self.inbox, 1 << 20)
                if not part:
                    return self.condemn("died")
                data += part
            elif gone:
                return self.condemn("died")
            if len(data) >= 4 + NONCE:
                need = 4 + NONCE + int.from_bytes(data[:4], "big")
            if need > MAX_FRAME:
                return self.condemn("flood")
        if len(data) > need or data[4 : 4 + NONCE] != nonce:
            return self.condemn("garbled")
        return "value", data[4 + NONCE :].decode("ascii", "replace")

    def output(self) -> bytes | None:
        """What was printed since the last time; None when it is more than MAX_OUTPUT."""
        data = os.pread(self.log, MAX_OUTPUT + 1, self.seen)
        self.seen += len(data)
        return data if len(data) <= MAX_OUTPUT else None

    def gone(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        return self.status is not None

    def condemn(self, answer: str) -> tuple[str, str]:
        self.stop()
        return answer, ""

    def stop(self) -> None:
        """Kill the worker and its group; the descriptors stay open until the parent ends."""
        _kill_group(self.pid)
        if not self.gone():
            os.kill(self.pid, KILL)
            self.status = os.waitpid(self.pid, 0)[1]


def _enter_worker(log: int, private: list[int]) -> None:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for number in private:
        os.close(number)
    sys.argv = [""]


class _Parent:
    """Serves the requests that come over the pipe."""

    def __init__(self, reader: int, writer: int, roots: list[str]) -> None:
        self.reader, self.writer, self.roots = reader, writer, roots
        self.worker = [_load(name) for name in ("values", "encode", "decode", "worker")][-1]
        self.child = self.fresh()

    def fresh(self) -> _Child:
        return _Child(self.worker, self.roots, [self.reader, self.writer])

    def serve(self) -> None:
        self.send(b"hello")
        data = b""
        while True:
            line, found, rest = data.partition(b"\n")
            if found:
                data = rest
                nonce, timeout, body = line.split(b" ", 2)
                self.send(nonce + b" " + json.dumps(self.answer(body.decode(), float(timeout))).encode())
                continue
            part = os.read(self.reader, 1 << 20)
            data += part
            if not part or len(data) > MAX_LINE:
                self.child.stop()
                return

    def send(self, line: bytes) -> None:
        data = line + b"\n"
        while data:
            data = data[os.write(self.writer, data) :]

    def answer(self, body: str, timeout: float) -> dict[str, Any]:
        request = json.loads(body)
        op: str = request["op"]
        if op == "restart":
            self.child.stop()
            self.child = self.fresh()
            return {"answer": "value", "body": ""}
        local: dict[str, Callable[[Any, float], dict[str, Any]]] = {
            "run": self.run,
            "read": _read,
            "files": _files,
        }
        if op in local:
            return local[op](request, timeout)
        answer, text = self.child.ask(body, timeout)
        output = self.child.output()
        if answer == "value" and output is None:
            answer, text = self.child.condemn("flood")
        return {"answer": answer, "body": text, "out": _base64(output or b"")}

    def run(self, request: Any, timeout: float) -> dict[str, Any]:
        """A command of its own session; its streams are files, so nothing it leaves behind can hold us."""
        files = [_scratch() for _ in range(3)]
        os.write(files[0], binascii.a2b_base64(request["stdin"]))
        os.lseek(files[0], 0, os.SEEK_SET)
        try:
            status = _wait(_spawn(request["argv"], files, self.roots), timeout)
            if status is None:
                return {"answer": "timeout"}
            streams = [os.pread(number, MAX_OUTPUT + 1, 0) for number in files[1:]]
        finally:
            for number in files:
                os.close(number)
        if any(len(stream) > MAX_OUTPUT for stream in streams):
            return {"answer": "flood"}
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        return {"answer": "value", "exit": code, "out": _base64(streams[0]), "err": _base64(streams[1])}


def _spawn(argv: list[str], files: list[int], roots: list[str]) -> int:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(root) for root in roots)
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            for number, source in enumerate(files):
                os.dup2(source, number)
            os.closerange(3, 256)
            os.execvpe(argv[0], argv, environment)
        except (OSError, ValueError):
            os._exit(127)
        finally:
            os._exit(126)
    return pid


def _wait(pid: int, timeout: float) -> int | None:
    """The status of the process, or None when the time was up. Nothing of its group is left."""
    until, pause = time.monotonic() + timeout, 0.0005
    try:
        while True:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return status
            if time.monotonic() > until:
                os.kill(pid, KILL)
                os.waitpid(pid, 0)
                return None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.01)
    finally:
        _kill_group(pid)


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, KILL)
    except (ProcessLookupError, PermissionError):
        pass


def _scratch() -> int:
    """A new nameless file, open for appending and reading."""
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), os.urandom(8).hex())
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.unlink(path)
    return number


def _read(request: Any, timeout: float) -> dict[str, Any]:
    try:
        number = os.open(request["path"], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return {"answer": "value", "data": None}
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return {"answer": "value", "data": None}
        data = b""
        while len(data) <= MAX_FILE and (part := os.read(number, MAX_FILE + 1)):
            data += part
    finally:
        os.close(number)
    return {"answer": "flood"} if len(data) > MAX_FILE else {"answer": "value", "data": _base64(data)}


def _files(request: Any, timeout: float) -> dict[str, Any]:
    import glob

    found: list[str] = []
    for path in glob.iglob(request["pattern"], recursive=True, include_hidden=True):
        if os.path.isfile(path) and not os.path.islink(path):
            found.append(path)
        if len(found) > MAX_FILES:
            return {"answer": "flood"}
    return {"answer": "value", "files": sorted(found)}


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def main() -> None:
    """Move the pipe off the standard streams, then serve it until the other side closes."""
    reader, writer = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    _Parent(reader, writer, sys.argv[1:]).serve()


if __name__ == "__main__":
    main()
