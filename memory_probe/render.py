"""One renderer turns every view into the text that an agent sees, the same for all conditions.

Invariant: the instruction is the same bytes whatever the view holds, and item texts are carried byte for byte
(each line indented, nothing wrapped or trimmed).
"""

from __future__ import annotations

import datetime as dt

from memory_probe.protocol import View, ViewItem

HEADING = "# Notes from earlier sessions"
INSTRUCTION = (
    "Notes that were kept from earlier work on this repository follow, best match first. "
    "A note may be out of date, or may concern something else; where a note says that it was replaced, "
    "disproved or limited, it was. There may be none."
)


def render(view: View, now: dt.date) -> str:
    """The notes section of a prompt."""
    head = f"{HEADING}\n\nToday is {now.isoformat()}. {INSTRUCTION}\n"
    return head + "".join("\n" + _item(rank, item) for rank, item in enumerate(view.items, 1))


def _item(rank: int, item: ViewItem) -> str:
    fields = [
        ("date", item.date.isoformat() if item.date else ""),
        ("type", item.type or ""),
        ("state", item.state or ""),
        ("files", ", ".join(item.scope.files)),
        ("symbols", ", ".join(item.scope.symbols)),
        ("task", item.scope.task),
        ("replaced-by", f"[{item.successor}]" if item.successor else ""),
        ("source", item.provenance or ""),
    ]
    line = " | ".join(f"{name} {value}" for name, value in fields if value)
    body = "".join(f"    {text}\n" for text in item.text.split("\n"))
    return f"[{rank}]{' ' + line if line else ''}\n{body}"


def memory_bytes(view: View) -> int:
    """UTF-8 bytes of memory content in a view: zero when it is empty."""
    return sum(len(_item(rank, item).encode()) for rank, item in enumerate(view.items, 1))
