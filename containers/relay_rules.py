"""What the relay is told and what it tells: the endpoint behind it, routes, quotas, patience, and the ledger.

Invariant: plain data; the key is in `Upstream` alone and in no text that is made from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from containers.relay_usage import Dialect, Tokens

BODY_LIMIT = 8 << 20  # bytes of a request
_KEY_HEADERS = {
    Dialect.CHAT: "Authorization",
    Dialect.RESPONSES: "Authorization",
    Dialect.ANTHROPIC: "x-api-key",
    Dialect.GEMINI: "x-goog-api-key",
}
_SHORTEST_KEY = 8  # what is shorter could not be told from ordinary text, and so not be kept out of it


@dataclass(frozen=True)
class Route:
    """A request target that is let through, character by character (`target` has the query too), and the `path` that
    is put after the base URL for it. Its answers are read as `dialect`; `counts` is false where none has usage."""

    target: str
    path: str
    dialect: Dialect
    counts: bool = True


def routes(dialect: Dialect, model: str = "") -> tuple[Route, ...]:
    """The routes of one dialect, for a base URL as its own programs take it: with `/v1` for the two of OpenAI, the
    bare host for Anthropic and Gemini. Gemini has the name of the `model` in its targets.
    """
    if dialect is Dialect.CHAT:
        return (Route("/v1/chat/completions", "/chat/completions", dialect),)
    if dialect is Dialect.RESPONSES:
        return (Route("/v1/responses", "/responses", dialect),)
    if dialect is Dialect.ANTHROPIC:
        found = [(f"/v1/messages{query}", True) for query in ("", "?beta=true")]
        found += [(f"/v1/messages/count_tokens{query}", False) for query in ("", "?beta=true")]
        return tuple(Route(target, target, dialect, counts) for target, counts in found)
    if not model or not all(c.isalnum() or c in "-._" for c in model):
        raise ValueError(f"not the name of a Gemini model: {model!r}")
    calls = (("generateContent", True), ("streamGenerateContent?alt=sse", True), ("countTokens", False))
    targets = [(f"/v1beta/models/{model}:{call}", counts) for call, counts in calls]
    return tuple(Route(target, target, dialect, counts) for target, counts in targets)


@dataclass(frozen=True)
class Upstream:
    """The one endpoint: `base_url` (http or https, no query), its `key` ("" = it wants none) and the `routes`.

    With `models` only requests that name one of these models are let through. `key_header` is where the key goes in
    place of the dialect's own header (in `Authorization` it is a bearer token). Raises ValueError for what cannot be.
    """

    base_url: str
    key: str = field(repr=False)
    routes: tuple[Route, ...]
    models: tuple[str, ...] = ()
    key_header: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the base URL of a model endpoint is http(s)://host[:port][/path]")
        if parts.username is not None or parts.password is not None:
            raise ValueError("the base URL of a model endpoint holds no user or password")
        if self.key and (len(self.key) < _SHORTEST_KEY or not self.key.isascii() or not self.key.isprintable()):
            raise ValueError(f"a key is printable ASCII of at least {_SHORTEST_KEY} characters, or empty for none")
        if not self.routes or any(not r.target.startswith("/") or not r.path.startswith("/") for r in self.routes):
            raise ValueError("a relay needs routes, each with a target and a path that begin with /")

    def auth(self, dialect: Dialect) -> dict[str, str]:
        """The header that carries the key."""
        if not self.key:
            return {}
        name = self.key_header or _KEY_HEADERS[dialect]
        return {name: f"Bearer {self.key}" if name.lower() == "authorization" else self.key}


@dataclass(frozen=True)
class Quota:
    """What one session may use; None is no limit. `seconds` count from the start of its sandbox.

    Tokens are known after an answer: the call that passes the limit is answered, the next is not.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


class Unanswered(Exception):
    """Raised by what answers a `Local`: its words are told to the agent, and nothing is wrong with the session."""


