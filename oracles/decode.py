"""Reading values that `encode.py` wrote.

Invariant: exactly the texts that `dumps` writes are accepted, with exact types and within the caps; anything
else is a `WireError`, whoever wrote it. Runs on both sides of the border; standard library only.
"""

from __future__ import annotations

import binascii
import datetime
import decimal
import json
from collections.abc import Callable

from .values import (
    MAX_DEPTH,
    MAX_NAME,
    MAX_NODES,
    MAX_TEXT,
    SMALL,
    VERSION,
    Opaque,
    Record,
    WireError,
    WireLimit,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself would cost a tenth of the start time here
    from typing import Any, NoReturn


def loads(text: str, resolve: Callable[[int], object] | None = None) -> Any:
    """The value that `dumps` wrote. Raises WireError for anything else. `resolve` answers for handles."""
    if len(text) > MAX_TEXT:
        raise WireLimit("the text is too long")
    try:
        tree = _READER.decode(text)
        if type(tree) is not list or len(tree) != 2 or type(tree[0]) is not int or tree[0] != VERSION:
            raise WireError("not a value of this version")
        return _Parser(resolve).read(tree[1], 0)
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
        raise WireError(f"not an encoded value ({type(error).__name__})") from None


def _refuse(*_: object) -> NoReturn:
    raise WireError("not an encoded value")


_READER = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse, object_pairs_hook=_refuse)


class _Parser:
    """Turns a JSON tree back into a value; one method a tag, anything unexpected is a WireError."""

    def __init__(self, resolve: Callable[[int], object] | None) -> None:
        self.resolve = resolve
        self.nodes = 0

    def read(self, tree: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise WireLimit("the value has too many parts or is nested too deeply")
        kind = type(tree)
        if tree is None or kind is bool:
            return tree
        if kind is str:
            tree.encode()  # a lone surrogate has a form of its own
            return tree
        if kind is int:
            return _need(tree, -SMALL < tree < SMALL)
        _need(None, kind is list and len(tree) == 2 and type(tree[0]) is str)
        tag, body = tree
        if tag in ("l", "t", "S", "F"):
            return self.sequence(tag, body, depth)
        if tag == "d":
            return self.pairs(body, depth)
        if tag == "r":
            name, fields = _list(body, 2)
            found = self.pairs(fields, depth)
            _need(None, all(type(key) is str for key in found))
            return Record(self.name(name), found)
        if tag == "o":
            return Opaque(self.name(body))
        if tag == "h":
            return self.resolve(_number(body)) if self.resolve else _refuse()
        if tag in ("p", "pp"):
            import pathlib

            text = self.read(body, depth)
            path = (pathlib.PosixPath if tag == "p" else pathlib.PurePosixPath)(_need(text, type(text) is str))
            return _need(path, str(path) == text)
        return _LEAVES.get(tag, _refuse)(body)

    def name(self, tree: Any) -> str:
        text = self.read(tree, 0)
        return str(_need(text, type(text) is str and len(text) <= MAX_NAME))

    def sequence(self, tag: str, body: Any, depth: int) -> Any:
        items = [self.read(item, depth + 1) for item in _list(body)]
        if tag == "l":
            return items
        if tag == "t":
            return tuple(items)
        made = set(items) if tag == "S" else frozenset(items)
        return _need(made, len(made) == len(items))

    def pairs(self, body: Any, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for pair in _list(body):
            key, value = _list(pair, 2)
            found[self.read(key, depth + 1)] = self.read(value, depth + 1)
        _need(None, len(found) == len(body))
        return found


def _need(value: Any, condition: bool) -> Any:
    return value if condition else _refuse()


def _list(tree: Any, size: int | None = None) -> list[Any]:
    return list(_need(tree, type(tree) is list and size in (None, len(tree))))


def _number(tree: Any) -> int:
    return int(_need(tree, type(tree) is int))


def _float(tree: Any) -> float:
    value = float.fromhex(tree)
    return float(_need(value, value.hex() == tree))


def _integer(tree: Any) -> int:
    value = int(tree, 16)
    return int(_need(value, hex(value) == tree and not -SMALL < value < SMALL))


def _bytes(tree: Any) -> bytes:
    value = binascii.a2b_base64(tree, strict_mode=True)
    return bytes(_need(value, binascii.b2a_base64(value, newline=False).decode() == tree))


def _surrogates(tree: Any) -> str:
    value = bytes.fromhex(tree).decode("utf-8", "surrogatepass")
    return str(_need(value, value.encode("utf-8", "surrogatepass").hex() == tree))


def _decimal(tree: Any) -> decimal.Decimal:
    value = decimal.Decimal(_need(tree, type(tree) is str))
    return _need(value, str(value) == tree)  # type: ignore[no-any-return]


def _timezone(tree: Any) -> datetime.timezone | None:
    if tree is None:
        return None
    days, seconds, micro, *name = _list(tree)
    _need(None, len(name) <= 1)
    return datetime.timezone(datetime.timedelta(_number(days), _number(seconds), _number(micro)), *name)


def _time(tree: Any) -> datetime.time:
    hour, minute, second, micro, fold, zone = _list(tree, 6)
    return datetime.time(
        _number(hour), _number(minute), _number(second), _number(micro), _timezone(zone), fold=_number(fold)
    )


def _datetime(tree: Any) -> datetime.datetime:
    date = _date(_list(tree, 9)[:3])
    clock = _time(tree[3:])
    return datetime.datetime.combine(date, clock)


def _date(tree: Any) -> datetime.date:
    return datetime.date(*[_number(part) for part in _list(tree, 3)])


def _delta(tree: Any) -> datetime.timedelta:
    value = datetime.timedelta(*[_number(part) for part in _list(tree, 3)])
    return _need(value, [value.days, value.seconds, value.microseconds] == tree)  # type: ignore[no-any-return]


def _complex(tree: Any) -> complex:
    real, imaginary = _list(tree, 2)
    return complex(_float(real), _float(imaginary))


_LEAVES: dict[str, Callable[[Any], Any]] = {
    "i": _integer,
    "f": _float,
    "b": _bytes,
    "s": _surrogates,
    "D": _decimal,
    "c": _complex,
    "da": _date,
    "dt": _datetime,
    "ti": _time,
    "td": _delta,
}
