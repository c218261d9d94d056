"""`run` writes both files and says what the family lacks; `report` prints every form and writes the page."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.main import cli
from harness.outcome import COMPLETE, Fault, UsageFault


def call(*words: object) -> Result:
    """What the command printed. Raises what it raises."""
    return CliRunner().invoke(cli, [str(w) for w in words], standalone_mode=False, catch_exceptions=False)


@pytest.fixture(scope="module")
def done(mini: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A run by the command, and what it printed; the tests of this file only read it."""
    out = tmp_path_factory.mktemp("report") / "run"
    words = ["seeds=1", "conditions=B0,B5", "readers=careful", "family=quick", *(f"{k}={v}" for k, v in mini.items())]
    return out, call("run", *words, "--out", out)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_run_ends_with_both_files(done: tuple[Path, Result]) -> None:
    out, result = done
    assert result.return_value == COMPLETE
    assert (mode(out / "report.md"), mode(out / "report.html")) == (0o644, 0o600)
    assert f"report:  {out / 'report.md'}\npage:    {out / 'report.html'}\n" in result.stdout
    assert "the family Quick fold names conditions that this run does not have: ALL (" in result.stderr
    assert "Traceback" not in result.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.startswith(("<!doctype html>", "<!DOCTYPE html>"))
    for place in (str(out), str(Path.home()), str(Path(__file__).parent.parent)):
        assert place not in page
        assert place not in (out / "report.md").read_text(encoding="utf-8")


def test_report_prints_and_writes(done: tuple[Path, Result], tmp_path: Path) -> None:
    out, _ = done
    page = (out / "report.html").read_bytes()
    assert call("report", out, "--markdown").stdout == (out / "report.md").read_text(encoding="utf-8") + "\n"
    assert "Quick fold" in call("report", out).stdout
    assert len(json.loads(call("report", out, "--json").stdout)["arms"]) == 2
    assert call("report", out, "--html", tmp_path / "page.html").stdout == ""
    assert (tmp_path / "page.html").read_bytes() == page
    assert mode(tmp_path / "page.html") == 0o600
    assert call("report", out, "--html", "-").stdout_bytes == page
    assert (out / "report.html").read_bytes() == page


def test_report_takes_one_form(done: tuple[Path, Result], tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="--markdown, --json and --html: name one"):
        call("report", done[0], "--markdown", "--html", tmp_path / "page.html")
    with pytest.raises(UsageFault, match=r"page\.html: No such file or directory$"):
        call("report", done[0], "--html", tmp_path / "nowhere" / "page.html")


def test_a_page_that_cannot_be_written_loses_nothing(done: tuple[Path, Result], tmp_path: Path) -> None:
    out = Path(shutil.copytree(done[0], tmp_path / "run"))
    marked = (out / "report.md").read_bytes()
    for name in ("report.md", "report.html"):
        (out / name).unlink()
    (out / "report.html").mkdir()
    with pytest.raises(Fault, match=r"report\.html: Is a directory; every outcome is kept \(remedy: make room"):
        call("resume", out)
    assert (out / "report.md").read_bytes() == marked
    (out / "report.html").rmdir()
    assert call("resume", out).return_value == COMPLETE
    assert (out / "report.html").is_file()
