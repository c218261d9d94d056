"""Books for people who practise."""

from __future__ import annotations

from quaybook.model import Vessel
from quaybook.service import Harbour

OWNER = "practice"
BERTHS = (("P1", 900), ("P2", 1200))
VESSELS = (Vessel("TRY-1", "Try One", 700), Vessel("TRY-2", "Try Two", 1100, home=True))


def furnish(harbour: Harbour) -> None:
    """Make an empty book one for practice."""
    harbour.give_to(OWNER)
    for name, max_cm in BERTHS:
        harbour.add_berth(name, max_cm)
    for vessel in VESSELS:
        harbour.register(vessel)
