"""The worker of the remote hands: the process that imports the program and calls what it is asked to call.

It lives in the program's world, and the program may do to it what it likes: only the values it answers count,
and they are read strictly on the other side. Invariant: what it uses is bound before the program is imported
(`hands.py` also gives this module builtins of its own), so that an innocent program that replaces a builtin
still gets its honest answer. Standard library only.
"""

from __future__ import annotations

import json
import os
import sys

from .decode import loads
from .encode import dumps, type_name
from .values import WireLimit

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost a tenth of the start time here
    from typing import Any

NONCE = 16  # bytes before each question and answer


class Worker:
    """Answers frames (4 bytes length, nonce, JSON) on a pair of pipes until they are closed."""

    def __init__(self, inbox: int, outbox: int, roots: list[str]) -> None:
        self.inbox, self.outbox, self.roots = inbox, outbox, roots
        self.read, self.write, self.modules = os.read, os.write, sys.modules
        self.dump, self.pid, self.getpid = json.JSONEncoder(ensure_ascii=True).encode, os.getpid(), os.getpid
        self.leave, self.flush, self.find = os._exit, (sys.stdout.flush, sys.stderr.flush), __import__
        self.objects: list[Any] = []

    def serve(self) -> None:
        """Serve until the parent closes; never returns."""
        self.extend_path()
        while True:
            frame = self.receive()
            answer = self.answer(frame[NONCE:].decode()).encode()
            if self.getpid() != self.pid:  # the program forked and the copy came back here
                self.leave(0)
            self.send(len(answer).to_bytes(4, "big") + frame[:NONCE] + answer)

    def extend_path(self) -> None:
        """The roots go before installed packages but behind the standard library."""
        places = [i for i, p in enumerate(sys.path) if p.endswith(("site-packages", "dist-packages"))]
        at = places[0] if places else len(sys.path)
        sys.path[at:at] = [os.path.abspath(root) for root in self.roots]

    def receive(self) -> bytes:
        need, data = 4, b""
        while len(data) < need:
            part = self.read(self.inbox, 1 << 20)
            if not part:
                self.leave(0)
            data += part
            if need == 4 and len(data) >= 4:
                need = 4 + NONCE + int.from_bytes(data[:4], "big")
        return data[4:]

    def send(self, data: bytes) -> None:
        while data:
            data = data[self.write(self.outbox, data) :]

    def answer(self, body: str) -> str:
        try:
            value = self.perform(json.loads(body))
        except BaseException as error:
            return self.dump({"raised": [type_name(type(error)), self.message(error)]})
        finally:
            self.flush_output()
        if type(value) is _Kept:
            return self.dump({"new": value.number})
        try:
            return self.dump({"ok": dumps(value)})
        except WireLimit as error:
            return self.dump({"limit": str(error)})

    def perform(self, request: Any) -> Any:
        args, kwargs = loads(request["args"], self.objects.__getitem__)
        op = request["op"]
        target: Any
        if op in ("method", "attr"):
            target = getattr(self.objects[request["on"]], request["target"])
            return target(*args, **kwargs) if op == "method" else target
        module, _, names = request["target"].partition(":")
        self.find(module)
        target = self.modules[module]
        for name in names.split("."):
            target = getattr(target, name)
        value = target(*args, **kwargs) if op != "value" else target
        if op != "new":
            return value
        self.objects.append(value)
        return _Kept(len(self.objects) - 1)

    def message(self, error: BaseException) -> str:
        try:
            text = str(error)
            return str.__str__(text)[:4096].encode("utf-8", "backslashreplace").decode()
        except BaseException:  # a hostile __str__; the type's name is answer enough
            return ""

    def flush_output(self) -> None:
        for flush in self.flush:
            try:
                flush()
            except (OSError, ValueError):  # the program closed its streams: there is no output then
                pass


class _Kept:
    def __init__(self, number: int) -> None:
        self.number = number
