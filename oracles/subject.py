"""The subject: what a check holds in its hands when it asks the agent's code something.

Runs in the judge's sandbox; every question goes through a `Link` to the broker and from there to the remote
hands. Invariant: whatever comes back is read strictly; a dead, hung, flooding or garbling other side becomes
`Raised("Subject…")` where a value is expected and `SubjectTrouble` (an assertion) elsewhere, never a value.
"""

from __future__ import annotations

import base64
import binascii
import json
import random
from ast import Module, parse
from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol

from oracles.contract import Change, Run, SubjectTrouble
from oracles.wire import Opaque, Raised, Record, WireError, dumps, loads

Json = dict[str, Any]

_WORDS = {
    "died": ("SubjectDied", "the process is gone"),
    "timeout": ("SubjectTimeout", "there was no answer in time"),
    "garbled": ("SubjectGarbled", "the answer was not one"),
    "flood": ("SubjectFlood", "the answer or output was too large"),
}


class Link(Protocol):
    """The way to the broker: one request, one answer, both JSON objects made by trusted code."""

    def request(self, message: Json) -> Json: ...


class Handle:
    """An object that lives beside the agent's code; valid until the next `restart`, usable as an argument."""

    def __init__(self, subject: Subject, number: int, epoch: int) -> None:
        self._subject, self._number, self._epoch = subject, number, epoch

    def method(self, name: str, /, *args: object, **kwargs: object) -> Any:
        """Call a method; a plain value, `Record`, `Opaque` or `Raised`."""
        return self._subject._ask_value("method", name, args, kwargs, self)

    def attr(self, name: str) -> Any:
        """Read an attribute; as `method`."""
        return self._subject._ask_value("attr", name, (), {}, self)


