"""What the relay adds to a call of a model, and what it keeps in memory of a long answer.

Invariant: the direct call and the one through the relay alternate, request by request, before the same endpoint.
"""

from __future__ import annotations

import http.client
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.measure import Figure
from containers.relay import Dialect, Quota, Relay, Upstream, routes
from containers.relay_session import Session

PAIRS, PARALLEL, EACH = 400, 64, 5
_TARGET = "/v1/chat/completions"
_BODY = b'{"model": "m", "messages": [{"role": "user", "content": "' + b"word " * 2000 + b'"}]}'
_ANSWER = b'{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 2000, "completion_tokens": 1}}'
_EVENT = b"data: " + b"x" * 8000 + b"\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    megabytes = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        if not self.megabytes:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(_ANSWER)))
            self.end_headers()
            self.wfile.write(_ANSWER)
            return
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(self.megabytes * 1_000_000 // len(_EVENT)):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(_EVENT), _EVENT))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def endpoint(megabytes: int = 0) -> Iterator[int]:
    """An endpoint on loopback; its port."""
    handler = type("Handler", (_Handler,), {"megabytes": megabytes})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _listening(session: Session) -> int:
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    port: int = listener.getsockname()[1]
    session.take(listener)
    return port


def _call(link: http.client.HTTPConnection, host: str) -> float:
    begun = time.perf_counter()
    link.request("POST", _TARGET, _BODY, {"Content-Type": "application/json", "Host": host})
    answer = link.getresponse()
    while answer.read(1 << 16):
        pass
    assert answer.status == 200
    return (time.perf_counter() - begun) * 1000


def figures() -> Iterator[Figure]:
    """Milliseconds over a direct call: one at a time, and of each of many sessions at once; memory."""
    with tempfile.TemporaryDirectory() as folder, endpoint() as port:
        upstream = Upstream(f"http://127.0.0.1:{port}/v1", "", routes(Dialect.CHAT))
        with Relay(upstream) as relay:
            session = relay.open(Quota(), Path(folder) / "one.jsonl")
            yield from _alone(port, _listening(session), f"localhost:{relay.port}")
            yield _many(relay, Path(folder))
    small, large = _peak(1), _peak(200)
    yield Figure("memory with an answer of 200 MB over one of 1 MB", large / small, 1.2, note=f"{small}, {large} KiB")


def _alone(direct: int, relayed: int, host: str) -> Iterator[Figure]:
    one, two = (http.client.HTTPConnection("127.0.0.1", port) for port in (direct, relayed))
    for _ in range(20):
        _call(one, "x"), _call(two, host)
    pairs = [(_call(one, "x"), _call(two, host)) for _ in range(PAIRS)]
    added = sorted(b - a for a, b in pairs)
    text = f"median {statistics.median(added):.2f} ms over {statistics.median(a for a, _ in pairs):.2f} ms direct"
    yield Figure("a call through the relay, median of ms added", statistics.median(added), 5.0, note=text)
    yield Figure("a call through the relay, 95 of 100, ms added", added[int(0.95 * len(added))], 5.0)


def _many(relay: Relay, folder: Path) -> Figure:
    """Sixty-four sessions at once: all are answered, each ledger has its own calls."""
    sessions = [relay.open(Quota(), folder / f"{n}.jsonl") for n in range(PARALLEL)]
    ports = [_listening(session) for session in sessions]

    def work(port: int) -> list[float]:
        link = http.client.HTTPConnection("127.0.0.1", port)
        return [_call(link, f"localhost:{relay.port}") for _ in range(EACH)]

    begun = time.perf_counter()
    with ThreadPoolExecutor(PARALLEL) as pool:
        list(pool.map(work, ports))
    passed = (time.perf_counter() - begun) * 1000
    for session in sessions:
        session.release()
    assert [session.ledger().calls for session in sessions] == [EACH] * PARALLEL
    each = passed / (PARALLEL * EACH)
    return Figure(f"{PARALLEL} sessions at once, ms a call of all", each, 5.0, note=f"{passed:.0f} ms in all")


def _peak(megabytes: int) -> int:
    words = [sys.executable, "-m", "bench.relay", str(megabytes)]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[-1])


def _child() -> None:
    """In a process of its own: relay one answer, print the peak resident KiB."""
    with (
        tempfile.TemporaryDirectory() as folder,
        endpoint(int(sys.argv[1])) as port,
        Relay(Upstream(f"http://127.0.0.1:{port}/v1", "", routes(Dialect.CHAT))) as relay,
    ):
        session = relay.open(Quota(), Path(folder) / "one.jsonl")
        _call(http.client.HTTPConnection("127.0.0.1", _listening(session)), f"localhost:{relay.port}")
    (peak,) = [line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line[:6] == "VmHWM:"]
    print(peak)


if __name__ == "__main__":
    _child()
