"""A real browser, a real run's report, and a page that keeps account of what it does.

Chromium is the distribution's (or any, named by DREAMBENCH_CHROMIUM); nothing is downloaded. Invariant: no page is
closed without a look at its faults and at what it asked for.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, FloatRect, Page, sync_playwright

from harness.reporting import encoded
from harness.reporting import report as make_report
from harness.rundir import RunDir

from ..blindness.blindness_runs import Real

REQUIRE = "DREAMBENCH_REQUIRE_BROWSER"
HIGHEST = 16_000  # px of a screenshot


def without(reason: str) -> None:
    """Skip for a lacking browser, unless the environment says that a browser is required."""
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{REQUIRE}=1, but no browser can be used: {reason}")
    pytest.skip(f"no browser can be used: {reason}")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser."""
    found = os.environ.get("DREAMBENCH_CHROMIUM") or shutil.which("chromium")
    if found is None:
        without("no chromium on the path (install it, or name one by DREAMBENCH_CHROMIUM)")
        raise AssertionError("unreachable")
    return found


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """One browser a module; it must be closed before other modules run, because it keeps an event loop."""
    words = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=chromium, args=words)
        except Error as error:
            without(str(error).splitlines()[0])
            raise
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page, the addresses it asked for, and everything that should not have happened on it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


Visits = Callable[..., AbstractContextManager[Visit]]


@pytest.fixture(scope="module")
def visit(browser: Browser) -> Visits:
    """`with visit(file, color_scheme="dark") as found:` opens a file in a fresh, offline profile.

    At the end: no console error or warning, no page error, no dialog, no new window, no request but for the file.
    """

    @contextmanager
    def opened(file: Path, **options: Any) -> Iterator[Visit]:
        context = browser.new_context(offline=True, **{"viewport": {"width": 1200, "height": 900}, **options})
        context.set_default_timeout(60_000)  # a bound for what hangs, not a measurement
        found = Visit(context.new_page())
        _watch(found)
        try:
            found.page.goto(file.as_uri())
            yield found
        finally:
            context.close()
        assert found.faults == []
        assert found.requests == [file.as_uri()]

    return opened


def _watch(found: Visit) -> None:
    page, faults = found.page, found.faults

    def dismiss(dialog: Dialog) -> None:
        faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def heard(said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            faults.append(f"console: {said.text}")

    page.on("request", lambda request: found.requests.append(request.url))
    page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
    page.on("popup", lambda popup: faults.append(f"new window: {popup.url}"))
    page.on("dialog", dismiss)
    page.on("console", heard)


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory, chromium: str, real: Real) -> Path:
    """report.html of the real fold, one seed."""
    page = tmp_path_factory.mktemp("browser") / "report.html"
    page.write_bytes(encoded(make_report(RunDir.open(real.out), real.records).page()))
    return page


Shoot = Callable[[Page, str], None]


@pytest.fixture(scope="session")
def shoot() -> Shoot:
    """`shoot(page, "light")` keeps a screenshot to be looked at: the whole page, as far as a picture can be high."""
    folder = Path(os.environ.get("DREAMBENCH_ARTIFACTS") or Path(__file__).parent / "artifacts")
    folder.mkdir(parents=True, exist_ok=True)

    def shot(page: Page, name: str) -> None:
        wide, high = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        clip: FloatRect = {"x": 0, "y": 0, "width": wide, "height": min(high, HIGHEST)}
        page.screenshot(path=folder / f"{name}.png", full_page=True, clip=clip)

    return shot