class Subject:
    """One fresh sandbox with the tree of session 3, for one check.

    delta   path -> Change, the production part of the change
    random  a random.Random seeded by the arm's seed and the check's name
    """

    def __init__(
        self,
        link: Link,
        name: str,
        number: int,
        delta: Mapping[str, Change],
        seed: str,
        artifacts: tuple[str, ...] = (),
        generator: tuple[str, ...] = (),
    ) -> None:
        self.delta = delta
        self.random = random.Random(f"{seed}/{name}")
        self._link, self._number, self._epoch = link, number, 0
        self._artifacts, self._generator = artifacts, generator
        self._seen: list[str] = []
        self._lines: list[str] | None = None

    def call(self, target: str, /, *args: object, **kwargs: object) -> Any:
        """The result of `"package.module:name.name"` called with plain values and handles."""
        return self._ask_value("call", target, args, kwargs)

    def value(self, target: str) -> Any:
        """A module-level value, without a call."""
        return self._ask_value("value", target, (), {})

    def new(self, target: str, /, *args: object, **kwargs: object) -> Handle:
        """Call and keep the result on the other side. Raises SubjectTrouble when the call does."""
        answer = self._ask("new", target, args, kwargs)
        if isinstance(answer, Raised):
            raise SubjectTrouble(f"{target}: {answer.type}: {answer.message}")
        if type(answer.get("new")) is not int:
            raise SubjectTrouble(f"{target}: SubjectGarbled")
        return Handle(self, answer["new"], self._epoch)

    def run(self, command: list[str], stdin: bytes = b"") -> Run:
        """Run a command in the tree; the import roots are on PYTHONPATH. SubjectTrouble when it never ends."""
        data = base64.b64encode(stdin).decode()
        answer = self._settle({"op": "run", "argv": [str(part) for part in command], "stdin": data})
        code = answer.get("exit")
        if code is not None and (type(code) is not int or not 0 <= code <= 255):
            raise SubjectTrouble("SubjectGarbled: no exit status")
        return Run(code, _bytes(answer.get("out")), _bytes(answer.get("err")))

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file as it is now, or None."""
        data = self._settle({"op": "read", "path": path}).get("data")
        return None if data is None else _bytes(data)

    def files(self, pattern: str = "**") -> list[str]:
        """The sorted paths of regular files that a glob matches now (`**` crosses directories)."""
        found = self._settle({"op": "files", "pattern": pattern}).get("files")
        if type(found) is not list or any(type(path) is not str for path in found):
            raise SubjectTrouble("SubjectGarbled: no list of files")
        return found

    def restart(self) -> None:
        """End the process that holds the agent's modules and start a new one on the same files."""
        self._epoch += 1
        self._settle({"op": "restart"})

    def added_lines(self) -> list[str]:
        """Lines of the change that its old side does not have (as often), comments included."""
        if self._lines is None:
            self._lines = [line for change in self.delta.values() for line in _added(change)]
        return list(self._lines)

    def mentions(self, text: str) -> bool:
        """Whether the exact text is in an added line, or in a value or output seen so far in this check."""
        return any(text in part for part in (*self.added_lines(), *self._seen))

    def ast(self, path: str) -> Module:
        """The syntax tree of a file of session 3's tree. SubjectTrouble when there is none."""
        data = self._link.request({"op": "file", "path": path})["data"]
        if data is None:
            raise SubjectTrouble(f"{path} is not in the tree")
        try:
            return parse(base64.b64decode(data))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise SubjectTrouble(f"{path} cannot be parsed ({type(error).__name__})") from None

    def regenerate(self) -> dict[str, bytes]:
        """The artifacts as the pristine generator makes them from this tree, in a sandbox of their own."""
        number = self._link.request({"op": "open", "tree": "pristine"})["subject"]
        other = Subject(self._link, "regenerate", number, {}, "")
        try:
            done = other.run(list(self._generator))
            if done.exit != 0:
                raise SubjectTrouble(f"the generator ended with {done.exit}: {_text(done.stderr)[-500:]}")
            paths = [path for pattern in self._artifacts for path in other.files(pattern)]
            return {path: other.read(path) or b"" for path in paths}
        finally:
            other.close()

    def close(self) -> None:
        """End the sandbox; the judge does this after each check."""
        self._link.request({"op": "close", "subject": self._number})

    def _settle(self, body: Json) -> Json:
        answer = self._send(body)
        if isinstance(answer, Raised):
            raise SubjectTrouble(f"{body['op']}: {answer.type}: {answer.message}")
        return answer

    def _ask_value(
        self, op: str, target: str, args: tuple[object, ...], kwargs: dict[str, object], on: Handle | None = None
    ) -> Any:
        answer = self._ask(op, target, args, kwargs, on)
        if isinstance(answer, Raised):
            return answer
        text = answer.get("ok")
        try:
            value = loads(text) if type(text) is str else None
        except WireError as error:
            return Raised("SubjectGarbled", str(error))
        if type(text) is not str:
            return Raised("SubjectGarbled", "the answer was not one")
        self._note(value)
        return value

    def _ask(
        self, op: str, target: str, args: tuple[object, ...], kwargs: dict[str, object], on: Handle | None = None
    ) -> Json | Raised:
        body: Json = {"op": op, "target": target, "args": dumps((args, kwargs), self._handle, strict=True)}
        if on is not None:
            if on._epoch != self._epoch:
                return Raised("SubjectStale", "the object was lost in a restart")
            body["on"] = on._number
        answer = self._send(body)
        if isinstance(answer, Raised):
            return answer
        return self._worker_answer(answer.get("body"))

    def _worker_answer(self, text: object) -> Json | Raised:
        answer = _object(text)
        if answer is None or len(answer) != 1:
            return _raised("garbled")
        if "limit" in answer:
            return _raised("flood")
        if "raised" not in answer:
            return answer
        match answer["raised"]:
            case [str(kind), str(message)]:
                self._seen.append(message)
                return Raised(kind, message)
        return _raised("garbled")

    def _handle(self, value: object) -> int | None:
        if type(value) is not Handle:
            return None
        if value._epoch != self._epoch or value._subject is not self:
            raise WireError("a handle of another process")
        return value._number

    def _send(self, body: Json) -> Json | Raised:
        text = json.dumps(body)
        answer = self._link.request({"op": "ask", "subject": self._number, "body": text})
        if answer["answer"] != "line":
            return _raised(answer["answer"])
        found = _object(answer["body"])
        if found is None or type(found.get("answer")) is not str:
            return _raised("garbled")
        try:  # also what was printed before a process died
            self._seen += [_text(_bytes(found[name])) for name in ("out", "err") if name in found]
        except SubjectTrouble:
            return _raised("garbled")
        return found if found["answer"] == "value" else _raised(found["answer"])

    def _note(self, value: object) -> None:
        if type(value) is str:
            self._seen.append(value)
        elif type(value) is bytes:
            self._seen.append(_text(value))
        elif isinstance(value, Record):
            self._note(value.fields)
        elif isinstance(value, dict):
            for key, item in value.items():
                self._note(key)
                self._note(item)
        elif isinstance(value, list | tuple | set | frozenset):
            for item in value:
                self._note(item)
        elif value is not None and type(value) not in (bool, Opaque):
            self._seen.append(str(value)[:10_000] if type(value) is not int else _digits(value))


def _raised(answer: str) -> Raised:
    return Raised(*_WORDS.get(answer, _WORDS["garbled"]))


def _digits(value: int) -> str:
    return str(value) if value.bit_length() < 10_000 else hex(value)


def _object(text: object) -> Json | None:
    """The JSON object in a text from the other side, or None."""
    if type(text) is not str:
        return None
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    return found if type(found) is dict else None


def _no_constant(word: str) -> None:
    raise ValueError(word)


def _bytes(data: object) -> bytes:
    try:
        if type(data) is str:
            return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise SubjectTrouble("SubjectGarbled: no bytes")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _added(change: Change) -> list[str]:
    old = Counter((change.old or b"").split(b"\n"))
    lines = []
    for line in (change.new or b"").split(b"\n"):
        if old[line] > 0:
            old[line] -= 1
        else:
            lines.append(_text(line))
    return lines
