"""Writing exact values as JSON text; `decode.py` is the other direction.

Invariant: a value is written by the identity of its type, never by what it claims to be. Instances of
subclasses, and everything else without a plain form, become a `Record` (dataclass, enum member, named tuple)
or `Opaque`. Runs on both sides of the border; standard library only, and sparing with
imports, which are most of the start time of the remote side.
"""

from __future__ import annotations

import binascii
import datetime
import decimal
import enum
import json
import sys
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
    from typing import Any

_mro = type.__dict__["__mro__"].__get__
_class_dict = type.__dict__["__dict__"].__get__
_class_name = type.__dict__["__name__"].__get__


def dumps(value: object, handle: Callable[[object], int | None] | None = None, strict: bool = False) -> str:
    """`value` as ASCII JSON text without newline. Raises WireLimit; WireError for an unknown type if `strict`.

    `handle` maps an object of the caller to the number of a remote object, or None.
    """
    text = _text([VERSION, _Writer(handle, strict, False).write(value, 0)])
    if len(text) > MAX_TEXT:
        raise WireLimit("the value is too large")
    return text


def same(one: object, two: object) -> bool:
    """Whether two plain values are equal with every type exact (1 is not True, 1 is not 1.0, nan is nan).

    The order of a dict's keys does not matter. A value with an Opaque or Raised inside is the same as nothing.
    """
    try:
        return _text(_Writer(None, True, True).write(one, 0)) == _text(_Writer(None, True, True).write(two, 0))
    except WireError:
        return False


def type_name(kind: type) -> str:
    """The bare name of a class, read past its metaclass."""
    return str.__str__(_class_name(kind))[:MAX_NAME]


def _text(tree: object) -> str:
    return json.dumps(tree, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _zone(zone: datetime.tzinfo | None) -> list[Any] | None:
    if zone is None:
        return None
    offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
    return [offset.days, offset.seconds, offset.microseconds, *name]


class _Writer:
    """Turns one value into a JSON tree; every type is compared by identity."""

    def __init__(self, handle: Callable[[object], int | None] | None, strict: bool, canonical: bool) -> None:
        self.handle, self.strict, self.canonical = handle, strict, canonical
        self.nodes = self.size = 0

    def write(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise WireLimit("the value has too many parts or is nested too deeply")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return self.string(value)
        if kind is int:
            return value if -SMALL < value < SMALL else ["i", self.count(hex(value))]
        if kind is float:
            return ["f", value.hex()]
        if kind is list or kind is tuple:
            return ["l" if kind is list else "t", [self.write(item, depth + 1) for item in value]]
        if kind is dict:
            return ["d", self.pairs(value.items(), depth)]
        if kind is bytes:
            return ["b", self.count(binascii.b2a_base64(value, newline=False).decode())]
        if kind is set or kind is frozenset:
            items = [self.write(item, depth + 1) for item in value]
            return ["S" if kind is set else "F", sorted(items, key=_text)]
        found = self.rare(value, kind)
        return self.object(value, kind, depth) if found is None else found

    def count(self, text: str) -> str:
        self.size += len(text)
        if self.size > MAX_TEXT:
            raise WireLimit("the value is too large")
        return text

    def string(self, value: str) -> Any:
        self.count(value)
        try:
            value.encode()
        except UnicodeEncodeError:  # JSON would join two lone surrogates into one character
            return ["s", value.encode("utf-8", "surrogatepass").hex()]
        return value

    def pairs(self, items: Any, depth: int) -> list[Any]:
        pairs = [[self.write(key, depth + 1), self.write(item, depth + 1)] for key, item in items]
        return sorted(pairs, key=_text) if self.canonical else pairs

    def rare(self, value: Any, kind: type) -> Any:
        if kind is complex:
            return ["c", [value.real.hex(), value.imag.hex()]]
        if kind is decimal.Decimal:
            return ["D", self.count(str(value))]
        if kind is datetime.date:
            return ["da", [value.year, value.month, value.day]]
        if kind is datetime.timedelta:
            return ["td", [value.days, value.seconds, value.microseconds]]
        paths = sys.modules.get("pathlib")  # without that module there is no such value
        if paths is not None and (kind is paths.PosixPath or kind is paths.PurePosixPath):
            return ["p" if kind is paths.PosixPath else "pp", self.string(str(value))]
        if kind is datetime.datetime or kind is datetime.time:
            zone = value.tzinfo
            if zone is not None and type(zone) is not datetime.timezone:
                return None
            clock = [value.hour, value.minute, value.second, value.microsecond, value.fold, _zone(zone)]
            if kind is datetime.time:
                return ["ti", clock]
            return ["dt", [value.year, value.month, value.day, *clock]]
        return None

    def object(self, value: Any, kind: type, depth: int) -> Any:
        number = self.handle(value) if self.handle else None
        if number is not None:
            return ["h", number]
        if kind is Record:
            return ["r", [value.type, self.pairs(value.fields.items(), depth)]]
        if kind is Opaque and not self.strict:
            return ["o", value.type]
        if self.strict:
            raise WireError(f"a {type_name(kind)} cannot be sent")
        name = type_name(kind)
        try:
            fields = _fields(value, kind)
        except BaseException:  # foreign code ran: whatever it raised, its object has no plain form
            fields = None
        if fields is None:
            return ["o", self.string(name)]
        return ["r", [self.string(name), self.pairs(fields, depth)]]


def _fields(value: Any, kind: type) -> list[tuple[str, Any]] | None:
    """The fields of a dataclass instance, enum member or named tuple, read past the class's own hooks."""
    for base in _mro(kind):
        if base is enum.Enum:
            return [(name, object.__getattribute__(value, f"_{name}_")) for name in ("name", "value")]
    for base in _mro(kind):
        table = _class_dict(base)
        if "__dataclass_fields__" in table:
            names = [n for n, f in table["__dataclass_fields__"].items() if f._field_type.name == "_FIELD"]
            if any(type(name) is not str for name in names):
                return None
            return [(name, object.__getattribute__(value, name)) for name in names]
        names = table.get("_fields")
        if type(names) is tuple and any(parent is tuple for parent in _mro(kind)):
            items = tuple.__getitem__(value, slice(None))
            if len(items) != len(names) or any(type(name) is not str for name in names):
                return None
            return list(zip(names, items, strict=True))
    return None