@dataclass(frozen=True)
class Local:
    """A request target that the harness answers itself, from body to body (text in UTF-8): no model is called.

    A session answers at most `calls` of them with bodies of at most `size` bytes. `answer` is called outside of the
    relay's thread, once at a time for each session; it is waited for when the session ends. What it raises beside
    Unanswered is a fault of ours.
    """

    target: str
    answer: Callable[[bytes], bytes] = field(repr=False)
    calls: int = 100
    size: int = 1 << 16


@dataclass(frozen=True)
class Patience:
    """How trouble of the endpoint is sat out: `attempts` in all, waits of `first` seconds, doubled each time, up to
    `longest` (also of what the endpoint asks for). `silence` is for how long it may say nothing at all."""

    attempts: int = 10
    first: float = 0.5
    longest: float = 30.0
    silence: float = 600.0

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds before the next attempt, after `attempt` (1, 2, ...) failed."""
        own = self.first * 2.0 ** min(attempt - 1, 32)
        return min(max(own, asked or 0.0), self.longest)


@dataclass(frozen=True)
class Refused:
    """A request that was not let through. Names are cut to 200 characters."""

    method: str
    target: str
    status: int
    why: str


@dataclass(frozen=True)
class ModelUsage:
    """What one session used of one model ("" = requests that named none). Tokens are None as soon as one answer's
    are unknown; requests that were answered by an error used none."""

    model: str
    calls: int
    tokens: Tokens | None


@dataclass(frozen=True)
class Ledger:
    """A session so far.

    calls     requests that were let through, whatever became of them
    usage     by model, in the order in which they were first called
    hit       limits that were reached: "calls", "tokens", "wall", or the reason given to `Session.stop`
    down      why the endpoint is taken to be down, or "": then the session's outcome is not the agent's
    fault     what went wrong in the relay itself, or ""
    refused   the first requests that were not let through; `refusals` counts all
    repeats   attempts beyond the first of each call
    cut       answers that the endpoint broke off after the agent had bytes of them
    silent    seconds without a byte of a call that still waited for the endpoint when it was given up, 0 for none:
              what tells an endpoint that hangs from an agent that is slow
    waited    seconds in which at least one call waited for the endpoint
    wall      seconds since the sandbox was started, up to its end
    pulled    requests that the harness answered itself (see `Local`)
    """

    calls: int = 0
    usage: tuple[ModelUsage, ...] = ()
    hit: tuple[str, ...] = ()
    down: str = ""
    fault: str = ""
    refused: tuple[Refused, ...] = ()
    refusals: int = 0
    repeats: int = 0
    cut: int = 0
    silent: float = 0.0
    waited: float = 0.0
    wall: float = 0.0
    pulled: int = 0

    @property
    def tokens(self) -> Tokens | None:
        """The sum over models; None when one part is unknown."""
        parts = [entry.tokens for entry in self.usage]
        known = [part for part in parts if part is not None]
        if len(known) != len(parts):
            return None
        return total(known)


def total(parts: list[Tokens]) -> Tokens:
    """The sum."""
    return Tokens(*(sum(getattr(p, n) for p in parts) for n in ("input", "output", "cached", "written")))


def error_body(dialect: Dialect | None, status: int, message: str) -> bytes:
    """An error as programs of the dialect read it; a limit (429) is worded as one that waiting does not lift."""
    limit = status == 429
    if dialect is Dialect.ANTHROPIC:
        kind = "rate_limit_error" if limit else "api_error"
        told: dict[str, object] = {"type": "error", "error": {"type": kind, "message": message}}
    elif dialect is Dialect.GEMINI:
        error: dict[str, object] = {"code": status, "message": message, "status": "UNAVAILABLE"}
        if limit:
            quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerDay"}]}
            error |= {"status": "RESOURCE_EXHAUSTED", "details": [quota]}
        told = {"error": error}
    else:
        kind = "insufficient_quota" if limit else "server_error"
        told = {"error": {"message": message, "type": kind, "param": None, "code": kind}}
    return json.dumps(told).encode()
