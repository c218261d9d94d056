"""For the burner controller: one ``NAME=NUMBER`` a line, names in capitals, no texts.

Temperatures are tenths of a degree, durations seconds, switches 0 or 1, and a word is its place in the list.
"""

from __future__ import annotations

from collections.abc import Sequence

from crumb.resolve import Resolved

# The buffer of a controller takes this many lines; the word makes it keep them.
PORTION = 4
KEEP = "<< keep >>"


def render(oven: str, settings: Sequence[Resolved]) -> str:
    lines: list[str] = []
    for found in settings:
        if found.setting.kind != "text":
            lines.append(f"{_name(found)}={_number(found)}")
    return "".join(f"{line}\r\n" for line in [f"OVEN={oven}", *_portions(lines)])


def _name(found: Resolved) -> str:
    return found.setting.name.upper().replace(".", "_").replace("-", "_")


def _number(found: Resolved) -> int:
    if found.setting.kind == "word":
        return found.setting.choices.index(str(found.value))
    return int(found.value) * (10 if found.setting.kind == "temperature" else 1)


def _portions(lines: Sequence[str]) -> list[str]:
    sent: list[str] = []
    for start in range(0, len(lines), PORTION):
        sent += [*lines[start : start + PORTION], f"KEEP={KEEP}"]
    return sent
