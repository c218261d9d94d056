"""What can be set. A `Schema` is read from ``schema.toml`` and knows its settings by dotted name, in file order."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crumb import units
from crumb.errors import NotFound, SchemaError, ValueRefused

LEVELS = ("company", "region", "shop", "oven", "override")
KINDS = ("temperature", "duration", "number", "switch", "word", "text")
KEYS = {"kind", "default", "low", "high", "choices", "deepest", "about", "optional"}
SCALES = ("temperature", "duration", "number")
MAX_TEXT = 24
MISSING = "<< filler >>"

Value = int | bool | str


@dataclass(frozen=True)
class Setting:
    """One thing that can be set; `deepest` is the last layer that may do it. An optional one has no default."""

    name: str
    kind: str
    default: Value | None
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    deepest: str = "oven"
    about: str = ""

    def read(self, raw: Any) -> Value:
        """The value of what a file says. Raises ValueRefused."""
        value = _READERS[self.kind](raw)
        if self.choices and value not in self.choices:
            raise ValueRefused(f"{value!r} is none of {', '.join(self.choices)}")
        if self.low is not None and value < self.low:
            raise ValueRefused(f"{self.write(value)} is below {self.write(self.low)}")
        if self.high is not None and value > self.high:
            raise ValueRefused(f"{self.write(value)} is above {self.write(self.high)}")
        return value

    def read_text(self, text: str) -> Value:
        """As `read`, for a value from the command line or the environment, which is always text."""
        if self.kind == "switch":
            if text not in ("on", "off"):
                raise ValueRefused(f"{text!r} is neither on nor off")
            return self.read(text == "on")
        if self.kind == "number":
            if not text.lstrip("-").isdecimal():
                raise ValueRefused(f"{text!r} is not a whole number")
            return self.read(int(text))
        return self.read(text)

    def write(self, value: Value | None) -> str:
        """A value as people write it."""
        if value is None:
            return MISSING
        if self.kind == "temperature":
            return units.format_temperature(int(value))
        if self.kind == "duration":
            return units.format_duration(int(value))
        if self.kind == "switch":
            return "on" if value else "off"
        return str(value)

    def may_set(self, level: str) -> bool:
        """Overrides may set everything; they do not last."""
        return level == "override" or LEVELS.index(level) <= LEVELS.index(self.deepest)


class Schema:
    def __init__(self, settings: list[Setting]) -> None:
        self._settings = {setting.name: setting for setting in settings}

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._settings.values())

    def __contains__(self, name: object) -> bool:
        return name in self._settings

    def names(self) -> list[str]:
        return list(self._settings)

    def setting(self, name: str) -> Setting:
        try:
            return self._settings[name]
        except KeyError:
            raise NotFound(f"there is no setting {name!r}") from None


def load_schema(path: Path) -> Schema:
    """Read ``schema.toml``. Raises SchemaError naming the setting."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SchemaError("file", error.strerror or "cannot be read") from error
    except ValueError as error:
        raise SchemaError("file", str(error)) from error
    return Schema([_setting(name, table) for name, table in _tables(data, "")])


def _tables(data: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables that describe a setting: those with a `kind`."""
    for key, value in data.items():
        name = f"{prefix}{key}"
        if not isinstance(value, dict):
            raise SchemaError(name, "is not a table")
        if isinstance(value.get("kind"), str):
            yield name, value
        else:
            yield from _tables(value, f"{name}.")


def _setting(name: str, table: Mapping[str, Any]) -> Setting:
    if unknown := sorted(set(table) - KEYS):
        raise SchemaError(name, f"unknown key {unknown[0]!r}")
    if table["kind"] not in KINDS:
        raise SchemaError(name, f"kind is none of {', '.join(KINDS)}")
    optional = table.get("optional", False)
    if not isinstance(optional, bool):
        raise SchemaError(name, "optional is true or false")
    if optional and "default" in table:
        raise SchemaError(name, "an optional setting has no default")
    if not optional and "default" not in table:
        raise SchemaError(name, "default is missing")
    if table.get("deepest", "oven") not in LEVELS[:-1]:
        raise SchemaError(name, f"deepest is none of {', '.join(LEVELS[:-1])}")
    if (table["kind"] == "word") != bool(table.get("choices")):
        raise SchemaError(name, "a word has choices, and nothing else has")
    if table["kind"] not in SCALES and {"low", "high"} & set(table):
        raise SchemaError(name, f"a {table['kind']} has no limits")
    read = _READERS[table["kind"]]
    try:
        low, high = (read(table[key]) if key in table else None for key in ("low", "high"))
        bare = Setting(name, table["kind"], 0, low, high, tuple(table.get("choices", ())))
        default = None if optional else bare.read(table["default"])
    except ValueRefused as error:
        raise SchemaError(name, str(error)) from error
    return Setting(
        name=name,
        kind=bare.kind,
        default=default,
        low=low,
        high=high,
        choices=bare.choices,
        deepest=table.get("deepest", "oven"),
        about=table.get("about", ""),
    )


def _temperature(raw: Any) -> int:
    return units.parse_temperature(_string(raw))


def _duration(raw: Any) -> int:
    return units.parse_duration(_string(raw))


def _number(raw: Any) -> int:
    if type(raw) is not int:
        raise ValueRefused(f"{raw!r} is not a whole number")
    return raw


def _switch(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise ValueRefused(f"{raw!r} is neither true nor false")
    return raw


def _string(raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueRefused(f"{raw!r} is not a string")
    return raw


def _text(raw: Any) -> str:
    text = _string(raw)
    if len(text) > MAX_TEXT or not text.isprintable():
        raise ValueRefused(f"{text!r} is not one line of at most {MAX_TEXT} characters")
    return text


_READERS = {
    "temperature": _temperature,
    "duration": _duration,
    "number": _number,
    "switch": _switch,
    "word": _string,
    "text": _text,
}
