"""Texts from a sandbox are inert in the page: shown, and never markup, script, style or a request."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.report.html import as_html
from analysis.report.packing import fragments

from .conftest import Visits
from .hostile_kit import ATTACKS, arms, document, name

pytestmark = pytest.mark.browser

#: Elements and attributes that the page itself never has, and links that leave it.
FOREIGN = """() => [...document.querySelectorAll("body *")].filter(one =>
  one.matches("iframe, img, base, link, meta, object, embed, style, audio, video, area")
  || [...one.attributes].some(({ name }) => name.startsWith("on") || name === "src" || name === "style")
  || (one.hasAttribute("href") && !one.getAttribute("href").startsWith("#"))
).map(one => one.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    file.write_bytes(as_html(document(), arms()).encode("utf-8", "backslashreplace"))
    return file


def test_hostile_texts_are_shown_and_do_nothing(visit: Visits, hostile: Path) -> None:
    with visit(hostile) as found:
        page = found.page
        page.locator("#browse").wait_for()
        assert page.evaluate(FOREIGN) == []
        assert page.evaluate("document.querySelectorAll('body script:not([type])').length") == 1
        shown = page.locator("#report").inner_text()
        for attack in ATTACKS[:14]:
            assert attack in shown
        keys = fragments([name(number) for number in range(len(ATTACKS))])
        for number, attack in enumerate(ATTACKS):
            page.evaluate("key => { location.hash = '#arm-' + key }", keys[name(number)])
            page.wait_for_function(
                "text => document.querySelector('#arm-title')?.textContent.includes(text)", arg=f"/B{number}/1/"
            )
            page.locator("#arm details").evaluate_all("all => all.forEach(one => one.open = true)")
            assert page.locator("#arm .session").count() == 1
            assert page.evaluate(FOREIGN) == []
            if number < 14:
                assert page.locator("#arm pre").first.inner_text().startswith(attack)
        page.keyboard.press("Escape")
        page.locator("#report").wait_for()
        assert page.evaluate("typeof window.__hit") == "undefined"


def test_an_address_is_no_markup_either(visit: Visits, hostile: Path) -> None:
    """Whoever hands on a link to a report writes the part after the hash."""
    with visit(hostile) as found:
        page = found.page
        for attack in (
            "#arm-<img src=x onerror=window.__hit=1>",
            "#arm-%E0%A4%A",
            "#%E0%A4%A",
            "#arm-",
            "#arm-__proto__",
        ):
            page.evaluate("hash => { location.hash = hash }", attack)
            page.locator("#arm h2" if attack.startswith("#arm-") else "#report").wait_for()
            assert page.evaluate(FOREIGN) == []
        page.keyboard.press("Escape")
        assert page.evaluate("typeof window.__hit") == "undefined"
