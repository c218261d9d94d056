"""For the burner controller: one ``NAME=NUMBER`` a line, names in capitals, no texts.

Temperatures are tenths of a degree, durations seconds, switches 0 or 1, and a word is its place in the list.
"""

from __future__ import annotations

from collections.abc import Sequence

from crumb.resolve import Resolved

MISSING = "-"


def render(oven: str, settings: Sequence[Resolved]) -> str:
    lines = [f"OVEN={oven}"]
    for found in settings:
        if found.setting.kind != "text":
            value = MISSING if found.value is None else _number(found)
            lines.append(f"{_name(found)}={value}")
    return "\r\n".join(lines) + "\r\n"


def _name(found: Resolved) -> str:
    return found.setting.name.upper().replace(".", "_").replace("-", "_")


def _number(found: Resolved) -> int:
    if found.setting.kind == "word":
        return found.setting.choices.index(str(found.value))
    return int(found.value) * (10 if found.setting.kind == "temperature" else 1)
