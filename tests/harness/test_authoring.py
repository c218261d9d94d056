"""`trap new`: what it asks, what it writes, what it refuses; a scaffold is never admitted."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.admission import Report
from harness.admitted import attempts
from harness.cli.authoring import with_oracle
from harness.cli.main import cli
from harness.config import load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.plan import select

MINI = Path(__file__).parent.parent / "data" / "mini"
PROGRAM = str(Path(sys.executable).with_name("dreambench"))
SAID = {
    "construct": "C5",
    "fixture": "mini",
    "skeleton": "one-shelf-differs",
    "slug": "shelf_word",
    "title": "One shelf has a word of its own",
    "family": "reviewer-preference",
    "evidence": "verbatim",
}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    shutil.copytree(MINI, tmp_path / "mini")
    return tmp_path / "mini"


def places(world: Path) -> list[str]:
    return ["--traps", str(world / "traps"), "--oracles", str(world / "oracles")]


def new(world: Path, said: Mapping[str, str]) -> str:
    words = [word for name, value in said.items() for word in (f"--{name}", value)]
    done = invoke(["trap", "new", *words, *places(world)])
    assert done.return_value == COMPLETE
    return done.stdout


def invoke(words: list[str]) -> Result:
    return CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)


def listing(world: Path) -> dict[str, bytes]:
    return {str(p.relative_to(world)): p.read_bytes() for p in sorted(world.rglob("*")) if p.is_file()}


def test_what_is_left_is_told_file_by_file(world: Path) -> None:
    before = listing(world)
    told = new(world, SAID)
    trap, oracle = world / "traps/c5/shelf_word", world / "oracles/c5/shelf_word"
    assert f"written: {trap}\nwritten: {oracle}\n" in told
    files = [line.partition(" (")[0] for line in told.splitlines() if line.startswith(str(world))]
    order = ["trap.toml", "s1.md", "s2.md", "s3.md", "e1.md", "e2.md", "p1.md", "playbook.py"]
    solutions = [f"solutions/{name}/src/mini/labels.py" for name in ("reference", "naive", "out_of_scope")]
    assert files == [str(trap / name) for name in order] + [str(oracle / name) for name in ("oracle.py", *solutions)]
    assert f"`dreambench trap check c5_shelf_word --traps {world / 'traps'} --oracles" in told
    after = listing(world)
    assert {name: after[name] for name in before} == before
    assert sorted(p.name for p in world.rglob(".new-*")) == []
    config = load(None, ["traps=c5_shelf_word"], {"traps_dir": str(world / "traps")})
    (found,) = select(config, config.cache_dir).values()
    assert (found.spec.title, found.spec.skeleton, found.spec.fixture) == (SAID["title"], SAID["skeleton"], "mini")


def test_a_scaffold_is_rejected_and_the_same_list_is_had_again(world: Path) -> None:
    told = new(world, SAID)
    done = invoke(["trap", "admit", "c5_shelf_word", *places(world)])
    assert done.return_value == REJECTED
    owed = [line.strip() for line in told.splitlines() if line.startswith("    ")]
    problems = [line for line in done.stdout.splitlines() if line.startswith("    ")]
    assert len(owed) == len(problems) > 25
    assert all(line.startswith("    unwritten: ") for line in problems)
    assert [line.partition("  ")[2] for line in owed] == [line.split(": ", 2)[2] for line in problems]
    (line,) = attempts(world / "traps")
    assert (line.trap, line.gate, line.admitted) == ("c5_shelf_word", "unwritten", False)


def test_a_mark_in_the_oracle_alone_rejects(world: Path) -> None:
    config = load(None, [], {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")})
    (trap,) = select(config, config.cache_dir).values()
    clean = Report(trap.id, (), (), ())
    assert with_oracle(config, trap, clean) == clean
    oracle = world / "oracles/c1/label/oracle.py"
    oracle.write_text(oracle.read_text() + "# [write: one more check]\n")
    (problem,) = with_oracle(config, trap, clean).problems
    line = len(oracle.read_text().splitlines())
    assert (problem.gate, problem.where, problem.message) == ("unwritten", f"oracle.py:{line}", "one more check")


REFUSED = {
    "construct": (
        {"construct": "C11"},
        "--construct: unknown 'C11' (there are: C1, C2, C3, C4, C5, C6, ",
    ),
    "fixture": ({"fixture": "tempo"}, "--fixture: unknown 'tempo' (there are: mini)"),
    "family": ({"family": "x"}, "--family: unknown 'x' (there are: convention-learning, "),
    "evidence": ({"evidence": "x"}, "--evidence: unknown 'x' (there are: verbatim, "),
    "slug": ({"slug": "Shelf-Word"}, "--slug: 'Shelf-Word' is not"),
    "skeleton": ({"skeleton": "One Shelf"}, "--skeleton: 'One Shelf' is not"),
    "title": ({"title": "two\nlines"}, "--title: one line of text is needed"),
    "place": ({"place": "../x.py"}, "--place: '../x.py' is no path inside the fixture"),
    "there already": ({"construct": "C1", "slug": "label"}, "c1/label: is there already; nothing was written"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_word_is_one_message_and_nothing_is_written(name: str, world: Path) -> None:
    change, says = REFUSED[name]
    before = listing(world)
    with pytest.raises(UsageFault) as fault:
        new(world, {**SAID, **change})
    assert says in str(fault.value)
    assert fault.value.exit_code == 1
    assert listing(world) == before


def test_without_a_terminal_every_missing_option_is_named(world: Path) -> None:
    with pytest.raises(UsageFault, match=r"missing --fixture, --title, --evidence$"):
        new(world, {name: value for name, value in SAID.items() if name not in ("fixture", "title", "evidence")})


def test_a_full_skeleton_is_refused_with_the_names(world: Path) -> None:
    for construct in ("C1", "C2", "C3", "C4"):
        new(world, {**SAID, "construct": construct})
    with pytest.raises(UsageFault) as fault:
        new(world, SAID)
    names = ", ".join(f"c{n}_shelf_word" for n in (1, 2, 3, 4))
    assert str(fault.value) == f"--skeleton: 'one-shelf-differs' is full: {names} have it"


def test_a_failure_half_way_leaves_nothing(world: Path) -> None:
    (world / "oracles/c5").write_text("a file where the folder should be")
    before, folders = listing(world), sorted(world.rglob("*"))
    with pytest.raises(UsageFault, match="nothing was written"):
        new(world, SAID)
    assert (listing(world), sorted(world.rglob("*"))) == (before, folders)


def test_on_a_terminal_what_is_missing_is_asked_for_until_it_is_an_answer(world: Path) -> None:
    ours, theirs = pty.openpty()
    words = [PROGRAM, "trap", "new", *places(world)]
    answers = ["C12", "C9", "mini", "a-shelf-story", "shelf_story", "A story about a shelf", "", ""]
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True) as asking:
        os.close(theirs)
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        told = _read(ours)
        assert asking.wait(30) == COMPLETE, told
    assert "'C12' is not one of" in told
    assert "C7                      synthesis: a rule" in told
    assert "Family [flaky-test]:" in told
    assert "Evidence [disconfirmation]:" in told
    spec = (world / "traps/c9/shelf_story/trap.toml").read_text()
    assert 'skeleton = "a-shelf-story"' in spec


def _read(handle: int) -> str:
    told = b""
    try:
        while block := os.read(handle, 65536):
            told += block
    except OSError:  # what a terminal says when nobody writes to it any more
        pass
    finally:
        os.close(handle)
    return told.decode("utf-8", "replace")
