"""One connection of the model server: reads requests, answers them, and does to the answer what a fault asks.

Invariant: a request is read whole and logged before anything is answered; every answer is `content-length` or chunked
HTTP/1.1, so a connection serves any number of requests.
"""

from __future__ import annotations

import json
import socket
import struct
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, urlsplit

from . import answering, faults
from .dialects import Asked, BadRequest, Dialect, Json, parsed
from .gemini import Gemini
from .log import Entry
from .responses import response_id
from .script import Say, Shell, Turn, input_tokens

if TYPE_CHECKING:
    from .server import ModelServer, _Server

_LARGEST = 64 * 1024 * 1024  # bytes of a request
_JSON = "application/json"
_EVENTS = "text/event-stream; charset=utf-8"
_COUNTS = {"responses": "input_tokens", "anthropic": "input_tokens", "gemini": "totalTokens"}
_WORDS = (faults.UnknownTool, faults.BrokenArguments, faults.Loop, faults.Huge)


@dataclass(frozen=True)
class _Ready:
    """An answer as bytes. `length` None: chunked."""

    status: int
    kind: str
    body: Iterable[bytes]
    length: int | None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def stream(self) -> bool:
        return self.length is None


class Exchange(BaseHTTPRequestHandler):
    """Handler of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def model(self) -> ModelServer:
        return cast("_Server", self.server).model

    def log_message(self, format: str, *args: object) -> None:  # the log of the server has it all
        return

    def do_GET(self) -> None:
        self._answer()

    do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_GET

    def _answer(self) -> None:
        dialect = self.model.dialect_of(self.path) if self.command == "POST" else None
        asked = dialect is not None and not _counts(self.path)
        body, unread = self._read()
        entry = Entry(0, None, time.time(), self.command, self.path, tuple(self.headers.items()), body)
        entry = self.model.log.add(entry, asked)
        fault = self._fault(entry) if asked else None
        try:
            ready = _error(dialect, *unread) if unread else self._ready(entry, dialect, fault)
        except Exception:  # the script's or ours: the log tells the test
            self.model.log.note(entry.number, error=traceback.format_exc())
            ready = _error(dialect, 500, "The script failed.")
        try:
            self._send(entry, ready, fault)
        except (ConnectionError, TimeoutError):
            self.model.log.note(entry.number, left=True)
            self.close_connection = True

    def _read(self) -> tuple[bytes, tuple[int, str] | None]:
        """The body, and what was wrong with it, after which the connection ends."""
        try:
            if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
                return b"".join(self._chunks()), None
            length = int(self.headers.get("content-length") or 0)
            if 0 <= length <= _LARGEST:
                return self.rfile.read(length), None
            problem = 413, "Request too large."
        except ValueError:
            problem = 400, "The length of the request is no number."
        self.close_connection = True
        return b"", problem

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():  # trailers
            continue

    def _fault(self, entry: Entry) -> faults.Said | faults.Wire | None:
        kind = next((fault.kind for fault in self.model.faults if fault.when(entry)), None)
        if kind is not None:
            self.model.log.note(entry.number, fault=type(kind).__name__)
        return kind

    def _ready(self, entry: Entry, dialect: Dialect | None, fault: faults.Said | faults.Wire | None) -> _Ready:
        if dialect is None:
            return _listing() if entry.method in ("GET", "HEAD") and _lists(self.path) else _nothing(self.path)
        if problem := self._refusal(dialect, entry):
            return _error(dialect, *problem)
        if isinstance(fault, faults.Status):
            wait = () if fault.retry_after is None else (("retry-after", str(fault.retry_after)),)
            return _error(dialect, fault.code, f"Scripted error {fault.code}.", wait)
        try:
            asked = dialect.parse(parsed(entry.body), urlsplit(self.path).path)
        except BadRequest as error:
            return _error(dialect, 400, str(error))
        if _counts(self.path):
            return _json(200, {_COUNTS[dialect.name]: input_tokens(asked.system, asked.messages)})
        return self._said(entry, dialect, asked, fault)

    def _refusal(self, dialect: Dialect, entry: Entry) -> tuple[int, str] | None:
        if self.model.key is not None and self.model.key not in _keys(entry):
            return 401, "Incorrect API key provided."
        if entry.header("content-encoding") not in (None, "identity"):
            return 400, "Compressed requests are not supported."
        if dialect.name == "anthropic" and entry.header("anthropic-version") is None:
            return 400, "anthropic-version: header is required"
        return None

    def _said(self, entry: Entry, dialect: Dialect, asked: Asked, fault: faults.Said | faults.Wire | None) -> _Ready:
        model = self.model
        if model.cache_writes and not isinstance(dialect, Gemini):
            asked = replace(asked, writes_cache=True)
        seen = answering.see(asked, model.said)
        turn = _turn(fault) or answering.turn_of(model.script, seen)
        reply = answering.reply(asked, turn, seen, model.formats, model.said, model.thoughts)
        answer = reply.answer
        if isinstance(fault, faults.UnknownTool):
            answer = answering.with_unknown_tool(answer, fault.name)
        elif isinstance(fault, faults.BrokenArguments):
            answer = answering.with_broken_arguments(answer)
        model.said.keep(response_id(answer), asked, answer, spoiled=isinstance(fault, _WORDS))
        model.log.note(entry.number, seen=seen, turn=turn, aside=reply.aside)
        if not asked.stream:
            return _json(200, dialect.whole(answer))
        if isinstance(dialect, Gemini) and parse_qs(urlsplit(self.path).query).get("alt") != ["sse"]:
            return _Ready(200, _JSON, dialect.listed(answer), None)
        return _Ready(200, _EVENTS, dialect.events(answer, asked), None)

    def _send(self, entry: Entry, ready: _Ready, fault: faults.Said | faults.Wire | None) -> None:
        if isinstance(fault, faults.Reset):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.connection.close()
            self.close_connection = True
            return
        if isinstance(fault, faults.Empty):
            ready = _Ready(200, ready.kind, (), 0)
        elif isinstance(fault, faults.WrongType):
            ready = _Ready(200, fault.kind, (fault.body,), len(fault.body))
        elif isinstance(fault, faults.BadJson):
            body = faults.half_json(ready.body, ready.stream)
            ready = _Ready(ready.status, ready.kind, body, None) if ready.stream else _bytes(ready, b"".join(body))
        self.model.log.note(entry.number, status=ready.status)
        self._head(ready)
        if self.command != "HEAD":
            self._body(ready, fault)

    def _head(self, ready: _Ready) -> None:
        self.send_response(ready.status)
        self.send_header("content-type", ready.kind)
        for name, value in ready.headers:
            self.send_header(name, value)
        if ready.length is None:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(ready.length))
        self.end_headers()

    def _body(self, ready: _Ready, fault: faults.Said | faults.Wire | None) -> None:
        body = ready.body
        if isinstance(fault, faults.Cut):
            body = faults.first_bytes(body, fault.after)
        elif isinstance(fault, faults.Slow):
            body = faults.small_parts(body, fault.size)
        for part in body:
            self.wfile.write(part if ready.length is not None else b"%x\r\n%b\r\n" % (len(part), part))
            if isinstance(fault, faults.Slow) and self.model.closing.wait(fault.seconds):
                self.close_connection = True
                return
        if isinstance(fault, faults.Cut):
            self.close_connection = True
        elif ready.length is None:
            self.wfile.write(b"0\r\n\r\n")


def _turn(fault: faults.Said | faults.Wire | None) -> Turn | None:
    """The turn that a fault puts in the place of the script's."""
    if isinstance(fault, faults.Loop):
        return Shell(fault.command)
    return Say(faults.huge_text(fault.size)) if isinstance(fault, faults.Huge) else None


