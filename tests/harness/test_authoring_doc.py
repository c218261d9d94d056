"""`docs/authoring.md` is true: its commands print what it shows, and its files are those of a trap that is sound."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.config import ROOT, load
from harness.ledger import Ledger
from harness.plan import load_oracles, select
from harness.run import execute, prepare
from traps.gates import static_problems

from ..doc_page import FENCE, agree, printed, shown

DOC = (ROOT / "docs" / "authoring.md").read_text("utf-8")
DATA = ROOT / "tests" / "data" / "authoring"
TRAP, ORACLE = Path("mine/traps/c1/till_code"), Path("mine/oracles/c1/till_code")
CHECK = "dreambench trap check c1_till_code --traps mine/traps --oracles mine/oracles"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with what the page's first command makes."""
    shutil.copytree(ROOT / "traps/fixtures/parcels", tmp_path / "mine/traps/fixtures/parcels")
    (tmp_path / "mine/oracles").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def finish(here: Path) -> None:
    """The finished files in place of whatever is there."""
    for folder, source in ((TRAP, "trap"), (ORACLE, "oracle")):
        shutil.rmtree(here / folder, ignore_errors=True)
        shutil.copytree(DATA / source, here / folder)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), "utf-8")


def test_the_files_shown_are_those_of_the_example() -> None:
    blocks = [(path, text) for _, path, text in FENCE.findall(DOC) if path]
    assert len(blocks) == 7
    for path, text in blocks:
        assert text.rstrip("\n") in (DATA / path).read_text("utf-8"), path


def test_what_is_said_to_be_printed_before_anything_is_run_is_printed(here: Path) -> None:
    first, scaffold, left, files, mended, *_ = shown(DOC)
    assert first[0].startswith("mkdir -p mine/oracles mine/traps/fixtures && cp -r traps/fixtures/parcels ")
    for command, said in (scaffold, left):
        assert agree(said, printed(command)), printed(command)
    finish(here)
    edit(TRAP / "trap.toml", 'carries = ["mark"]', "carries = []")
    edit(TRAP / "e1.md", "2026-01-06", "last week")
    (TRAP / "e2.md").write_text("".join((TRAP / "e2.md").read_text("utf-8").splitlines(True)[1:]), "utf-8")
    for command, said in (files, mended):
        assert agree(said, printed(command))


@pytest.mark.long
def test_the_example_is_solved_by_whoever_knows_its_note(here: Path, box: Sandbox) -> None:
    finish(here)
    words = ["traps=c1_till_code", "conditions=EVIDENCE", "seeds=1", "readers=careful"]
    config = load(None, words, {"traps_dir": "mine/traps", "oracles_dir": "mine/oracles"})
    (trap,) = select(config, config.cache_dir).values()
    assert static_problems(trap) == []
    rows = {row.name: row.outcome for row in load_oracles(config, {trap.id: trap})[trap.id].expectations}
    assert rows == {"reference": "pass", "naive": "failed", "invented": "trapped", "net_price": "failed",
                    "nothing": "failed", "mutated": "trapped"}  # fmt: skip
    ready = prepare(config, here / "run")
    execute(ready, lambda record: None, sandbox=box)
    with Ledger(ready.folder.ledger, read_only=True) as ledger:
        (record,) = ledger.arms()
    assert record.warm_up == (True, True)
    assert [(e.outcome.value, e.cause) for e in record.endings] == [("pass", "")]


@pytest.mark.long
def test_what_is_said_to_be_printed_by_whole_checks_is_printed(here: Path) -> None:
    _, _, _, _, _, solvable, wrong, sound, frozen, admitted, listed, sheets = shown(DOC)
    assert [c for c, _ in (solvable, wrong, sound)] == [CHECK] * 3
    finish(here)
    edit(TRAP / "playbook.py", 'about="till code on receipts"', 'about="register number at the counter"')
    assert agree(solvable[1], printed(CHECK))
    finish(here)
    edit(ORACLE / "expect.toml", 'a letter of the code changed\noutcome = "trapped"', 'x\noutcome = "failed"')
    assert agree(wrong[1], printed(CHECK))
    finish(here)
    for command, said in (sound, frozen, admitted, listed, sheets):
        assert agree(said, printed(command))
