"""How a session's prompt is put together, and how a stored view is read back.

Invariant: outside of its memory part a prompt is the same bytes for every condition; whoever checks a run puts it
together here as well.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.agents.pull import PULL_INSTRUCTION
from memory_probe.protocol import Scope, View, ViewItem
from memory_probe.render import render

Delivery = Literal["push", "pull"]


@dataclass(frozen=True)
class Prompt:
    """The `whole` prompt, and the `memory` part of it: "" when the view is empty, or is asked for by a tool."""

    whole: str
    memory: str


def prompt_of(text: str, view: View, date: dt.date, delivery: Delivery) -> Prompt:
    """The task's text, and after it the rendered view (push), or how to ask for one (pull)."""
    if delivery == "pull":
        return Prompt(f"{text.rstrip()}\n\n{PULL_INSTRUCTION}", "")
    whole = f"{text.rstrip()}\n\n{render(view, date)}"
    return Prompt(whole, whole[len(text) :] if view.items else "")


def merged(views: Iterable[View]) -> View:
    """What an agent saw that asked several times: each item once, in the order in which it was first shown."""
    found = list(views)
    items = tuple(dict.fromkeys(item for view in found for item in view.items))
    shown = {item.text for item in items}
    rejected = tuple(dict.fromkeys(r for view in found for r in view.rejected if r.text not in shown))
    return View(items, rejected, sum(view.considered for view in found))


def item_from(data: Mapping[str, Any]) -> ViewItem:
    """An item of a view as it is stored. Raises ValueError, TypeError, KeyError, AttributeError for what is none."""
    scope = data["scope"] or {}
    where = Scope(tuple(scope["files"]), tuple(scope["symbols"]), scope["task"])
    date = dt.date.fromisoformat(data["date"]) if data["date"] else None
    kinds = {name: data[name] for name in ("type", "state", "successor", "provenance")}
    return ViewItem(data["text"], date, scope=where, **kinds)
