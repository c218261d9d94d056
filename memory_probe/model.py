"""What a condition asks of a language model: text in, text out, and answers that are read strictly.

Invariant: nothing is made up in a model's place. A model that gives no answer, or twice one that cannot be used, is a
`ModelFault`; every call is counted, also one that failed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from memory_probe.protocol import Card, MemoryFault

T = TypeVar("T")
_FENCED = re.compile(r"\A```\w*[ \t]*\n(.*?)\n?```\Z", re.S)
_SHOWN = 200  # characters of an unusable answer that a fault quotes


class ModelFault(MemoryFault):
    """The model behind a memory gave no answer that can be used; the memory itself is in order."""


@dataclass(frozen=True)
class Answer:
    """What a model said. Tokens are those of the one call, as the endpoint counted them; None: it did not tell."""

    text: str
    input_tokens: int | None
    output_tokens: int | None

    @property
    def tokens(self) -> int | None:
        """Input and output; None when either is unknown."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return self.input_tokens + self.output_tokens


class Model(Protocol):
    """A language model; each call stands alone."""

    def ask(self, system: str, text: str, most: int) -> Answer:
        """The answer to one `text` under the instruction `system`, of at most `most` tokens. Raises ModelFault."""


class Unasked:
    """For who only lists or reads a store: to ask it is a fault."""

    def ask(self, system: str, text: str, most: int) -> Answer:
        """Raises ModelFault."""
        raise ModelFault("the store was opened to be read, so no model may be asked")


def required(card: Card, model: Model | None) -> Model:
    """The model that a condition was opened with. Raises MemoryFault when there is none."""
    if model is None:
        raise MemoryFault(f"{card.code} needs a model: set judge.name, judge.base_url and, for a key, judge.key_env")
    return model


class Meter:
    """A model with a count of what it was asked."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._calls, self._tokens, self._known = 0, 0, True

    def ask(self, system: str, text: str, most: int) -> Answer:
        """See `Model.ask`."""
        self._calls += 1
        answer = self._model.ask(system, text, most)
        if answer.tokens is None:
            self._known = False
        else:
            self._tokens += answer.tokens
        return answer

    def take(self) -> tuple[int, int | None]:
        """(calls, tokens) since the last time; tokens are None as soon as those of one answer are unknown."""
        taken = self._calls, self._tokens if self._known else None
        self._calls, self._tokens, self._known = 0, 0, True
        return taken


def answered(model: Model, system: str, text: str, most: int, read: Callable[[str], T]) -> T:
    """What `read` makes of the model's answer. `read` raises ValueError for one that it cannot use; then the model is
    asked once more, and told why. Raises ModelFault when the second answer is no better."""
    first = model.ask(system, text, most).text
    try:
        return read(first)
    except ValueError as error:
        again = f"{text}\n\nYour answer before could not be used: {error}. Answer in the form asked for, nothing else."
    second = model.ask(system, again, most).text
    try:
        return read(second)
    except ValueError as error:
        raise ModelFault(f"two answers of the model cannot be used: {error}: {second[:_SHOWN]!r}") from error


def bare(text: str) -> str:
    """An answer without the white space and the one code fence around it."""
    text = text.strip()
    fenced = _FENCED.match(text)
    return fenced.group(1) if fenced else text


def bullets(text: str) -> tuple[str, ...]:
    """The items of an answer that is a list: each begins with "- " and may go on in lines that begin with two spaces.

    Raises ValueError for an empty list and for a line outside of it.
    """
    found: list[str] = []
    for line in bare(text).split("\n"):
        if line.startswith("- ") and line[2:].strip():
            found.append(line)
        elif line.startswith("  ") and found and line.strip():
            found[-1] += f"\n{line}"
        elif line.strip():
            raise ValueError(f"a line does not begin with '- ': {line[:60]!r}")
    if not found:
        raise ValueError("it has no line that begins with '- '")
    return tuple(found)


def parsed(text: str) -> object:
    """An answer that is one JSON value. Raises ValueError; a name that is given twice is refused."""
    try:
        found = json.loads(bare(text), object_pairs_hook=_once)
        json.dumps(found, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg}") from error
    except UnicodeEncodeError as error:
        raise ValueError("it holds half of a character") from error
    return found


def fields(value: object, **kinds: type) -> dict[str, Any]:
    """A JSON object with exactly these fields of these types. Raises ValueError naming what is wrong."""
    if not isinstance(value, dict) or value.keys() != kinds.keys():
        raise ValueError(f"an object with the fields {', '.join(kinds)} was expected")
    if wrong := [name for name, kind in kinds.items() if type(value[name]) is not kind]:
        raise ValueError(f"{wrong[0]} is no {kinds[wrong[0]].__name__}")
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object names a field twice")
    return found
