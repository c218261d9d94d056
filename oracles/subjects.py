"""The subject sandboxes of one scoring: opened ahead of need, asked one line at a time, ended for good.

Invariant: a subject that once answered anything but the awaited line is ended, and every later question to it
is answered "died". A subject that does not say hello never ran agent code, so that is an error of ours.
"""

from __future__ import annotations

import functools
import secrets
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from containers.sandbox import AGENT, WORK, Channel, Limits, Mount, Sandbox, SandboxError, Spec
from oracles.lines import Gone, Lines, TooLong
from oracles.tars import make_tar, room_modules

_HANDS = ("python3", "-I", "-B", "--check-hash-based-pycs", "always", f"{AGENT}/hands.py")
_PARTS = ("hands", "worker", "values", "encode", "decode")
_START = 60.0  # seconds until a sandbox says hello
_SLACK = 2.0  # seconds that the hands may be later than their own deadline
_MAX_LINE = 24 << 20  # bytes of one answer


class Subjects:
    """Opens subjects in the background, at most one ahead of need. Used by one thread."""

    def __init__(
        self,
        sandbox: Sandbox,
        pool: ThreadPoolExecutor,
        trees: Mapping[str, bytes],
        roots: tuple[str, ...],
        limits: Limits,
    ) -> None:
        self._sandbox, self._pool, self._trees = sandbox, pool, trees
        self._roots, self._limits = roots, limits
        self._ahead: deque[Future[_Subject]] = deque()
        self._started = self._wanted = 0
        self._live: dict[int, _Subject] = {}
        self._ending: list[Future[None]] = []
        self._count = 0

    def expect(self, count: int) -> None:
        """Say how many subjects over the session's tree will be opened in all."""
        self._wanted = count
        self._fill()

    def open(self, tree: str) -> int:
        """The number of a fresh subject. Raises SandboxError when it does not come up."""
        if tree == "session" and self._ahead:
            subject = self._ahead.popleft().result()
            self._fill()
        else:
            subject = self._start(tree)
        self._count += 1
        self._live[self._count] = subject
        return self._count

    @property
    def live(self) -> int:
        """How many are open."""
        return len(self._live)

    def ask(self, number: int, body: str, timeout: float) -> dict[str, Any]:
        """{"answer": "line", "body": text} or {"answer": "died" | "timeout" | "garbled" | "flood"}."""
        subject = self._live.get(number)
        if subject is None:
            return {"answer": "died"}
        if timeout <= 0:
            return {"answer": "timeout"}
        answer, text = subject.ask(body, timeout)
        if answer != "line":
            self.end(number)
            return {"answer": answer}
        return {"answer": answer, "body": text}

    def end(self, number: int) -> None:
        """End a subject; what it still runs is killed in the background."""
        subject = self._live.pop(number, None)
        if subject is not None:
            self._ending.append(self._pool.submit(subject.close))

    def close(self) -> None:
        """End all, also those opened ahead, and wait for it."""
        for number in list(self._live):
            self.end(number)
        for future in self._ahead:
            if not future.cancel() and future.exception() is None:
                future.result().close()
        self._ahead.clear()
        for ending in self._ending:
            ending.result()
        self._ending.clear()

    def _fill(self) -> None:
        while self._started < self._wanted and len(self._ahead) < 2:
            self._started += 1
            self._ahead.append(self._pool.submit(self._start, "session"))

    def _start(self, tree: str) -> _Subject:
        spec = Spec(
            (*_HANDS, *self._roots),
            mounts={WORK: Mount(self._trees[tree], writable=True), AGENT: Mount(hands_tar())},
            limits=self._limits,
        )
        return _Subject(self._sandbox.talk(spec))


class _Subject:
    def __init__(self, channel: Channel) -> None:
        self._channel, self._lines = channel, Lines(channel, _MAX_LINE)
        try:
            hello = self._lines.next(_START)
        except (Gone, TooLong, TimeoutError) as error:
            channel.close()
            raise SandboxError(f"a subject did not come up ({type(error).__name__}: {error})") from None
        if hello != b"hello":
            channel.close()
            raise SandboxError("a subject came up with something else than hello")

    def ask(self, body: str, timeout: float) -> tuple[str, str]:
        nonce = secrets.token_hex(16)
        if self._lines.waiting():
            return "garbled", ""
        try:
            self._lines.send(f"{nonce} {timeout:.3f} {body}".encode())
            line = self._lines.next(timeout + _SLACK)
        except Gone:
            return "died", ""
        except TooLong:
            return "flood", ""
        except TimeoutError:
            return "timeout", ""
        found, space, text = line.partition(b" ")
        if found != nonce.encode() or not space or not text.isascii():
            return "garbled", ""
        return "line", text.decode()

    def close(self) -> None:
        self._channel.close()


@functools.cache
def hands_tar() -> bytes:
    """The read-only tree with the remote hands; the same for every subject."""
    return make_tar(room_modules(_PARTS))
