"""Pull delivery: during a session the agent may ask the memory, by a tool over MCP, in place of a view in the prompt.

    agent --stdio--> inside/memory_server.py --the relay's port--> `Pull` --> the memory

The instruction in the prompt and the tool's description are constants, the same bytes for every condition, and what
the tool answers comes from the one renderer.

Invariant: a memory is read in the thread that opened it and in no other (stores hold connections that allow nothing
else), and every view that an agent got is in `shown`.
"""

from __future__ import annotations

import datetime as dt
import json
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from containers.relay_rules import Local, Unanswered
from memory_probe.protocol import View
from memory_probe.render import HEADING, render

TARGET = "/memory/search"
CALLS = 100  # searches of one session
_SIZE = 1 << 17  # bytes of one: the longest query that the tool takes, with every character escaped

#: Text of the program that an agent starts inside as `python3 /agent/memory_server.py`.
SERVER: bytes = (Path(__file__).parent / "inside" / "memory_server.py").read_bytes()

#: What stands in the prompt in place of the notes.
PULL_INSTRUCTION = (
    f"{HEADING}\n\n"
    "Notes that were kept from earlier work on this repository can be asked for: the tool `search` of the server "
    "`memory` takes a question in plain words and gives the notes that fit it, best match first. Ask it before you "
    "change anything. A note may be out of date, or may concern something else; where a note says that it was "
    "replaced, disproved or limited, it was. There may be none.\n"
)

_BROKEN = "the memory gives no answer"
T = TypeVar("T")


@dataclass(frozen=True)
class Shown:
    """One search and what it was answered with."""

    query: str
    view: View


class Pull:
    """A memory for one session. `read` gives the view for a query, `date` is the session's.

    It is put between a session of the relay and the sandbox that runs at it:

        pull = Pull(read, session.date)
        local = pull.local()                       # for `Relay.open`
        result = pull.during(lambda: sandbox.run(spec))
        pull.shown
    """

    def __init__(self, read: Callable[[str], View], date: dt.date) -> None:
        self._read, self._date = read, date
        self._asked: queue.SimpleQueue[tuple[str, Future[bytes]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._open = False
        self._shown: list[Shown] = []
        self._failed: Exception | None = None

    @property
    def shown(self) -> tuple[Shown, ...]:
        """Every search that was answered, in order."""
        return tuple(self._shown)

    def local(self) -> Local:
        """For the relay's session."""
        return Local(TARGET, self, CALLS, _SIZE)

    def __call__(self, body: bytes) -> bytes:
        """Answer a search, `{"query": TEXT}`, from another thread than that of `during`. Raises Unanswered."""
        query, answer = _query(body), Future[bytes]()
        with self._lock:
            if not self._open:
                raise Unanswered("the memory is closed")
            self._asked.put((query, answer))
        return answer.result()

    def during(self, work: Callable[[], T]) -> T:
        """`work()` in a thread of its own; what is asked meanwhile is read in this one.

        Raises what `work` raises, or else what `read` first raised: then the session had no memory that it could ask.
        """
        with ThreadPoolExecutor(1, "pull") as pool:
            self._open = True
            done = pool.submit(work)
            done.add_done_callback(lambda _: self._asked.put(None))
            try:
                while (asked := self._asked.get()) is not None:
                    self._answer(*asked)
            finally:
                self._close()
        result = done.result()
        if self._failed is not None:
            raise self._failed
        return result

    def _answer(self, query: str, answer: Future[bytes]) -> None:
        if self._failed is not None:
            answer.set_exception(Unanswered(_BROKEN))
            return
        try:
            view = self._read(query)
            text = render(view, self._date).encode()
        except BaseException as error:
            answer.set_exception(Unanswered(_BROKEN))
            if not isinstance(error, Exception):
                raise
            self._failed = error  # told by `during`, when the session is over
            return
        self._shown.append(Shown(query, view))
        answer.set_result(text)

    def _close(self) -> None:
        """Nothing more is taken, and nobody is left waiting."""
        with self._lock:
            self._open = False
        while not self._asked.empty():
            if (left := self._asked.get()) is not None:
                left[1].set_exception(Unanswered("the memory is closed"))


def _query(body: bytes) -> str:
    try:
        query = json.loads(body)["query"]
        query.encode()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise Unanswered('a search is a JSON object with a text named "query"') from error
    if not isinstance(query, str) or "\0" in query or not query.strip():
        raise Unanswered("a query is a text with words in it")
    return query
