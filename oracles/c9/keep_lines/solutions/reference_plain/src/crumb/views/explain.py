"""What every layer says about one setting, the last word at the end."""

from __future__ import annotations

from crumb.resolve import DEFAULT, Resolved
from crumb.views.table import aligned


def explain(found: Resolved, lines: bool = False) -> list[str]:
    """A head, then one line a layer; with `lines` the line of a file stands behind its name."""
    setting = found.setting
    rows = [(DEFAULT, setting.write(setting.default))]
    for step in found.steps:
        place = f"{step.source}:{step.line}" if lines and step.line else step.source
        rows.append((place, setting.write(step.value)))
    head = f"{setting.name}: {setting.about}" if setting.about else setting.name
    return [head, *(f"  {line}" for line in aligned(rows))]
