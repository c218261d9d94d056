"""Layers to values. Every step is kept: who said what, and who had the last word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crumb.errors import LayerError, ValueRefused
from crumb.layers import Layer
from crumb.schema import Schema, Setting, Value

DEFAULT = "default"


@dataclass(frozen=True)
class Step:
    """One layer's word on a setting; `line` is 0 where it is not known."""

    level: str
    source: str
    value: Value
    line: int = 0


@dataclass(frozen=True)
class Resolved:
    """A setting with its value; `steps` run from the outermost layer inwards and may be empty."""

    setting: Setting
    value: Value
    steps: tuple[Step, ...]

    @property
    def origin(self) -> str:
        """The source that decided, or "default"."""
        return self.steps[-1].source if self.steps else DEFAULT

    @property
    def text(self) -> str:
        return self.setting.write(self.value)


def resolve(schema: Schema, layers: Iterable[Layer]) -> list[Resolved]:
    """Every setting of the schema, in its order. Raises LayerError for the first thing that is wrong."""
    steps: dict[str, list[Step]] = {name: [] for name in schema.names()}
    for layer in layers:
        for name, raw in layer.values.items():
            value = read(schema, layer, name, raw)
            steps.setdefault(name, []).append(Step(layer.level, layer.source, value, layer.line(name)))
    return [_resolved(setting, steps[setting.name]) for setting in schema]


def read(schema: Schema, layer: Layer, name: str, raw: object) -> Value:
    """The value that `layer` gives `name`. Raises LayerError."""
    line = layer.line(name)
    if name not in schema:
        raise LayerError(layer.source, line, f"unknown setting {name!r}")
    setting = schema.setting(name)
    if not setting.may_set(layer.level):
        raise LayerError(layer.source, line, f"{name} may be set down to the {setting.deepest}, no deeper")
    try:
        return setting.read(raw)
    except ValueRefused as error:
        raise LayerError(layer.source, line, f"{name}: {error}") from error


def _resolved(setting: Setting, steps: list[Step]) -> Resolved:
    return Resolved(setting, steps[-1].value if steps else setting.default, tuple(steps))
