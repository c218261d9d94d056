"""For the oven bus: one ``REGISTER VALUE`` a line, and the sum of the values.

A value has four hex digits: temperatures in tenths of a degree, switches 0 or 1, numbers as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from crumb.resolve import Resolved
from crumb.schema import Schema

# Where an oven keeps what can be loaded over the bus.
REGISTERS = {
    "bake.top": "<< top_register >>",
    "steam.seconds": "<< steam_register >>",
    "door.lock": "<< door_fair >>",
}
WORDS = 0x10000


def render(settings: Sequence[Resolved]) -> str:
    known = {found.setting.name: found for found in settings}
    values = {REGISTERS[name]: _number(known[name]) for name in REGISTERS if name in known}
    rows = [*values.items(), ("SUM", sum(values.values()))]
    return "".join(f"{register} {value % WORDS:04X}\n" for register, value in rows)


def rows(schema: Schema) -> list[tuple[str, str, str]]:
    """(setting, register, what it is about), for people."""
    return [
        (name, register, schema.setting(name).about)
        for name, register in REGISTERS.items()
        if name in schema
    ]


def _number(found: Resolved) -> int:
    return int(found.value) * (10 if found.setting.kind == "temperature" else 1)
