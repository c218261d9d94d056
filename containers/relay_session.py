"""One sandbox at the relay: the server on its listener, its limits, its ledger and its transcript.

Invariant: a session's listener is its identity, so no session can use up another's limits; after `release` nothing
of it is left but its ledger and its transcript.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from aiohttp import web

from containers.relay_book import Book
from containers.relay_exchange import AgentLeft, Exchange, plain, read_request, refusal, said, stream, turned_away
from containers.relay_forward import Forwarder
from containers.relay_local import Desk
from containers.relay_record import Body, Transcript, Veil
from containers.relay_rules import Ledger, Local, Quota, Refused, Upstream

_LISTED = 1000  # lines about requests that were not sent on
_BACKLOG = 128  # connections that may wait to be accepted
_CONNECTIONS = 32  # at once; each is a descriptor of ours
_LINGER = 2.0  # seconds in which the rest of a refused request is read, so that its sender sees the answer

#: Given the ledger before a call is let through; answers with the name of a limit that forbids it, or "".
Gate = Callable[[Ledger], str]
T = TypeVar("T")


class Hub(Protocol):
    """What a session needs of its relay."""

    upstream: Upstream | None
    veil: Veil

    @property
    def forwarder(self) -> Forwarder: ...

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it in the relay's loop, from another thread."""