def _counts(target: str) -> bool:
    """Whether only tokens are to be counted."""
    return urlsplit(target).path.endswith(("/input_tokens", "/count_tokens", ":countTokens"))


def _lists(target: str) -> bool:
    return urlsplit(target).path in ("/models", "/v1/models", "/v1beta/models")


def _keys(entry: Entry) -> list[str | None]:
    bearer = (entry.header("authorization") or "").removeprefix("Bearer ")
    query = parse_qs(urlsplit(entry.target).query).get("key", [])
    return [bearer, entry.header("x-api-key"), entry.header("x-goog-api-key"), *query]


def _listing() -> _Ready:
    """Models, in a form that the clients of all dialects read."""
    model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "scripted", "name": "models/scripted"}
    return _json(200, {"object": "list", "data": [model], "models": [model]})


def _nothing(target: str) -> _Ready:
    return _json(404, {"error": {"message": f"Unknown request URL: {target}", "type": "invalid_request_error"}})


def _error(dialect: Dialect | None, status: int, message: str, headers: tuple[tuple[str, str], ...] = ()) -> _Ready:
    body = dialect.error(status, message) if dialect else {"error": {"message": message}}
    return _json(status, body, headers)


def _json(status: int, body: Json, headers: tuple[tuple[str, str], ...] = ()) -> _Ready:
    data = json.dumps(body, ensure_ascii=False).encode()
    return _Ready(status, _JSON, (data,), len(data), headers)


def _bytes(ready: _Ready, data: bytes) -> _Ready:
    return _Ready(ready.status, ready.kind, (data,), len(data), ready.headers)
