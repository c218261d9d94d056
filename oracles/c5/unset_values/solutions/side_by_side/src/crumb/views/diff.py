"""Differences of two ovens, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from crumb.compare import Difference
from crumb.export.panel import MISSING
from crumb.resolve import Resolved
from crumb.views.table import aligned


def diff(found: Sequence[Difference]) -> list[str]:
    return aligned([(each.name, _text(each.left), _text(each.right)) for each in found])


def _text(found: Resolved) -> str:
    return MISSING if found.value is None else found.text
