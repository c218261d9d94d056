"""What the tests of the relay share: an endpoint that does as it is told, and a program that runs inside."""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from containers.relay import Dialect, Patience, Quota, Relay, Upstream, routes
from containers.relay_session import Session
from containers.sandbox import WORK, Limits, Mount, Result, Sandbox, Spec

KEY = "sk-q7/Zw+R4tN8vKx2M9pLb6Yc1"
EAGER = Patience(attempts=3, first=0.0, longest=0.0)  # what is tried again is tried at once
CHAT = "/v1/chat/completions"


@dataclass
class Seen:
    """One request as the endpoint got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Reply = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Notes the request and lets the endpoint's next reply answer it."""

    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.server.take(Seen(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))(self)

    do_GET = do_PUT = do_DELETE = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Model(ThreadingHTTPServer):
    """An endpoint on the host. `replies` are used in order, the last for ever."""

    daemon_threads = True
    block_on_close = True

    def __init__(self, *replies: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies, self.seen, self.open = list(replies), list[Seen](), 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="model")
        self._thread.start()

    def take(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            return self.replies[min(len(self.seen), len(self.replies)) - 1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self.open += 1
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self.open -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        socketserver.TCPServer.server_close(self)


def answer(body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> Reply:
    """The whole `body` at once."""

    def reply(to: Handler) -> None:
        to.send_response(status)
        to.send_header("Content-Type", kind)
        to.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            to.send_header(name.replace("_", "-"), value)
        to.end_headers()
        to.wfile.write(body)

    return reply


def chunks(*pieces: bytes, kind: str = "text/event-stream", end: bool = True) -> Reply:
    """In chunks of HTTP; without `end` the connection is cut after the last."""

    def reply(to: Handler) -> None:
        to.send_response(200)
        to.send_header("Content-Type", kind)
        to.send_header("Transfer-Encoding", "chunked")
        to.end_headers()
        for piece in pieces:
            to.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            to.wfile.flush()
        if end:
            to.wfile.write(b"0\r\n\r\n")
        else:
            to.close_connection = True
            to.connection.shutdown(socket.SHUT_RDWR)

    return reply


def reset(to: Handler) -> None:
    """Ends the connection without an answer."""
    to.close_connection = True
    to.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    to.connection.shutdown(socket.SHUT_RDWR)


def said(text: str = "hello", prompt: int = 7, completion: int = 2) -> bytes:
    """A chat answer with usage."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


#: Inside: `ask(body, path=..., method=...)` -> (status, headers, body); `raw(bytes)` -> bytes; `show(...)` prints JSON.
PROGRAM = f"""
import http.client, json, re, socket, sys, time, threading
PORT = 4141
def show(*what): print(json.dumps(what), flush=True)
def ask(body=None, path={CHAT!r}, method="POST", headers=None, timeout=20):
    link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=timeout)
    data = json.dumps(body or {{"model": "m", "messages": []}}).encode()
    try:
        link.request(method, path, data, {{"Content-Type": "application/json", **(headers or {{}})}})
        got = link.getresponse()
        return got.status, {{k.lower(): v for k, v in got.getheaders()}}, got.read().decode()
    finally:
        link.close()
def raw(text):
    with socket.create_connection(("127.0.0.1", PORT), 5) as link:
        link.settimeout(5)
        try:
            link.sendall(text)
            out = b""
            while part := link.recv(65536): out += part
        except OSError: pass
        return out
"""


@dataclass
class Bench:
    """A relay before a model, and a sandbox to run programs in."""

    box: Sandbox
    model: Model
    relay: Relay
    folder: Path
    sessions: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)

    def open(self, quota: Quota | None = None, **more: Any) -> Session:
        self.sessions += 1
        return self.relay.open(quota or Quota(), self.folder / f"{self.sessions}.jsonl", **more)

    def run(self, code: str, session: Session | None = None, limits: Limits | None = None, **more: Any) -> Result:
        """Run `code` inside. Its output is the result's; the transcript's rows are then in `rows`."""
        session = session or self.open()
        path = self.folder / f"{self.sessions}.jsonl"
        mounts = {WORK: Mount(writable=True)}
        spec = Spec(
            ("python3", "-c", PROGRAM + code), mounts=mounts, limits=limits or Limits(wall=30), endpoint=session, **more
        )
        result = self.box.run(spec)
        self.rows = [json.loads(line) for line in path.read_text().splitlines()]
        return result


def shown(result: Result) -> list[Any]:
    """What a program gave to `show`, a list for each time; fails when it did not end well."""
    assert result.exit == 0, result.stderr.decode()
    return [json.loads(line) for line in result.stdout.splitlines()]


def chat_upstream(model: Model, key: str = KEY, models: tuple[str, ...] = ()) -> Upstream:
    return Upstream(model.url, key, routes(Dialect.CHAT), models)


Make = Callable[..., Bench]
