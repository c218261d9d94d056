"""The colours of the page: contrast as WCAG 2 asks for it, in light and dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import analysis.report.html

STYLE = Path(analysis.report.html.__file__).with_name("templates") / "style.css"


def palettes() -> list[dict[str, str]]:
    """The variables of the style sheet by theme: light, dark by preference, dark by the button."""
    style = STYLE.read_text()
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r"\{([^{}]*)\}", style)]
    light, *others = [block for block in found if block]
    return [light, *({**light, **other} for other in others)]


def contrast(one: str, two: str) -> float:
    """The ratio that WCAG 2 defines."""

    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    dark, light = sorted((luminance(one), luminance(two)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_what_wcag_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_both_ways_to_the_dark_theme_are_the_same() -> None:
    light, preferred, chosen = palettes()
    assert preferred == chosen
    assert preferred != light


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_are_told_apart_by_everyone(theme: int) -> None:
    colours = palettes()[theme]
    for ink in ("ink", "soft", "link", "add-ink", "del-ink", "warn"):
        for ground in ("paper", "panel"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["add-ink"], colours["add"]) >= 4.5
    assert contrast(colours["del-ink"], colours["del"]) >= 4.5
    for step in range(11):
        ink = "heat-low-ink" if step < 7 else "heat-high-ink"
        assert contrast(colours[ink], colours[f"heat-{step}"]) >= 4.5, step
    for mark in ("series", "accent", "focus", "soft"):
        assert contrast(colours[mark], colours["paper"]) >= 3, mark


def test_each_step_of_the_heat_map_is_further_from_the_paper() -> None:
    for colours in palettes()[:2]:
        away = [contrast(colours[f"heat-{step}"], colours["paper"]) for step in range(11)]
        assert away == sorted(away)
