"""Asking a model from the harness itself, by a session of the relay: for memories that a model writes or judges.

    with Asked(relay, Quota(calls=200), folder / "exchange.jsonl") as model:
        condition.open(Opening(namespace, model=model))
        model.ledger()

Invariant: key, retries, limits, counting and transcript are those of the relay, as for an agent in a sandbox; what is
no whole answer is a ModelFault, and nothing is said in its place. The socket lies in a folder of our own user, so that
nobody else on the machine can ask.
"""

from __future__ import annotations

import http.client
import json
import socket
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from containers.relay import Dialect, Ledger, Quota, Relay
from containers.relay_session import Gate
from containers.relay_usage import UsageReader
from harness.config import ModelConfig
from harness.outcome import UsageFault
from memory_probe.model import Answer, ModelFault

_SHOWN = 300  # characters of an error that are quoted


def dialect_of(config: ModelConfig) -> Dialect:
    """In which dialect a judge is asked: chat unless it is said. Raises UsageFault for one that is not spoken here."""
    dialect = Dialect(config.dialect or "chat")
    if dialect not in _TARGETS:
        spoken = ", ".join(_TARGETS)
        raise UsageFault(f"judge.dialect: a memory's model is asked in {spoken}, not in {dialect}")
    return dialect


class Asked:
    """A `memory_probe.model.Model`. Calls may come from several threads; each has a connection of its own.

    The model is the first that the relay lets through; `gate` as in `Relay.open`. Raises UsageFault for a relay that
    has none, or whose dialect is not spoken here, and SandboxError for a transcript that cannot be written.
    """

    def __init__(self, relay: Relay, quota: Quota, transcript: Path, gate: Gate | None = None) -> None:
        if relay.upstream is None or not relay.upstream.models:
            raise UsageFault("judge.name: a memory that asks a model needs its name")
        self._name = relay.upstream.models[0]
        self._dialect = dialect_of(ModelConfig(dialect=relay.upstream.routes[0].dialect.value))
        self._session = relay.open(quota, transcript, gate)
        self._folder = tempfile.TemporaryDirectory(prefix="model-")
        self._path = str(Path(self._folder.name) / "s")
        try:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(self._path)
            listener.listen()
            self._session.take(listener)
        except BaseException:
            self.close()
            raise

    def ask(self, system: str, text: str, most: int) -> Answer:
        """One call at temperature 0. Raises ModelFault for everything but a whole answer that is text."""
        body = json.dumps(_BODIES[self._dialect](self._name, _clean(system), _clean(text), most)).encode()
        status, said = self._post(body)
        if status != 200:
            raise ModelFault(f"the model gave no answer: status {status}: {_message(said)}")
        return self._answer(said)

    def ledger(self) -> Ledger:
        """What was asked so far, as of the relay."""
        return self._session.ledger()

    def close(self) -> None:
        """End the session; safe to call twice."""
        self._session.release()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """(status, body). No time is set: the relay ends every call within the patience and the quota it was given."""
        link = http.client.HTTPConnection("127.0.0.1", self._session.port)
        try:
            link.sock = socket.socket(socket.AF_UNIX)
            link.sock.connect(self._path)
            link.request("POST", _TARGETS[self._dialect], body, _HEADERS)
            got = link.getresponse()
            return got.status, got.read()
        except (OSError, http.client.HTTPException) as error:
            raise ModelFault(f"the model gave no whole answer: {type(error).__name__}: {error}") from error
        finally:
            link.close()

    def _answer(self, said: bytes) -> Answer:
        try:
            text, whole = _TEXTS[self._dialect](json.loads(said))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise ModelFault(f"the model's answer is not of its dialect: {said[:_SHOWN]!r}") from error
        if not whole:
            raise ModelFault(f"the model's answer was cut at its limit of tokens: …{text[-_SHOWN:]!r}")
        reader = UsageReader(self._dialect, streamed=False)
        reader.feed(said)
        tokens = reader.tokens()
        return Answer(_clean(text), tokens.input if tokens else None, tokens.output if tokens else None)


# -- the two dialects ------------------------------------------------------------------------------------------


def _chat(name: str, system: str, text: str, most: int) -> dict[str, Any]:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return {"model": name, "messages": messages, "max_tokens": most, "temperature": 0}


def _anthropic(name: str, system: str, text: str, most: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": name, "system": system, "messages": messages, "max_tokens": most, "temperature": 0}


def _chat_text(answer: Any) -> tuple[str, bool]:
    """(text, is it whole?)."""
    choice = answer["choices"][0]
    return _text(choice["message"]["content"]), choice.get("finish_reason") != "length"


def _anthropic_text(answer: Any) -> tuple[str, bool]:
    parts = [_text(block["text"]) for block in answer["content"] if block["type"] == "text"]
    return _text("".join(parts) if parts else None), answer.get("stop_reason") != "max_tokens"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


_HEADERS = {"Content-Type": "application/json", "anthropic-version": "2023-06-01"}
_TARGETS: Mapping[Dialect, str] = {Dialect.CHAT: "/v1/chat/completions", Dialect.ANTHROPIC: "/v1/messages"}
_BODIES: Mapping[Dialect, Callable[[str, str, str, int], dict[str, Any]]] = {
    Dialect.CHAT: _chat,
    Dialect.ANTHROPIC: _anthropic,
}
_TEXTS: Mapping[Dialect, Callable[[Any], tuple[str, bool]]] = {
    Dialect.CHAT: _chat_text,
    Dialect.ANTHROPIC: _anthropic_text,
}


def _message(said: bytes) -> str:
    """What an error says: its message where it has one in the usual place, else its first characters."""
    try:
        found = json.loads(said)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        found = said.decode("utf-8", "replace")
    return str(found)[:_SHOWN]


def _clean(text: str) -> str:
    """Without halves of characters, which no endpoint and no prompt can carry."""
    return text.encode("utf-8", "replace").decode()
