"""Was it the endpoint or the request? What an exchange says of an endpoint that failed.

An agent may send what an endpoint answers by errors for ever. If that ended its arm as trouble of ours, an agent could
have its bad cells left out. An endpoint that is really down comes back, and an arm that met it is not the agent's.

Invariant: a session is the agent's only if the endpoint answers a plain request, then fails on the very request of the
agent once more, and then answers the plain one again; in every other case it is ours.
"""

from __future__ import annotations

import http.client
import json
import secrets
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from containers.relay import Dialect, Quota, Relay
from containers.relay_record import CALLS

SECONDS = 30.0  # for each of the three
_SAID = {"role": "user", "content": "Say: yes."}
_PLAIN: Mapping[Dialect, Mapping[str, Any]] = {
    Dialect.CHAT: {"messages": [_SAID]},
    Dialect.RESPONSES: {"input": "Say: yes."},
    Dialect.ANTHROPIC: {"messages": [_SAID], "max_tokens": 16},
    Dialect.GEMINI: {"contents": [{"role": "user", "parts": [{"text": "Say: yes."}]}]},
}


def is_of_the_request(relay: Relay, model: str, exchange: Path) -> bool:
    """Whether what the transcript tells last of an endpoint that is down is the doing of that request.

    Costs up to three calls, which are counted nowhere but at the endpoint.
    """
    upstream, row = relay.upstream, _last_down(exchange)
    if upstream is None or row is None:
        return False
    route = next(route for route in upstream.routes if route.counts)
    named = {} if route.dialect is Dialect.GEMINI else {"model": model}
    plain = json.dumps({**named, **_PLAIN[route.dialect]}).encode()
    with tempfile.TemporaryDirectory(prefix="model-") as folder:

        def status(target: str, body: bytes) -> int:
            return _status(relay, Path(folder), target, body)

        if status(route.target, plain) != 200:
            return False
        return status(str(row["target"]), row["request"].encode()) >= 500 and status(route.target, plain) == 200


def broken(exchange: Path) -> str:
    """Why the last answer that an agent was given is none, or "": the endpoint broke it off, or what came is no answer
    of any dialect. An agent that went on after such an answer met trouble that it could cope with."""
    last = None
    with exchange.open("rb") as file:
        for line in file:
            row = json.loads(line)
            if row.get("attempts"):
                last = row
    if last is None:
        return ""
    if last["end"] == "cut":
        return "the endpoint broke off its last answer"
    if last["end"] == "whole" and last["status"] == 200 and not _is_json(last.get("response")):
        return "the endpoint's last answer is no JSON"
    return ""


def _is_json(body: object) -> bool:
    """Whether a body is JSON, or a stream of events that hold some."""
    if not isinstance(body, str):
        return False
    told = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
    for text in [part for part in told if part != "[DONE]"] if told else [body]:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
    return True


def _last_down(exchange: Path) -> dict[str, Any] | None:
    """The last exchange that was tried and got no answer but an error, whether or not the agent stayed to hear all of
    it. None where its request is no text."""
    found = None
    with exchange.open("rb") as file:
        for line in file:
            row = json.loads(line)
            failed = row.get("status") is None or row["status"] >= 400
            if row.get("end") in ("down", "left") and row.get("attempts") and failed:
                found = row
    return found if found is not None and isinstance(found.get("request"), str) else None


def _status(relay: Relay, folder: Path, target: str, body: bytes) -> int:
    """What a request is answered by; 0 where it is by nothing."""
    transcript = folder / f"{secrets.token_hex(8)}.jsonl"
    session = relay.open(Quota(seconds=SECONDS), transcript)
    place = str(folder / secrets.token_hex(4))
    link = http.client.HTTPConnection("127.0.0.1", session.port, timeout=2 * SECONDS)
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(place)
            listener.listen()
            session.take(listener.dup())
        link.sock = socket.socket(socket.AF_UNIX)
        link.sock.settimeout(2 * SECONDS)
        link.sock.connect(place)
        link.request("POST", target, body, {"Content-Type": "application/json", "anthropic-version": "2023-06-01"})
        answer = link.getresponse()
        answer.read()
        return 0 if session.ledger().hit else answer.status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        link.close()
        session.release()
        transcript.with_suffix(CALLS).unlink(missing_ok=True)
