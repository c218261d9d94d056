"""A memory over MCP: one tool, `search`, on the standard streams (JSON-RPC 2.0, one message a line).

A search is passed on to the address below, and what comes back is handed on as it is.

Invariant: whatever comes in, the program goes on; each request is answered once, by a result or an error, and nothing
but answers is written to the standard output.
"""

from __future__ import annotations

import http.client
import json
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

HOST, PORT, TARGET = "127.0.0.1", 4141, "/memory/search"
VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # of the protocol, the newest first
LINE = 4 << 20  # bytes of a message
BATCH = 100  # messages in one line
QUERY = 8000  # characters
SECONDS = 600.0  # in which a search is answered

PARSE, INVALID, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
TOOL = {
    "name": "search",
    "title": "Search notes",
    "description": (
        "Search the notes that were kept from earlier work on this repository. "
        "Ask in plain words; the notes that fit best come first."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look for, in plain words."}},
        "required": ["query"],
    },
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
}

Json = dict[str, Any]


class Failure(Exception):
    """An error of the protocol: its code and words."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code, self.words = code, words


def main(source: BinaryIO, out: BinaryIO) -> None:
    """Serve until the input ends or nobody reads the answers."""
    while line := source.readline(LINE + 1):
        if len(line) > LINE and not line.endswith(b"\n"):
            while (rest := source.readline(LINE)) and not rest.endswith(b"\n"):
                continue
            found: Json | list[Json] | None = _failed(None, PARSE, f"a message has at most {LINE} bytes")
        else:
            found = answer(line)
        if found is None:
            continue
        try:
            out.write(json.dumps(found).encode() + b"\n")
            out.flush()
        except BrokenPipeError:
            return


def answer(line: bytes) -> Json | list[Json] | None:
    """What is said to one line; None for nothing."""
    if not line.strip():
        return None
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_no_json)
    except (ValueError, RecursionError):
        return _failed(None, PARSE, "not JSON in UTF-8")
    if not isinstance(message, list):
        return _one(message)
    if not 0 < len(message) <= BATCH:
        return _failed(None, INVALID, f"a batch has from 1 to {BATCH} messages")
    return [said for said in map(_one, message) if said is not None] or None


def _no_json(word: str) -> None:
    raise ValueError(word)


def _one(message: Any) -> Json | None:
    if not isinstance(message, dict):
        return _failed(None, INVALID, "a message is an object")
    name, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if method is None and ("result" in message or "error" in message):
        return None  # an answer, though nothing was asked
    if not isinstance(name, str | int | None) or isinstance(name, bool) or ("id" in message and name is None):
        return _failed(None, INVALID, "an id is a text or a whole number")
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return _failed(name, INVALID, "a request has a method, and jsonrpc 2.0")
    if name is None:
        return None  # a notification
    try:
        if method not in METHODS:
            raise Failure(METHOD, f"no method {method[:100]!r}")
        if not isinstance(params, dict):
            raise Failure(PARAMS, "the parameters are an object")
        return {"jsonrpc": "2.0", "id": name, "result": METHODS[method](params)}
    except Failure as failure:
        return _failed(name, failure.code, failure.words)
    except Exception as error:  # the program goes on, and who asked is told
        return _failed(name, INTERNAL, type(error).__name__)


def _failed(name: str | int | None, code: int, words: str) -> Json:
    return {"jsonrpc": "2.0", "id": name, "error": {"code": code, "message": words}}


def _initialize(params: Json) -> Json:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "memory", "version": "1.0"},
    }


def _call(params: Json) -> Json:
    name, given = params.get("name"), params.get("arguments") or {}
    if name != TOOL["name"]:
        raise Failure(PARAMS, f"no tool {str(name)[:100]!r}")
    query = given.get("query") if isinstance(given, dict) else None
    if not isinstance(query, str) or not query.strip():
        return _told("the search needs a query: a text", True)
    if len(query) > QUERY:
        return _told(f"a query has at most {QUERY} characters, not {len(query)}", True)
    return search(query)


def _told(text: str, error: bool) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": error}


def search(query: str) -> Json:
    """The result of the tool."""
    link = http.client.HTTPConnection(HOST, PORT, timeout=SECONDS)
    try:
        link.request("POST", TARGET, json.dumps({"query": query}).encode(), {"Content-Type": "application/json"})
        got = link.getresponse()
        text = got.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        return _told(f"the memory cannot be reached ({type(error).__name__})", True)
    finally:
        link.close()
    return _told(text, False) if got.status == 200 else _told(_why(got.status, text), True)


def _why(status: int, text: str) -> str:
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return f"the memory gave no answer (status {status})"


METHODS: dict[str, Callable[[Json], Json]] = {
    "initialize": _initialize,
    "ping": lambda params: {},
    "tools/list": lambda params: {"tools": [TOOL]},
    "tools/call": _call,
}

if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
