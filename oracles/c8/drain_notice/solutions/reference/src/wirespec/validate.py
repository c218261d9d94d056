"""What a message may contain: limits of single fields, and rules across fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TypeVar

from wirespec._generated import ENUMS, DrainReason, Mode
from wirespec.catalog import message_named
from wirespec.errors import WireError
from wirespec.scalars import Value, integer_range
from wirespec.spec import FieldSpec

T = TypeVar("T")
Rule = Callable[[Mapping[str, Value]], str | None]

_RULES: dict[str, list[Rule]] = {}


def rule(message: str) -> Callable[[Rule], Rule]:
    """Register a check of a whole message; it returns what is wrong, or None."""

    def register(function: Rule) -> Rule:
        _RULES.setdefault(message, []).append(function)
        return function

    return register


def validate(name: str, values: Mapping[str, object]) -> dict[str, Value]:
    """Complete, checked values in registry order; raises WireError."""
    message = message_named(name)
    unknown = sorted(set(values) - {field.name for field in message.fields})
    if unknown:
        raise WireError("bad_value", f"{name} has no field {', '.join(unknown)}")
    checked = {}
    for field in message.fields:
        if field.name in values:
            checked[field.name] = _checked(field, values[field.name])
        elif field.default is not None:
            checked[field.name] = field.default
        else:
            raise WireError("bad_value", f"{field.name} is missing")
    for check in _RULES.get(name, []):
        problem = check(checked)
        if problem is not None:
            raise WireError("rule_violated", problem)
    return checked


def _checked(field: FieldSpec, value: object) -> Value:
    if field.type == "enum":
        return _member(field, value)
    if field.type == "bool":
        return _typed(field, value, bool)
    if field.type == "str":
        text = _typed(field, value, str)
        _within(field, len(text.encode("utf-8")), "bytes long")
        return text
    if field.type == "bytes":
        data = _typed(field, value, bytes)
        _within(field, len(data), "bytes long")
        return data
    if isinstance(value, bool):
        raise WireError("bad_value", f"{field.name}: a number is expected")
    number = _typed(field, value, int)
    low, high = integer_range(field.type)
    if not low <= number <= high:
        raise WireError("bad_value", f"{field.name}: {number} does not fit {field.type}")
    _within(field, number, "")
    return number


def _typed(field: FieldSpec, value: object, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise WireError("bad_value", f"{field.name}: {kind.__name__} is expected")
    return value


def _within(field: FieldSpec, size: int, unit: str) -> None:
    said = f"{field.name}: {size} {unit}".rstrip()
    if field.min is not None and size < field.min:
        raise WireError("bad_value", f"{said} is less than {field.min}")
    if field.max is not None and size > field.max:
        raise WireError("bad_value", f"{said} is more than {field.max}")


def _member(field: FieldSpec, value: object) -> IntEnum:
    """A member from a member, a number or a lower-case name."""
    members = ENUMS[field.enum or ""]
    for member in members:
        if value == member.name.lower() or (value == member.value and not isinstance(value, bool)):
            return member
    raise WireError("bad_value", f"{field.name}: {value!r} is no {field.enum}")


@rule("set_mode")
def _manual_mode_ends(values: Mapping[str, Value]) -> str | None:
    if values["mode"] == Mode.MANUAL and values["duration_s"] == 0:
        return "manual mode needs a duration"
    return None


@rule("alarm")
def _faults_say_why(values: Mapping[str, Value]) -> str | None:
    if values["severity"] == 2 and not str(values["text"]).strip():
        return "a fault needs a text"
    return None


@rule("drain_notice")
def _relocation_is_final(values: Mapping[str, Value]) -> str | None:
    if values["reason"] == DrainReason.RELOCATION and values["back_at"] != 0:
        return "after a relocation the collector does not return"
    return None
