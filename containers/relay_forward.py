"""Asking the endpoint: one call, repeated while the endpoint has trouble and no byte of an answer has come.

Invariant: requests go to the routes' addresses and nowhere else (no redirect, no proxy of the environment, no
cookie); an answer is handed on as it arrives, and never as a whole.
"""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

from containers.relay_record import Body
from containers.relay_rules import Patience, Route, Upstream

_PASSED = ("content-type", "accept")
_PASSED_ANTHROPIC = ("anthropic-version", "anthropic-beta")
_LONGEST_HEADER = 1000
_NOT_OURS = (401, 402, 403)  # the endpoint refuses the key or the account, which no agent can cause
_CONNECT = 30.0  # seconds to reach the endpoint
_WHOLE_AT_ONCE = 1 << 16


@dataclass
class Attempt:
    """One try: its HTTP status or what went wrong in place of one, and the seconds waited after it."""

    status: int | str
    wait: float = 0.0


@dataclass
class Answer:
    """What the endpoint said in the end. `response` None is no answer at all; `down` says why it is no use, or "".

    `first` are the first bytes of the body, `attempts` all that was tried.
    """

    response: aiohttp.ClientResponse | None = None
    first: bytes = b""
    down: str = ""
    attempts: list[Attempt] = field(default_factory=list)


#: Counts the time inside as waiting for the endpoint.
Waiting = Callable[[], AbstractContextManager[None]]


class Forwarder:
    """Calls of all sessions to one endpoint; lives in the event loop of the relay."""

    def __init__(self, upstream: Upstream, patience: Patience) -> None:
        self._upstream, self._patience = upstream, patience
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT, sock_read=patience.silence)
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            headers={"User-Agent": "relay", "Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    @asynccontextmanager
    async def ask(
        self,
        route: Route,
        body: Body,
        headers: Mapping[str, str],
        deadline: float | None,
        waiting: Waiting,
        attempts: list[Attempt],
    ) -> AsyncIterator[Answer]:
        """The answer to `body`; notes what it tries in `attempts` as it goes. No repeat starts after `deadline`
        (monotonic). The connection is closed at the end unless the whole answer was read."""
        answer = Answer(attempts=attempts)
        try:
            while not await self._attempt(answer, route, body, headers, waiting):
                wait = self._patience.wait(len(attempts), _asked(answer.response))
                tired = len(attempts) >= self._patience.attempts
                if tired or (deadline is not None and time.monotonic() + wait >= deadline):
                    answer.down = f"{_worded(attempts[-1].status)} after {len(attempts)} attempts"
                    break
                _drop(answer)
                attempts[-1].wait = wait
                with waiting():
                    await asyncio.sleep(wait)
            yield answer
        finally:
            _drop(answer)

    async def _attempt(
        self, answer: Answer, route: Route, body: Body, headers: Mapping[str, str], waiting: Waiting
    ) -> bool:
        """Try once; false when it should be tried again."""
        url = URL(self._upstream.base_url.rstrip("/") + route.path, encoded=True)
        answer.attempts.append(attempt := Attempt("no answer"))
        sent = {**_passed(route, headers), "Content-Length": str(body.size), **self._upstream.auth(route.dialect)}
        try:
            with waiting():
                answer.response = response = await self._client.post(
                    url, data=_data(body), headers=sent, allow_redirects=False
                )
                attempt.status = response.status
                if response.status in (408, 429) or response.status >= 500:
                    return False
                answer.down = _unusable(response)
                if not answer.down:
                    answer.first = await response.content.readany()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            _drop(answer)
            attempt.status = _named(error)
            return False
        return True


def _unusable(response: aiohttp.ClientResponse) -> str:
    if response.status in _NOT_OURS:
        return f"the endpoint refuses the key: HTTP {response.status}"
    if 300 <= response.status < 400:
        return f"the endpoint redirects, which is not followed: HTTP {response.status}"
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    return "" if coding in ("", "identity") else "the endpoint encodes its answers though asked not to"


def _passed(route: Route, headers: Mapping[str, str]) -> dict[str, str]:
    names = _PASSED + (_PASSED_ANTHROPIC if "anthropic" in route.dialect else ())
    return {name: headers[name] for name in names if header_safe(headers.get(name, ""))}


def header_safe(value: str) -> bool:
    """Whether a header of one side can be passed to the other."""
    return 0 < len(value) <= _LONGEST_HEADER and value.isascii() and value.isprintable()


def _data(body: Body) -> bytes | AsyncIterator[bytes]:
    return b"".join(body.blocks()) if body.size <= _WHOLE_AT_ONCE else _stream(body)


async def _stream(body: Body) -> AsyncIterator[bytes]:
    for block in body.blocks():
        yield block


def _asked(response: aiohttp.ClientResponse | None) -> float | None:
    """Seconds that the endpoint asks to wait: a number or a date."""
    if response is None:
        return None
    text = response.headers.get("Retry-After", "").strip()
    if text.replace(".", "", 1).isdecimal() and text.isascii():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None


def _named(error: BaseException) -> str:
    """What went wrong, without addresses."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ClientSSLError):
        return "no connection that can be trusted (TLS)"
    if isinstance(error, aiohttp.ClientConnectorError):
        return "no connection"
    return "the connection broke"


def _worded(status: int | str) -> str:
    return f"HTTP {status}" if isinstance(status, int) else status


def _drop(answer: Answer) -> None:
    if answer.response is not None:
        answer.response.close()
        answer.response = None
