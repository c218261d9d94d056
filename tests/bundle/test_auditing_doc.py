"""`docs/auditing.md` is true: its commands, run in order on the example bundle, print what it shows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.bundle import layout
from harness.bundle.reader import Bundle
from harness.bundle.seal import load_seal
from harness.config import ROOT
from harness.preregistration.plan_file import parse_frozen

from ..doc_page import agree, on_terminal, shown

DOC = (ROOT / "docs" / "auditing.md").read_text("utf-8")
EXAMPLES = ROOT / "examples"
#: Scores every arm; the rest of the page does not depend on it.
WHOLE = "dreambench replay examples/parcels.dbf --read; echo $?"
COMMANDS = list(shown(DOC))


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working directory in which the examples lie as in the repository."""
    home = tmp_path_factory.mktemp("auditor")
    (home / "examples").symlink_to(EXAMPLES)
    before = Path.cwd()
    os.chdir(home)
    yield home
    os.chdir(before)


def differing(command: str, said: list[str], here: Path) -> str:
    real = on_terminal(command, here)
    return "" if agree(said, real) else "\n".join([f"$ {command}", *real])


def test_what_is_said_to_be_printed_is_printed_in_order(here: Path) -> None:
    before = digests(EXAMPLES)
    wrong = [differing(command, said, here) for command, said in COMMANDS if command != WHOLE]
    assert not (found := [text for text in wrong if text]), "\n\n".join(found)
    assert before == digests(EXAMPLES)


def digests(folder: Path) -> dict[Path, str]:
    """Of every file that lies in a folder itself."""
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.is_file()}


def test_every_command_that_an_auditor_needs_is_shown() -> None:
    assert len(COMMANDS) == 18
    named = {command.split()[1] for command, _ in COMMANDS if command.startswith("dreambench ")}
    assert named == {"verify", "unpack", "plan", "show", "replay", "audit", "key"}


@pytest.mark.long
def test_a_whole_replay_prints_what_is_shown(here: Path) -> None:
    (said,) = (lines for command, lines in COMMANDS if command == WHOLE)
    assert not (wrong := differing(WHOLE, said, here)), wrong


def test_the_example_is_small_and_is_told_as_it_is() -> None:
    bundle = EXAMPLES / "parcels.dbf"
    assert bundle.stat().st_size < 500_000
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    with Bundle.open(bundle) as opened:
        plan = parse_frozen(opened.get(layout.PLAN), layout.PLAN)
        assert f"Made on {plan.plan.frozen[:10]} with version {opened.manifest.dreambench}," in readme
        assert plan.signer == opened.signer
        assert (EXAMPLES / "parcels.pub.pem").read_bytes() == opened.signer.pem()
    with Bundle.open(EXAMPLES / "parcels-sealed.dbf", load_seal(EXAMPLES / "parcels.seal.key")) as sealed:
        assert not sealed.has(layout.KEY)
        assert sealed.get(layout.FACTS)
        assert sealed.signer == plan.signer
    assert (EXAMPLES / "parcels.plan.sha256").read_text("ascii") == f"{plan.sha256}  plan.json\n"
    assert sorted(plan.plan.meaning["traps"]) == ["c1_return_form", "c5_list_handling", "c9_copy_word"]
    assert list(plan.plan.meaning["conditions"]) == ["B0", "B5", "DF", "EVIDENCE"]


@pytest.mark.parametrize(
    ("said", "real", "same"),
    [
        (["a", "…", "c"], ["a", "c"], True),
        (["a", "…", "c"], ["a", "b", "b", "c"], True),
        (["a", "…", "c"], ["a", "b"], False),
        (["root …"], ["root 12"], True),
        (["root …"], ["tree 12"], False),
        (["a"], ["a", "b"], False),
        (["0"], ["3"], False),
    ],
)
def test_lines_that_are_left_out_stand_for_anything_and_the_others_for_themselves(
    said: list[str], real: list[str], same: bool
) -> None:
    assert agree(said, real) is same
