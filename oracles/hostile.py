"""Canned answers of a subject that never ran the agent's code: an oracle must pass none of them.

Runs in the judge's sandbox, without any subject. Invariant: no answer knows a fact; at least 200 different ones.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
from collections.abc import Iterator
from pathlib import Path

from oracles.subject import Json, Link
from oracles.wire import Opaque, Record, dumps

_WORDS = ("", " ", "\n", "\0", "default", "none", "None", "null", "True", "ok", "0", "NaN", "{}", "[]", "\ud800", "é")
_NUMBERS = (0, 1, -1, 2, 10, 42, 100, 255, 1 << 31, 1 << 53, -(1 << 64), 1 << 4000)
_FLOATS = (0.0, -0.0, 1.0, 0.5, math.inf, -math.inf, math.nan, 5e-324, 1.7e308)
_NAMES = ("object", "str", "int", "generator", "coroutine", "Liar")
_ERRORS = ("ValueError", "KeyError", "TypeError", "AttributeError", "SystemExit", "SubjectDied", "Error")
_DEAD = ("died", "timeout", "garbled", "flood", "nonsense")
_GARBAGE = (
    "",
    "null",
    "[]",
    "1",
    "{",
    '{"answer":1}',
    '{"answer":"value"}',
    "[" * 10_000,
    '{"answer":"value","body":"x"}',
)


def answers() -> Iterator[tuple[str, Json]]:
    """(label, answer of the broker) for every kind of call."""
    for kind in _DEAD:
        yield f"broker: {kind}", {"answer": kind}
    for text in _GARBAGE:
        yield f"line: {text[:30]}", {"answer": "line", "body": text}
    for value in _values():
        yield f"value: {value!r}"[:60], _value(dumps(value))
    for text in ("", "[1]", "[2,1]", "[1,NaN]", '[1,["f","1e309"]]', '[1,["x"]]', '[1,["S",[1,1]]]', "[1," * 5000):
        yield f"wire: {text[:30]}", _value(text)
    for name in _ERRORS:
        for message in ("", "x", "default\n" * 500):
            yield f"raised: {name} {message[:9]!r}", _line({"raised": [name, message]})
    for odd in (
        {"limit": "x"},
        {"raised": ["a"]},
        {"raised": 1},
        {"ok": 1},
        {"new": "x"},
        {"new": 0},
        {},
        {"ok": "[1,1]", "a": 1},
    ):
        yield f"worker: {odd}", _line(odd)


def _values() -> Iterator[object]:
    yield from (None, True, False, *_NUMBERS, *_FLOATS, *_WORDS)
    yield from (word.encode("utf-8", "replace") for word in _WORDS)
    yield from (number * word for number in (1, 7) for word in "abcdefghij_-./:")
    yield from (Opaque(name) for name in _NAMES)
    yield from ([], (), {}, set(), frozenset(), [[]], {"": None}, {None: None}, 1j)
    yield from (decimal.Decimal(text) for text in ("0", "-0", "NaN", "sNaN", "Infinity", "1e999"))
    yield from (datetime.date(1, 1, 1), datetime.datetime(1970, 1, 1), datetime.timedelta(0), Path("."), Path("/"))
    for item in (None, True, 0, 1, "", "x", b"", math.nan):
        yield from ([item], (item,), {item: item}, {item}, [item] * 3, Record("str", {"value": item}))
    yield from ("x" * 1_000_000, b"\0" * 1_000_000, list(range(20_000)), Record("Enum", {"name": "A", "value": 1}))


def _value(text: str) -> Json:
    return _line({"ok": text})


def _line(worker: Json) -> Json:
    return {"answer": "line", "body": json.dumps({"answer": "value", "body": json.dumps(worker), "out": ""})}


class HostileLink:
    """Answers every call with one canned answer, and commands, files and listings with something as useless.

    Files of the tree for `ast` come from the real broker.
    """

    def __init__(self, real: Link, answer: Json, text: str) -> None:
        self._real, self._answer = real, answer
        self._data = base64.b64encode(text.encode("utf-8", "replace")).decode()

    def request(self, message: Json) -> Json:
        """See `oracles.subject.Link`."""
        if message["op"] == "open":
            return {"subject": 0}
        if message["op"] == "ask":
            return self._ask(json.loads(message["body"])["op"])
        return {} if message["op"] == "close" else self._real.request(message)

    def _ask(self, op: str) -> Json:
        if self._answer["answer"] != "line" or op in ("call", "value", "method", "attr"):
            return self._answer
        if op == "new":
            return _line({"new": 0})
        found = {"answer": "value", "exit": 0, "out": self._data, "err": "", "data": self._data, "files": []}
        return {"answer": "line", "body": json.dumps(found)}
