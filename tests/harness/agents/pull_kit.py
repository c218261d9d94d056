"""A memory for the tests of pull delivery."""

from __future__ import annotations

import datetime as dt
import threading

from memory_probe.protocol import View, ViewItem

DAY = dt.date(2026, 3, 9)
VIEW = View((ViewItem('The mark is `x-1`.\n\nSee "grün".', DAY), ViewItem("Nothing else.")))


class Reads:
    """A memory that answers with one view, and keeps which thread asked it for what."""

    def __init__(self, view: View = VIEW) -> None:
        self.view, self.asked = view, list[tuple[str, int]]()

    def __call__(self, query: str) -> View:
        self.asked.append((query, threading.get_ident()))
        return self.view