class Session:
    """See `Endpoint`. Its methods may be called from any thread but the relay's own."""

    def __init__(
        self, hub: Hub, port: int, quota: Quota, transcript: Path, gate: Gate | None, local: Sequence[Local] = ()
    ) -> None:
        self._hub, self._port, self._quota, self._gate = hub, port, quota, gate
        self._targets = {route.target: route for route in hub.upstream.routes} if hub.upstream else {}
        self._models = hub.upstream.models if hub.upstream else ()
        self._book = Book()
        self._desk = Desk(local, self._book, self._targets)
        self._transcript = Transcript(transcript, hub.veil)
        self._numbers, self._unsent, self._stopped = 0, 0, ""
        self._server: asyncio.Server | None = None
        self._http: _Http | None = None
        self._busy: set[asyncio.Task[Any]] = set()
        self._ending: asyncio.Task[None] | None = None
        self._released = False

    @property
    def port(self) -> int:
        """See `Endpoint.port`."""
        return self._port

    @property
    def released(self) -> bool:
        """Whether it has ended."""
        return self._released

    def take(self, listener: socket.socket) -> None:
        """See `Endpoint.take`. Raises ValueError when the session has had its sandbox."""
        if self._released or self._server is not None:
            listener.close()
            raise ValueError("a session of the relay is for one sandbox")
        self._hub.do(self._serve(listener))

    def release(self) -> None:
        """See `Endpoint.release`; safe to call twice, and needed where no sandbox took the session."""
        if not self._released:
            self._hub.do(self.finish())

    def ledger(self) -> Ledger:
        """The session so far."""
        if self._released:
            return self._book.ledger()
        return self._hub.do(self._ledger())

    def stop(self, reason: str) -> None:
        """Let no further call through: `reason` stands among the limits that were hit."""
        self._stopped = self._stopped or reason

    async def _ledger(self) -> Ledger:
        return self._book.ledger()

    async def _serve(self, listener: socket.socket) -> None:
        silent = logging.Logger("relay", logging.CRITICAL + 1)  # what goes wrong stands in the ledger
        self._http = _Http(
            self._handle,
            self._too_many,
            request_factory=self._request,
            handler_cancellation=True,
            auto_decompress=False,
            access_log=None,
            logger=silent,
            lingering_time=_LINGER,
        )
        listener.setblocking(False)
        self._book.begun = time.monotonic()
        self._server = await asyncio.get_running_loop().create_server(self._http, sock=listener, backlog=_BACKLOG)

    def _too_many(self) -> None:
        self._book.refuse(Refused("", "", 503, "too many connections"))

    async def finish(self) -> None:
        """`release`, in the relay's loop."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await self._ending

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._busy):
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)
        await self._desk.close()
        if self._http is not None:
            for connection in self._http.connections:
                connection.force_close()
            await self._http.shutdown(1.0)
        self._book.ended = time.monotonic()
        try:
            self._transcript.close()
        except OSError as error:
            self._blame_transcript(error)
        self._released = True

    def _request(self, message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        """As the library makes them. It makes one also for what it could not read as HTTP, and answers that itself."""
        if message.method == "UNKNOWN":
            self._book.refuse(Refused("", "", 400, "not HTTP"))
        return web.BaseRequest(message, payload, protocol, writer, task, asyncio.get_running_loop())

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None
        if self._ending is not None:  # a last word of somebody who is dead by now
            return turned_away(503, "the session is over")
        self._busy.add(task)
        exchange = self._exchange(request)
        try:
            answer = await self._answer(request, exchange)
            if isinstance(answer, web.Response) and isinstance(answer.body, bytes):
                exchange.response.add(answer.body)
            return answer
        except (AgentLeft, ConnectionError):
            request.protocol.force_close()
            return turned_away(499, "nobody is there")
        except asyncio.CancelledError:
            raise
        except Exception as error:  # ours to tell, never the agent's to suffer in silence
            self._book.fault = self._book.fault or self._hub.veil.text(f"{type(error).__name__}: {error}")
            exchange.end, exchange.status = "down", 500
            return turned_away(500, "the relay failed")
        finally:
            self._busy.discard(task)
            self._record(exchange)

    def _exchange(self, request: web.BaseRequest) -> Exchange:
        self._numbers += 1
        folder = self._transcript.folder
        method, target = plain(request.method), plain(request.raw_path)
        return Exchange(self._numbers, method, target, Body(folder), Body(folder))

    async def _answer(self, request: web.BaseRequest, exchange: Exchange) -> web.StreamResponse:
        problem = refusal(request, self._port, (*self._targets, *self._desk.targets))
        if problem is None and request.raw_path in self._desk.targets:
            return await self._desk.answer(request, exchange)
        if problem is None:
            exchange.route = self._targets[request.raw_path]
            problem = await read_request(request, exchange)
        if problem is None and self._models and exchange.model not in self._models:
            problem = 403, f"this session has no model {exchange.model!r}"
        if problem is not None:
            exchange.end, exchange.status = "refused", problem[0]
            self._book.refuse(Refused(exchange.method, exchange.target, *problem))
            return turned_away(*problem)
        if limit := self._limit():
            return self._over(exchange, limit)
        self._book.call(exchange.model)
        self._transcript.began(exchange.number, exchange.model)
        try:
            async with asyncio.timeout_at(self._deadline()):
                return await self._forward(request, exchange)
        except TimeoutError:
            if exchange.status is None:
                return self._over(exchange, "wall")
            self._book.hit("wall")
            exchange.end = "limit"
            request.protocol.force_close()
            return turned_away(499, "the time is over")

    async def _forward(self, request: web.BaseRequest, exchange: Exchange) -> web.StreamResponse:
        assert exchange.route is not None
        dialect = exchange.route.dialect
        if self._book.down:
            exchange.end, exchange.status = "down", 503
            return said(dialect, 503, "the model endpoint is down", final=True)

        @contextlib.contextmanager
        def waiting() -> Iterator[None]:
            begun = time.monotonic()
            with self._book.waiting():
                try:
                    yield
                finally:
                    exchange.waited += time.monotonic() - begun

        exchange.heard = time.monotonic()
        asked = self._hub.forwarder.ask(
            exchange.route, exchange.request, request.headers, self._deadline(), waiting, exchange.attempts
        )
        async with asked as answer:
            self._book.down = self._book.down or self._hub.veil.text(answer.down)
            if answer.response is None or (answer.down and answer.response.status < 408):
                exchange.end, exchange.status = "down", 502
                return said(dialect, 502, "the model endpoint gives no answer", final=True)
            return await stream(request, exchange, answer, self._hub.veil.fresh(), waiting)

    def _over(self, exchange: Exchange, limit: str) -> web.Response:
        self._book.hit(limit)
        exchange.end, exchange.status = "limit", 429
        dialect = exchange.route.dialect if exchange.route else None
        return said(dialect, 429, f"a limit of this session is reached: {limit}", final=True)

    def _limit(self) -> str:
        """The limit that forbids another call, or ""."""
        if self._stopped:
            return self._stopped
        quota = self._quota
        if quota.calls is not None and self._book.calls >= quota.calls:
            return "calls"
        if quota.tokens is not None and self._book.tokens() >= quota.tokens:
            return "tokens"
        deadline = self._deadline()
        if deadline is not None and time.monotonic() >= deadline:
            return "wall"
        return self._gate(self._book.ledger()) if self._gate is not None else ""

    def _deadline(self) -> float | None:
        if self._quota.seconds is None or self._book.begun is None:
            return None
        return self._book.begun + self._quota.seconds

    def _record(self, exchange: Exchange) -> None:
        self._book.close(exchange)
        if not exchange.attempts and not exchange.local:
            exchange.request.clear()
            self._unsent += 1
            if self._unsent > _LISTED:
                exchange.request.close()
                exchange.response.close()
                self._transcript.skip(exchange.number)
                return
        try:
            self._transcript.write(exchange.number, exchange.row(), exchange.request, exchange.response)
        except OSError as error:
            self._blame_transcript(error)

    def _blame_transcript(self, error: OSError) -> None:
        self._book.fault = self._book.fault or f"the transcript cannot be written: {error.strerror}"


class _Http(web.Server):
    """The library's server, with an end to the number of its connections."""

    def __init__(self, handler: Any, refuse: Callable[[], None], **settings: Any) -> None:
        super().__init__(handler, **settings)
        self._refuse = refuse

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        """Called by the library for each; it forgets the connection when that is lost."""
        super().connection_made(handler, transport)
        if len(self.connections) > _CONNECTIONS:
            self._refuse()
            transport.abort()
