"""`trap check --fix`: what follows from the files is mended and told, and no byte else changes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.main import cli
from harness.config import load
from harness.mending import mend, mend_all
from harness.outcome import REJECTED
from oracles.folder import load_oracle
from traps.gates import static_problems
from traps.load import CANARY, load_trap

MINI = Path(__file__).parent.parent / "data" / "mini"
CANARY_LINE = f"<!-- dreambench canary {CANARY} -->"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    shutil.copytree(MINI, tmp_path / "mini", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "mini"


def rooms(world: Path) -> tuple[Path, Path]:
    return world / "traps/c1/label", world / "oracles/c1/label"


def mended(world: Path) -> list[str]:
    return [f"{change.path.relative_to(world)}: {change.what}" for change in mend(*rooms(world))]


def listing(world: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(world)): p.read_bytes() if p.is_file() else None for p in sorted(world.rglob("*"))}


def edit(path: Path, old: str, new: str) -> None:
    data = path.read_bytes()
    assert data.count(old.encode()) == 1, (path, old)
    path.write_bytes(data.replace(old.encode(), new.encode()))


def test_a_sound_trap_is_left_alone(world: Path) -> None:
    before = listing(world)
    assert mended(world) == []
    assert listing(world) == before


def drop_canary(world: Path) -> None:
    edit(rooms(world)[0] / "e1.md", CANARY_LINE + "\n", "")


def drop_line_end(world: Path) -> None:
    path = rooms(world)[1] / "oracle.py"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))


def drop_carries(world: Path) -> None:
    edit(rooms(world)[0] / "trap.toml", 'carries = ["old_mark"]\n', "")


def empty_carries(world: Path) -> None:
    edit(rooms(world)[0] / "trap.toml", 'carries = ["mark"]', "carries = []")


def drop_nothing(world: Path) -> None:
    path = rooms(world)[1] / "expect.toml"
    rows = [row for row in path.read_text().split("[[solution]]\n") if '"nothing"' not in row]
    path.write_text("[[solution]]\n".join(rows).rstrip("\n") + "\n")


def other_id(world: Path) -> None:
    edit(rooms(world)[0] / "trap.toml", 'id = "c1_label"', 'id = "c1_lable"')


TRAP, ORACLE = "traps/c1/label", "oracles/c1/label"
#: How to damage the trap in a way that mends to the very same bytes, and what is told.
BACK: dict[str, tuple[Callable[[Path], None], str]] = {
    "canary": (drop_canary, f"{TRAP}/e1.md: the canary line is its first"),
    "line end": (drop_line_end, f"{ORACLE}/oracle.py: its last line ends"),
    "empty carries": (empty_carries, f"{TRAP}/trap.toml: e2 carries mark, as e2.md shows"),
    "id": (other_id, f'{TRAP}/trap.toml: id = "c1_label", as its folder says (was "c1_lable")'),
}


@pytest.mark.parametrize("name", BACK)
def test_what_follows_from_the_files_comes_back_as_it_was(name: str, world: Path) -> None:
    before = listing(world)
    damage, says = BACK[name]
    damage(world)
    assert listing(world) != before
    assert mended(world) == [says]
    assert listing(world) == before
    assert mended(world) == []


def test_a_missing_list_and_a_missing_row_are_added(world: Path) -> None:
    drop_carries(world)
    drop_nothing(world)
    assert mended(world) == [
        f"{TRAP}/trap.toml: e1 carries old_mark, as e1.md shows",
        f"{ORACLE}/expect.toml: `nothing` must get failed",
    ]
    trap, oracle = rooms(world)
    config = load(None)
    found = load_trap(trap, world / "traps/fixtures", config.cache_dir)
    assert static_problems(found) == []
    assert [note.carries for note in found.spec.event] == [("old_mark",), ("mark",)]
    assert {row.name: row.outcome for row in load_oracle(oracle).expectations}["nothing"] == "failed"


def test_caches_and_compiled_files_go_and_sources_stay(world: Path) -> None:
    before = listing(world)
    trap, oracle = rooms(world)
    for path in (
        trap / "__pycache__/playbook.cpython-311.pyc",
        oracle / "solutions/naive/src/mini/labels.pyc",
        oracle / "solutions/left_over/src/__pycache__/x.pyc",
        oracle / "solutions/reference/.pytest_cache/v/README.md",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"compiled")
    told = mended(world)
    assert listing(world) == before
    assert told == [
        f"{TRAP}/__pycache__: removed: a cache is no part of a trap",
        f"{ORACLE}/solutions/left_over/src/__pycache__: removed: a cache is no part of a trap",
        f"{ORACLE}/solutions/left_over/src: removed: nothing is left in it",
        f"{ORACLE}/solutions/left_over: removed: nothing is left in it",
        f"{ORACLE}/solutions/naive/src/mini/labels.pyc: removed: compiled from the file beside it",
        f"{ORACLE}/solutions/reference/.pytest_cache: removed: a cache is no part of a trap",
    ]


def test_a_declared_solution_keeps_its_folder_and_a_compiled_file_without_its_source_stays(world: Path) -> None:
    naive = rooms(world)[1] / "solutions/naive"
    shutil.rmtree(naive)
    (naive / "src/__pycache__").mkdir(parents=True)
    program = rooms(world)[1] / "solutions/stale/sitecustomize.pyc"
    program.write_bytes(b"what this solution is about")
    assert [line.partition(":")[0] for line in mended(world)] == [
        f"{ORACLE}/solutions/naive/src/__pycache__",
        f"{ORACLE}/solutions/naive/src",
    ]
    assert (naive.is_dir(), program.is_file()) == (True, True)
    assert load_oracle(rooms(world)[1]).overlays["naive"] == {}


def unused_fact(world: Path) -> None:
    edit(
        rooms(world)[0] / "trap.toml",
        "[facts.mark]",
        '[facts.spare]\nkind = "token"\nformat = "sp-{hex:12}"\n\n[facts.mark]',
    )


def late_date(world: Path) -> None:
    edit(rooms(world)[0] / "e1.md", "2026-01-05", "on Monday")


def carries_too_much(world: Path) -> None:
    edit(rooms(world)[0] / "trap.toml", 'carries = ["mark"]', 'carries = ["mark", "old_mark"]')


def wrong_outcome(world: Path) -> None:
    edit(rooms(world)[1] / "expect.toml", 'name = "naive"\noutcome = "failed"', 'name = "naive"\noutcome = "trapped"')


def undeclared(world: Path) -> None:
    shutil.copytree(rooms(world)[1] / "solutions/naive", rooms(world)[1] / "solutions/another")


def no_changed_token(world: Path) -> None:
    edit(rooms(world)[1] / "expect.toml", '[[solution]]\nname = "mutated"\noutcome = "failed"\n', "")


def other_construct(world: Path) -> None:
    edit(rooms(world)[0] / "trap.toml", 'construct = "C1"', 'construct = "C3"')
    other_id(world)


def broken(world: Path) -> None:
    edit(rooms(world)[0] / "trap.toml", "clean_start = false", "clean_start =")
    drop_canary(world)


def strange_list(world: Path) -> None:
    edit(rooms(world)[0] / "trap.toml", 'carries = ["mark"]', "carries = [ # none\n]")


def not_utf8(world: Path) -> None:
    (rooms(world)[0] / "e1.md").write_bytes(b"\xff no text")


NOT_DERIVABLE = (unused_fact, late_date, carries_too_much, wrong_outcome, undeclared, no_changed_token,
                 other_construct, broken, strange_list, not_utf8)  # fmt: skip


@pytest.mark.parametrize("damage", NOT_DERIVABLE, ids=lambda damage: damage.__name__)
def test_what_has_a_second_answer_is_never_touched(damage: Callable[[Path], None], world: Path) -> None:
    damage(world)
    before = listing(world)
    assert mended(world) == []
    assert listing(world) == before


def test_line_ends_of_the_file_are_kept(world: Path) -> None:
    path = rooms(world)[0] / "e1.md"
    drop_canary(world)
    plain = path.read_bytes().replace(b"\n", b"\r\n").rstrip(b"\r\n")
    path.write_bytes(plain)
    assert len(mended(world)) == 2
    assert path.read_bytes() == CANARY_LINE.encode() + b"\r\n" + plain + b"\r\n"


def test_a_file_outside_the_trap_is_not_written(world: Path) -> None:
    outside = world / "traps/c1/note.md"
    outside.write_text("somebody else's\n")
    edit(rooms(world)[0] / "trap.toml", 'text = "e1.md"', 'text = "../note.md"')
    mended(world)
    assert outside.read_text() == "somebody else's\n"


def test_an_unknown_name_mends_nothing(world: Path) -> None:
    drop_canary(world)
    places = {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")}
    assert list(mend_all(load(None, ["traps=c1_label,c1_other"], places))) == []
    assert len(list(mend_all(load(None, [], places)))) == 1


def test_the_command_tells_each_change_and_then_checks_as_usual(world: Path) -> None:
    drop_canary(world)
    late_date(world)
    words = ["trap", "check", "c1_label", "--traps", str(world / "traps"), "--oracles", str(world / "oracles")]
    plain = CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    assert "    format: e1.md: its first line is not the canary line (--fix)\n" in plain.stdout
    done = CliRunner().invoke(cli, [*words, "--fix"], standalone_mode=False, catch_exceptions=False)
    assert done.return_value == REJECTED
    first, second, *rest = done.stdout.splitlines()
    assert first == f"fixed {rooms(world)[0] / 'e1.md'}: the canary line is its first"
    assert second.startswith("NO  c1_label: nothing was run")
    assert rest == ["    format: e1.md: does not say its date (2026-01-05)"]
    drop_canary(world)
    told = CliRunner().invoke(cli, [*words, "--fix", "--json"], standalone_mode=False, catch_exceptions=False)
    assert [problem["where"] for problem in json.loads(told.stdout)] == ["e1.md"]
    assert told.stderr == f"{first}\n"
