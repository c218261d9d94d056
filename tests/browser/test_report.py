"""The report of a real run in a real browser: from disk, by keyboard, in both themes, narrow, on paper, unscripted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from .conftest import Shoot, Visits

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDE = {"width": 1200, "height": 900}
NARROW = {"width": 360, "height": 740}
PAPER = {"width": 673, "height": 986}  # A4 less the page's margins, px
STOPS = 20  # presses of the tabulator key within which the headline leads to an arm

#: Parts of the page that have all its kinds of text.
KINDS = [
    ".masthead",
    "#contents",
    ".lead",
    "section > p",
    "figure",
    "#tab-1",
    ".note",
    "#arms",
    ".glossary > :nth-child(-n+5)",
]

#: Is the focus on something in sight, and is that marked?
MARKED = """() => {
  const at = document.activeElement, box = at.getBoundingClientRect();
  const style = getComputedStyle(at.matches("a.cell") ? at.querySelector("rect") : at);
  const ring = at.matches("a.cell") ? style.strokeWidth === "3px"
    : style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const seen = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return ring && seen ? "" : `${at.outerHTML.slice(0, 120)}: ${ring ? "out of sight" : "not marked"}`;
}"""


def focused(page: Page, wanted: str) -> bool:
    found: bool = page.evaluate("wanted => document.activeElement.matches(wanted)", wanted)
    return found


def overflow(page: Page) -> int:
    """Pixels by which the page is wider than the window."""
    found: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return found


def open_arm(page: Page) -> None:
    page.locator("a.cell").first.focus()
    page.keyboard.press("Enter")
    page.locator("#arm h2").wait_for()


def findings(page: Page, rules: dict[str, Any], within: list[str] | None = None) -> list[str]:
    """What axe-core calls serious or critical, in the whole page or in some parts of it."""
    context = {"include": [[part] for part in within]} if within else None
    found = Axe().run(page, context=context, options={"resultTypes": ["violations"], **rules}).response
    return [
        f"{v['id']}: {v['help']}: {[node['html'][:150] for node in v['nodes'][:3]]}"
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
    ]


def structure(page: Page) -> list[str]:
    """Every rule but the slowest one, on everything."""
    return findings(page, {"rules": {"color-contrast": {"enabled": False}}})


def contrast(page: Page) -> list[str]:
    """The slowest rule, on one of each kind of element: colours belong to kinds."""
    rule = {"runOnly": ["color-contrast"]}
    return findings(page, rule, ["#arm"] if page.locator("#arm").is_visible() else KINDS)


def test_every_figure_is_drawn_and_labelled(visit: Visits, report: Path, shoot: Shoot) -> None:
    with visit(report, color_scheme="light") as found:
        page: Page = found.page
        shoot(page, "light")
        figures = page.locator("figure").evaluate_all(
            """figures => figures.map(figure => {
              const svg = figure.querySelector("svg"), frame = svg.getBoundingClientRect();
              const named = (of) => svg.getAttribute(of).split(" ").map(id => document.getElementById(id).textContent);
              const texts = [...svg.querySelectorAll("text")];
              const out = texts.filter(t => { const box = t.getBoundingClientRect();
                return box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2
                  || box.bottom > frame.bottom + 2; });
              return {
                kind: figure.className, wide: frame.width, high: frame.height, role: svg.getAttribute("role"),
                title: named("aria-labelledby").join(""), says: named("aria-describedby").join(""),
                marks: svg.querySelectorAll("rect, path, circle, line, polygon").length,
                texts: texts.map(t => t.firstChild.textContent), out: out.map(t => t.textContent),
                labels: [...figure.querySelectorAll("tbody th")].map(th => th.textContent),
              };
            })"""
        )
    assert {figure["kind"] for figure in figures} == {"forest", "heatmap", "bars", "scatter"}
    for figure in figures:
        assert figure["wide"] > 300, figure["title"]
        assert figure["high"] > 60
        assert figure["role"] == ("group" if figure["kind"] == "heatmap" else "img")
        assert figure["title"].strip()
        assert figure["says"].strip()
        assert figure["marks"] > 3
        assert figure["labels"]
        assert [label for label in figure["labels"] if label not in figure["texts"]] == []
        assert figure["out"] == []


def test_by_keyboard_from_the_headline_to_an_arm_and_back(visit: Visits, report: Path) -> None:
    with visit(report) as found:
        page: Page = found.page
        page.locator("#contents a", has_text="Headline").focus()
        page.keyboard.press("Enter")
        presses = 0
        for goal in ("#to-arms", "a[href^='#arm-']"):
            while not focused(page, goal):
                presses += 1
                assert presses <= STOPS, goal
                page.keyboard.press("Tab")
                assert page.evaluate(MARKED) == ""
            if goal == "#to-arms":
                page.keyboard.press("Enter")
        came_from = page.evaluate("document.activeElement.getAttribute('href')")

        page.keyboard.press("Enter")
        page.locator("#arm h2").wait_for()
        assert focused(page, "#arm-title")
        assert page.evaluate(MARKED) == ""
        name = page.locator("#arm-title").inner_text().removeprefix("Arm ")
        trap, condition, seed, history = name.split("/")
        assert (trap, condition, seed) == ("c1_return_form", "B0", "1")
        assert page.evaluate("location.hash") == f"#arm-{trap}/{condition}/1/{history}" == came_from
        assert not page.locator("#report").is_visible()

        page.keyboard.press("Escape")
        page.locator("#report").wait_for()
        assert focused(page, f"a[href='{came_from}']")
        assert page.evaluate(MARKED) == ""

        page.keyboard.press("Enter")
        page.locator("#arm h2").wait_for()
        page.keyboard.press("Shift+Tab")
        assert focused(page, "#back")
        page.keyboard.press("Enter")
        page.locator("#report").wait_for()
        assert focused(page, f"a[href='{came_from}']")

        page.keyboard.press("Enter")
        page.locator("#arm h2").wait_for()
        page.go_back()
        page.locator("#report").wait_for()
        assert focused(page, f"a[href='{came_from}']")


def test_the_heat_map_is_one_stop_and_arrows_move_inside(visit: Visits, report: Path) -> None:
    with visit(report) as found:
        page: Page = found.page

        def at() -> str:
            return str(page.evaluate("document.activeElement.getAttribute('aria-label')"))

        page.locator("a.cell").first.focus()
        assert at().startswith("c1_return_form, B0: ")
        for key, where in (
            ("ArrowRight", "c1_return_form, B5"),
            ("ArrowDown", "c2_broker_lane, B5"),
            ("ArrowDown", "c3_late_alerts, B5"),
        ):
            page.keyboard.press(key)
            assert at().startswith(f"{where}: ")
            assert page.evaluate(MARKED) == ""
        page.keyboard.press("Tab")
        assert not focused(page, "a.cell")
        page.keyboard.press("Shift+Tab")
        assert at().startswith("c3_late_alerts, B5: ")
        page.keyboard.press("Enter")
        assert page.locator("#arm-title").inner_text() == "Arm c3_late_alerts/B5/1/given"


def test_an_arm_shows_prompt_view_change_and_checks(visit: Visits, report: Path, shoot: Shoot) -> None:
    """The address of an arm can be handed on: it opens there."""
    with visit(report) as found:
        page: Page = found.page
        page.goto(f"{report.as_uri()}#arm-c3_late_alerts/B5/1/given")
        page.reload()
        page.locator("#arm h2").wait_for()
        shoot(page, "arm")
        text = page.locator("#arm").inner_text()
        assert focused(page, "#arm-title")
        assert structure(page) == []
        assert contrast(page) == []
        page.locator("#back").click()
        page.locator("#report").wait_for()
        assert page.locator("#arms").is_visible()
        found.requests[:] = sorted({address.partition("#")[0] for address in found.requests})
    assert [f"Session {n}" in text for n in (1, 2, 3)] == [True, True, True]
    assert "Ending, careful reader: trapped" in text
    assert "forbidden and seen the channel that nobody reads any more" in text
    assert "View: admitted items" in text
    assert "stale" in text
    assert "\n+++ b/src/" in text


def test_the_list_of_arms_can_be_filtered(visit: Visits, report: Path) -> None:
    with visit(report) as found:
        page: Page = found.page
        assert page.locator("#matches").inner_text() == "60 of 60 arms match; the first 50 are listed."
        page.locator("#filter-condition").select_option("B5")
        page.locator("#filter-outcome").select_option("trapped")
        assert page.locator("#matches").inner_text() == "5 of 60 arms match."
        page.locator("#arm-list tbody a", has_text="c3_late_alerts").click()
        assert page.locator("#arm-title").inner_text() == "Arm c3_late_alerts/B5/1/given"


def test_axe_finds_nothing_serious_and_dark_is_dark(visit: Visits, report: Path, shoot: Shoot) -> None:
    def paper(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    with visit(report, color_scheme="light") as found:
        light = paper(found.page)
        assert structure(found.page) == []
        assert contrast(found.page) == []
        found.page.locator("#theme").click()
        by_button = paper(found.page)
    with visit(report, color_scheme="dark") as found:
        dark = paper(found.page)
        assert contrast(found.page) == []
        shoot(found.page, "dark")
        open_arm(found.page)
        assert contrast(found.page) == []
    assert light == "rgb(253, 252, 249)"
    assert dark == by_button == "rgb(22, 24, 27)"


def test_narrow_does_not_scroll_sideways(visit: Visits, report: Path, shoot: Shoot) -> None:
    with visit(report, viewport=NARROW) as found:
        page: Page = found.page
        shoot(page, "narrow")
        page.locator("figure details").evaluate_all("all => all.forEach(one => one.open = true)")
        assert overflow(page) == 0
        assert structure(page) == []
        open_arm(page)
        page.locator("#arm details").evaluate_all("all => all.forEach(one => one.open = true)")
        assert overflow(page) == 0


def test_on_paper_everything_is_there_and_fits(visit: Visits, report: Path, shoot: Shoot) -> None:
    with visit(report, viewport=PAPER, color_scheme="dark") as found:
        page: Page = found.page
        page.emulate_media(media="print")
        shoot(page, "print")
        hidden = page.locator("#report :is(table, svg.drawing, p, figcaption, dd)").evaluate_all(
            """all => all.filter(one => !one.closest(".screen-only, noscript") && !one.checkVisibility(
                { visibilityProperty: true, opacityProperty: true }))
              .map(one => one.outerHTML.slice(0, 100))"""
        )
        cut = page.locator("#report :is(table, svg.drawing)").evaluate_all(
            "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1).map(one => one.id)"
        )
        assert hidden == []
        assert cut == []
        assert overflow(page) == 0
        assert page.locator("figure table").count() == page.locator("figure").count()
        assert not page.locator("#browse, #theme, #contents, summary").locator("visible=true").count()
        assert (
            page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 28, 26)"
        )  # dark ink, whatever the screen
        assert page.pdf(format="A4").count(b"/Type /Page\n") > 3


def test_without_script_the_numbers_are_there(visit: Visits, report: Path) -> None:
    def numbers(page: Page) -> list[str]:
        return page.locator("#report section:not(#arms) table").all_inner_texts()

    with visit(report) as found:
        scripted = numbers(found.page)
    with visit(report, java_script_enabled=False) as found:
        page: Page = found.page
        assert numbers(page) == scripted
        assert "0.900" in scripted[0]
        assert page.locator("#noscript").is_visible()
        assert not page.locator("#browse, #theme").locator("visible=true").count()
        page.locator("figure summary").first.click()
        assert page.locator("figure table").first.is_visible()
