"""One document in the form that was asked for: text, Markdown, or one page.

Invariant: a page goes to the file that was named, whole or not at all, and to no other place.
"""

from __future__ import annotations

from pathlib import Path

import click

from analysis.report.html import as_html
from analysis.report.layout import Document, as_markdown, as_text
from analysis.report.source import Arms
from harness.outcome import UsageFault
from harness.reporting import encoded
from harness.rundir import replace_file

html_option = click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="Write the page to FILE (- for stdout)."
)


def only_one(*, markdown: bool, as_json: bool, html: Path | None) -> None:
    """Raises UsageFault when two forms were asked for."""
    if markdown + as_json + (html is not None) > 1:
        raise UsageFault("--markdown, --json and --html: name one")


def put(document: Document, *, markdown: bool, html: Path | None) -> None:
    """Print a document that has no arms to show, or write its page. Raises UsageFault for an unwritable file."""
    if html is not None:
        write_page(html, encoded(as_html(document, Arms())))
    else:
        click.echo((as_markdown if markdown else as_text)(document))


def write_page(path: Path, page: bytes) -> None:
    """Raises UsageFault for a file that cannot be written."""
    if str(path) == "-":
        click.echo(page, nl=False)
        return
    try:
        replace_file(path, page)
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
