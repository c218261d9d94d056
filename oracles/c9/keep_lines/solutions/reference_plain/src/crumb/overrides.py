"""The last layers: what the environment and the command line say for one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crumb.errors import CrumbError, LayerError, NotFound
from crumb.layers import Layer
from crumb.schema import Schema

PREFIX = "CRUMB_SET_"
BACK = "default"  # the word that sets back


def from_environment(schema: Schema, environ: Mapping[str, str]) -> Layer:
    """``CRUMB_SET_BAKE_TOP`` sets ``bake.top``; an empty variable sets nothing."""
    known = {variable(name): name for name in schema.names()}
    values = {}
    for key in sorted(environ):
        if not key.startswith(PREFIX) or not environ[key]:
            continue
        if key not in known:
            raise LayerError("environment", 0, f"{key} sets nothing")
        values[known[key]] = _read(schema, "environment", known[key], environ[key])
    return Layer("override", "environment", values)


def from_arguments(schema: Schema, arguments: Sequence[str]) -> Layer:
    """Each argument is ``NAME=VALUE``; of two for one name the last one counts."""
    values = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals:
            raise LayerError("--set", 0, f"{argument!r} is not NAME=VALUE")
        values[name.strip()] = _read(schema, "--set", name.strip(), text.strip())
    return Layer("override", "--set", values)


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "_").replace("-", "_")


def _read(schema: Schema, source: str, name: str, text: str) -> object:
    """The raw value that a file would hold: switches and numbers lose their quotes."""
    try:
        setting = schema.setting(name)
        if text == BACK:
            text = setting.write(setting.default)
        value = setting.read_text(text)
    except NotFound as error:
        raise LayerError(source, 0, str(error)) from error
    except CrumbError as error:
        raise LayerError(source, 0, f"{name}: {error}") from error
    return value if setting.kind in ("switch", "number") else text
