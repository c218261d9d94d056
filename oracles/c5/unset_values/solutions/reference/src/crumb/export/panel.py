"""For the touch panel: JSON with the values as people write them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from crumb.resolve import Resolved

FORMAT = 3
MISSING = "<< filler >>"


def render(oven: str, settings: Sequence[Resolved]) -> str:
    data = {
        "format": FORMAT,
        "oven": oven,
        "settings": {found.setting.name: _text(found) for found in settings},
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _text(found: Resolved) -> str:
    return MISSING if found.value is None else found.text
