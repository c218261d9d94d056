"""Finding in a request what an agent put there: a text however it was quoted, and the notes that follow it.

Invariant: what is found is exactly what the harness wrote, for every quoting that is known here; text that was changed
in any other way is found as it was changed, or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from memory_probe.render import HEADING, INSTRUCTION

_HEAD = re.compile(rf"{re.escape(HEADING)}\n\nToday is \d{{4}}-\d\d-\d\d\. {re.escape(INSTRUCTION)}")
_ITEM = re.compile(r"\[(\d+)\](?: .*)?")
_QUOTED = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.S)  # up to the quote that ends it
_CLOSED = re.compile(r'"(?:\s|\Z)')


def openings(said: str, text: str) -> Iterator[str]:
    """What stands after each occurrence of `text` in `said`, with the quoting that the two are in taken away."""
    yield from _in_json(said, text)
    yield from _in_quotes(said, text)
    for whole in dict.fromkeys((said, said.replace("\r\n", "\n"))):
        for at in _places(whole, text):
            yield whole[at + len(text) :]
    yield from _in_parts(said, text)


def notes(rest: str) -> str | None:
    """The section of rendered notes that `rest` begins with, to its end; None when it begins with none."""
    head = _HEAD.match(rest)
    if head is None:
        return None
    kept, blank, rank = list[str](), list[str](), 0
    for line in rest[head.end() :].removeprefix("\n").split("\n"):
        item = _ITEM.fullmatch(line)
        if item and int(item[1]) == rank + 1:
            kept += [*blank, line]
            blank, rank = [], rank + 1
        elif rank and not blank and line.startswith("    "):
            kept.append(line)
        elif not line:  # between two items, or after the last
            blank.append(line)
        else:
            break
    return f"{head[0]}\n" + "".join(f"{line}\n" for line in kept)


def _places(whole: str, text: str) -> Iterator[int]:
    at = whole.find(text)
    while at >= 0:
        yield at
        at = whole.find(text, at + 1)


def _in_json(said: str, text: str) -> Iterator[str]:
    """Within a JSON string that stands in the text."""
    for form in dict.fromkeys(json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (False, True)):
        for at in _places(said, form):
            found = _QUOTED.match(said, at)
            assert found is not None  # it matches nothing as well
            try:
                yield json.loads(f'"{found[0]}"')[len(text) :]
            except ValueError:  # the same letters, but no JSON
                continue


def _in_quotes(said: str, text: str) -> Iterator[str]:
    """As a word of a command line: between quotes, with a backslash before each quote inside, and the rest as it is.

    A quote before a text without quotes may belong to what surrounds it, unless the word ends with the notes.
    """
    form = text.replace('"', '\\"')
    for at in _places(said, form):
        if said[at - 1 : at] != '"':
            continue
        end = next((m.start() for m in _CLOSED.finditer(said, at) if said[m.start() - 1] != "\\"), None)
        if end is None:
            continue
        rest = said[at:end].replace('\\"', '"')[len(text) :].strip("\n")
        if form != text or notes(rest) == f"{rest}\n":
            yield rest


def _in_parts(said: str, text: str) -> Iterator[str]:
    """With other numbers of line ends where it has some: it was sent as several parts, which were put together."""
    lines = [re.escape(line) for line in re.split(r"\n+", text)]
    if len(lines) > 1 and max(re.split(r"\n+", text), key=len) in said:
        for match in re.finditer(r"\n+".join(lines), said):
            yield said[match.end() :]
