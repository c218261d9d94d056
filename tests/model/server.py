"""A model endpoint on loopback that speaks four dialects from a script, with faults on demand.

Invariant: nothing leaves the machine and nothing is left behind: `close` ends every connection and thread. An error in
the script or the server is a failure of the test that uses it, never an answer that an agent might work with.
"""

from __future__ import annotations

import re
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from http.server import ThreadingHTTPServer
from types import TracebackType

from .answering import Said
from .chat import Chat
from .dialects import Dialect
from .exchange import Exchange
from .faults import Fault
from .formats import FORMATS, Format
from .gemini import Gemini
from .log import Log
from .messages import Anthropic
from .responses import Responses
from .script import Script

_ROUTES = (
    (re.compile(r"(/v1)?/chat/completions"), "chat"),
    (re.compile(r"(/v1)?/responses(/input_tokens)?"), "responses"),
    (re.compile(r"(/v1)?/messages(/count_tokens)?"), "anthropic"),
    (re.compile(r"(/v1|/v1beta)?/models/[^/:]+:(generateContent|streamGenerateContent|countTokens)"), "gemini"),
)


class ModelServer:
    """`with ModelServer(script) as server:` serves at `server.url` until the block ends.

    `key`: what requests must carry to be answered (bearer, `x-api-key`, `x-goog-api-key` or `?key=`). `thoughts`:
    hidden words that every answer is said to have cost. `cache_writes`: what was not read from the cache is written to
    it, also where no request asks for that (Gemini has no such count). `formats`: ways to answer agents that call no
    tools. Leaving the block raises AssertionError for errors of the script.
    """

    def __init__(
        self,
        script: Script,
        *,
        faults: Sequence[Fault] = (),
        key: str | None = None,
        thoughts: str = "",
        cache_writes: bool = False,
        formats: Sequence[Format] = FORMATS,
    ) -> None:
        self.script, self.faults, self.key, self.formats = script, faults, key, formats
        self.thoughts, self.cache_writes = thoughts, cache_writes
        self.log, self.said, self.closing = Log(), Said(), threading.Event()
        dialects: list[Dialect] = [Chat(), Responses(self.said.earlier), Anthropic(), Gemini()]
        self._dialects = {dialect.name: dialect for dialect in dialects}
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        """Without a path: the base of OpenAI's clients is this with `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    def dialect_of(self, target: str) -> Dialect | None:
        """The dialect of a request's target; None for a path that no model is asked at."""
        path = target.partition("?")[0]
        return next((self._dialects[name] for pattern, name in _ROUTES if pattern.fullmatch(path)), None)

    def start(self) -> ModelServer:
        self._thread.start()
        return self

    def close(self) -> None:
        """End all connections and threads."""
        self.closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> ModelServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if kind is None and self.log.errors():
            raise AssertionError("; ".join(self.log.errors()))


class _Server(ThreadingHTTPServer):
    """Keeps its connections, so that they can be ended."""

    daemon_threads = False  # joined in server_close
    request_queue_size = 256

    def __init__(self, model: ModelServer) -> None:
        self.model = model
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), Exchange)

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, address = super().get_request()
        with self._lock:
            self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away between requests is no error; anything else is ours."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            self.model.log.problem(traceback.format_exc())

    def hang_up(self) -> None:
        """End every open connection, so that the threads that read from them end."""
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # it has ended by itself
                    continue
