"""The relay: the one way from a sandbox to a model, and the place where what it costs is counted.

A sandbox has no network. Its `Spec` may name an endpoint; then one port of its loopback is answered here, outside,
on a listener that was made in the sandbox's own network namespace. What arrives is held against an exact list of
targets and forwarded to the one configured endpoint, with the key added; the answer is handed back as it streams,
and both are written into the session's transcript.

    with Relay(Upstream("https://api.example/v1", key, routes(Dialect.CHAT))) as relay:
        session = relay.open(Quota(calls=100, seconds=600), folder / "exchange.jsonl")
        result = sandbox.run(Spec(command, endpoint=session))
        session.ledger()

Invariant: the key is in the head of requests to the endpoint and nowhere else; nothing is answered but what the list
allows; a closed relay leaves no thread, socket or connection.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from importlib import util
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from containers.relay_record import Veil
from containers.relay_rules import (
    Ledger,
    Local,
    ModelUsage,
    Patience,
    Quota,
    Refused,
    Route,
    Unanswered,
    Upstream,
    routes,
)
from containers.relay_usage import Dialect, Tokens
from containers.sandbox import SandboxError

if TYPE_CHECKING:
    from containers.relay_forward import Forwarder
    from containers.relay_session import Gate, Session

PORT = 4141  # inside, where a development server is unlikely to be wanted
T = TypeVar("T")


def check() -> str | None:
    """None when the relay can work here, else the reason and the remedy in one line."""
    if util.find_spec("aiohttp") is None:
        return str(_lacking())
    return None


def _lacking() -> SandboxError:
    return SandboxError("agents that call a model need aiohttp", "pip install 'dreambench-swe[agents]'")


class Relay:
    """One for a run: many sessions at once, each on its own listener, in one thread. Safe from several threads.

    Without an `upstream` nothing is let through, and only what the harness answers itself is answered. Raises
    SandboxError when aiohttp is not installed.
    """

    def __init__(self, upstream: Upstream | None, patience: Patience | None = None, port: int = PORT) -> None:
        try:
            from containers.relay_forward import Forwarder
        except ModuleNotFoundError as error:
            raise _lacking() from error
        self.upstream, self.port = upstream, port
        self.veil = Veil(upstream.key if upstream else "")
        self._sessions: set[Session] = set()
        self._loop = asyncio.new_event_loop()
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name="relay", daemon=True)
        self._thread.start()

        async def make(upstream: Upstream) -> Forwarder:
            return Forwarder(upstream, patience or Patience())

        self._forwarder = self.do(make(upstream)) if upstream else None

    @property
    def forwarder(self) -> Forwarder:
        """What calls the endpoint. Without one there is no route that leads here."""
        assert self._forwarder is not None
        return self._forwarder

    def open(self, quota: Quota, transcript: Path, gate: Gate | None = None, local: Sequence[Local] = ()) -> Session:
        """A session for one sandbox; its `release` (which the sandbox calls) ends it.

        `transcript` is a file that does not exist yet. `gate` is asked before every call, in the relay's thread: it
        is given the ledger and answers with the name of a limit that forbids the call, or "". `local` are targets
        that the harness answers itself.
        Raises SandboxError when the file cannot be made or the relay is closed, ValueError for a local target that
        is a route's as well.
        """
        from containers.relay_session import Session

        with self._lock:
            if self._closed:
                raise SandboxError("the relay is closed")
            try:
                session = Session(self, self.port, quota, transcript, gate, local)
            except OSError as error:
                raise SandboxError(f"no transcript can be written at {transcript}: {error.strerror}") from error
            self._sessions = {one for one in self._sessions if not one.released} | {session}
        return session

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the relay's loop and wait for it. Raises SandboxError when the relay is closed."""
        if self._closed:
            work.close()
            raise SandboxError("the relay is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End all sessions, connections and the thread; safe to call twice."""
        with self._lock:
            if self._closed:
                return
            for session in self._sessions:
                session.release()
            if self._forwarder is not None:
                self.do(self._forwarder.close())
            self.do(self._loop.shutdown_default_executor())
            self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


__all__ = [
    "PORT",
    "Dialect",
    "Ledger",
    "Local",
    "ModelUsage",
    "Patience",
    "Quota",
    "Refused",
    "Relay",
    "Route",
    "Tokens",
    "Unanswered",
    "Upstream",
    "check",
    "routes",
]
