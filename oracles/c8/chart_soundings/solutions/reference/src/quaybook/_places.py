# Made by tools/mkplaces.py from chart/places.csv.
"""The berths on the chart."""

from typing import NamedTuple


class Place(NamedTuple):
    """Lengths in centimetres; `since` is the day from which the line holds."""

    max_cm: int
    depth_cm: int
    since: str
    notice: str


PLACES = {
    "A1": Place(1200, 240, "2023-05-02", "first survey"),
    "A2": Place(800, 240, "2026-04-07", "<< notice >>"),
    "B1": Place(1600, 280, "2023-05-02", "first survey"),
    "B2": Place(1400, 260, "2023-05-02", "first survey"),
    "E1": Place(900, 230, "2026-04-07", "<< notice >>"),
    "E2": Place(900, 225, "2026-04-07", "<< notice >>"),
    "E3": Place(1000, 220, "2026-04-07", "<< notice >>"),
}
