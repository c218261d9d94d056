"""One request of an agent from arrival to record: what is let through, the answer as it streams, the row about it.

Invariant: every request that was read as one ends in exactly one row of the transcript, also when the agent or the
sandbox went away in the middle of it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import aiohttp
from aiohttp import web

from containers.relay_forward import Answer, Attempt, Waiting, header_safe
from containers.relay_record import Body, Veil
from containers.relay_rules import BODY_LIMIT, Route, error_body
from containers.relay_scan import Picker
from containers.relay_usage import Dialect, Tokens, UsageReader

SERVER = {"Server": "relay"}  # in place of the library's own, which tells versions
_HOSTS = ("127.0.0.1", "localhost")
_MODEL = ("model",)
_NAME = 200  # characters


class AgentLeft(Exception):
    """Nobody reads the answer any more."""


@dataclass
class Exchange:
    """What is known about one request so far."""

    number: int
    method: str
    target: str
    request: Body
    response: Body
    at: float = field(default_factory=time.time)
    begun: float = field(default_factory=time.monotonic)
    route: Route | None = None
    model: str = ""
    end: str = "left"
    status: int | None = None
    attempts: list[Attempt] = field(default_factory=list)
    tokens: Tokens | None = None
    waited: float = 0.0
    local: bool = False  # answered by the harness itself
    heard: float = 0.0  # when the endpoint was last heard of (monotonic); 0 = nothing was asked of it yet

    def row(self) -> dict[str, Any]:
        """For the transcript."""
        return {
            "number": self.number,
            "at": round(self.at, 6),
            "seconds": round(time.monotonic() - self.begun, 6),
            "waited": round(self.waited, 6),
            "method": self.method,
            "target": self.target,
            "dialect": self.route.dialect.value if self.route else None,
            "model": self.model,
            "status": self.status,
            "attempts": [dataclasses.asdict(attempt) for attempt in self.attempts],
            "tokens": dataclasses.asdict(self.tokens) if self.tokens else None,
            "end": self.end,
        }


def refusal(request: web.BaseRequest, port: int, targets: Collection[str]) -> tuple[int, str] | None:
    """Why a request is not let through, by its head alone, as (status, reason); None when it is."""
    headers = request.headers
    names = [f"{host}:{port}" for host in _HOSTS] + (list(_HOSTS) if port == 80 else [])
    hosts = headers.getall("Host", [])
    if len(hosts) != 1 or hosts[0] not in names:
        return 403, f"not a name of this server: {plain(', '.join(hosts))!r}"
    if request.raw_path not in targets:
        return (405, "method not allowed") if request.method == "CONNECT" else (404, "no such path")
    if request.method != "POST":
        return 405, "method not allowed"
    if "Upgrade" in headers:
        return 403, "no other protocol is spoken"
    if headers.get("Content-Encoding", "identity").lower() != "identity":
        return 415, "an encoded body is not taken"
    if (request.content_length or 0) > BODY_LIMIT:
        return 413, f"a request has at most {BODY_LIMIT} bytes"
    return None


async def read_request(request: web.BaseRequest, exchange: Exchange, most: int = BODY_LIMIT) -> tuple[int, str] | None:
    """Take in the body, of at most `most` bytes, and the model that it names; a refusal as of `refusal` when it
    cannot be taken."""
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    picker = Picker((_MODEL,))
    while piece := await _read(request):
        if exchange.request.size + len(piece) > most:
            return 413, f"a request has at most {most} bytes"
        exchange.request.add(piece)
        picker.feed(piece)
    if piece is None:
        return 400, "a body that cannot be read"
    if picker.seen.get(_MODEL, 0) > 1:
        return 400, "a request names its model once"
    named = picker.found.get(_MODEL)
    exchange.model = plain(named) if isinstance(named, str) else ""
    if exchange.route is not None and exchange.route.dialect is Dialect.GEMINI:
        exchange.model = unquote(exchange.route.target.rpartition("/")[2].partition(":")[0])
    return None


async def _read(request: web.BaseRequest) -> bytes | None:
    """More of the body; None when its sender broke the rules in the middle of it."""
    try:
        return await request.content.readany()
    except Exception:  # the library's own for each rule
        return None


def plain(name: str) -> str:
    """A name that came from inside, for a list: short and in ASCII."""
    return name[:_NAME].encode("ascii", "backslashreplace").decode()


def said(dialect: Dialect | None, status: int, message: str, final: bool = False) -> web.Response:
    """An answer of our own. `final` = programs should not ask again."""
    headers = {**SERVER, "x-should-retry": "false"} if final else SERVER
    body = error_body(dialect, status, message)
    return web.Response(status=status, body=body, content_type="application/json", headers=headers)


def turned_away(status: int, message: str) -> web.Response:
    """The answer to a request that is not let through; the connection ends with it."""
    answer = said(None, status, message)
    answer.force_close()
    return answer


async def stream(
    request: web.BaseRequest, exchange: Exchange, answer: Answer, veil: Veil, waiting: Waiting
) -> web.StreamResponse:
    """Hand the answer on as it comes and read its usage. A cut answer cuts the agent's connection.

    Raises AgentLeft.
    """
    response = answer.response
    assert response is not None
    assert exchange.route is not None
    kind = response.headers.get("Content-Type", "")
    reader = UsageReader(exchange.route.dialect, kind.partition(";")[0].strip().lower() == "text/event-stream")
    out = web.StreamResponse(status=response.status, headers=_headers(response, bool(answer.down)))
    exchange.status = response.status
    try:
        await out.prepare(request)
    except ConnectionError as error:
        raise AgentLeft from error
    try:
        whole = await _pass(out, exchange, answer, veil, reader, waiting)
    except (AgentLeft, asyncio.CancelledError):
        # programs hang up once they have heard the end, without waiting for that of the connection
        if response.status < 400 and exchange.route.counts and reader.finished:
            exchange.tokens = reader.tokens()
        raise
    if not whole:
        exchange.end = "cut"
        request.protocol.force_close()
        return out
    exchange.end = "down" if answer.down else "whole"
    if response.status < 400 and exchange.route.counts:
        exchange.tokens = reader.tokens()
    return out


async def _pass(
    out: web.StreamResponse, exchange: Exchange, answer: Answer, veil: Veil, reader: UsageReader, waiting: Waiting
) -> bool:
    """Everything to the agent, the record and the reader; false when the endpoint broke off."""
    response = answer.response
    assert response is not None
    piece, whole = answer.first, True
    while True:
        exchange.heard = time.monotonic()
        await _put(out, exchange, veil.feed(piece), reader)
        try:
            with waiting():
                piece = await response.content.readany()
        except (aiohttp.ClientError, OSError, TimeoutError):
            piece, whole = b"", False
        if not piece:
            break
    await _put(out, exchange, veil.end(), reader)
    return whole


async def _put(out: web.StreamResponse, exchange: Exchange, piece: bytes, reader: UsageReader) -> None:
    if not piece:
        return
    exchange.response.add(piece)
    reader.feed(piece)
    try:
        await out.write(piece)
    except ConnectionError as error:
        raise AgentLeft from error


def _headers(response: aiohttp.ClientResponse, last: bool) -> dict[str, str]:
    found = {n: v for n in ("Content-Type", "Retry-After") if header_safe(v := response.headers.get(n, ""))}
    found.setdefault("Content-Type", "application/octet-stream")
    return {**found, **SERVER, **({"x-should-retry": "false"} if last else {})}
