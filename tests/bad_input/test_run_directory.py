"""Run directories that cannot be used, damaged files in them, another configuration: refused, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ..command import dreambench, installed
from .conftest import MINI, Place, fingerprint, refused

ARM = "c1_label/B0/1/given"
ALSO = "c1_label/B0/2/given"


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A finished run of two arms; tests work on copies of it."""
    root = tmp_path_factory.mktemp("begun")
    shutil.copytree(MINI / "traps", root / "traps")
    shutil.copytree(MINI / "oracles", root / "oracles")
    found = Place(root)
    done = installed("run", *found.words, "seeds=2", "--out", found.out)
    assert done.returncode == 0, done.stderr
    return found


@pytest.fixture
def copy(begun: Place, tmp_path: Path) -> Place:
    shutil.copytree(begun.root, tmp_path / "copy")
    return Place(tmp_path / "copy")


def owe(place: Place, arm: str = ALSO) -> None:
    """Make an arm owed, as if the run had been cut off before it ended."""
    with sqlite3.connect(place.out / "ledger.sqlite") as db:
        assert db.execute("DELETE FROM arm WHERE arm = ?", (arm,)).rowcount == 1
    db.close()


# -- places that cannot be written -------------------------------------------------------------------------------


def test_a_path_below_a_file_is_no_run_directory(place: Place) -> None:
    (place.root / "file").write_text("x")
    refused(installed("run", *place.words, "--out", place.root / "file" / "run"), 1, "file/run", "--out")
    refused(dreambench("run", *place.words, "--out", place.root / "file"), 1, "file", "--out")
    assert (place.root / "file").read_text() == "x"


def test_a_directory_with_other_things_is_not_touched(place: Place) -> None:
    place.out.mkdir()
    (place.out / "results.json").write_text("{}")
    (place.out / "facts.json").write_text("{}")
    before = fingerprint(place.out)
    refused(dreambench("run", *place.words, "--out", place.out), 1, str(place.out), "not empty and not a run")
    assert fingerprint(place.out) == before


@pytest.fixture
def sealed(copy: Place) -> Iterator[Place]:
    """The run directory of `copy` as a read-only mount."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    subprocess.run(["mount", "--bind", copy.out, copy.out], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", copy.out], check=True)
        yield copy
    finally:
        subprocess.run(["umount", copy.out], check=True)


@pytest.mark.long
def test_a_read_only_run_is_read_but_not_driven(sealed: Place) -> None:
    refused(dreambench("resume", sealed.out), 1, str(sealed.out), "Read-only")
    refused(dreambench("run", *sealed.words, "--out", sealed.out / "new"), 1, "new", "Read-only", "--out")
    for words in (("status",), ("report",), ("show",), ("show", ARM)):
        done = dreambench(words[0], sealed.out, *words[1:])
        assert done.returncode == 0, done.stderr


# -- damage --------------------------------------------------------------------------------------------------------


def cut(name: str, share: float) -> Callable[[Path], object]:
    def damage(out: Path) -> None:
        data = (out / name).read_bytes()
        (out / name).write_bytes(data[: int(len(data) * share)])

    return damage


def ledger(statement: str) -> Callable[[Path], object]:
    def damage(out: Path) -> None:
        with sqlite3.connect(out / "ledger.sqlite") as db:
            db.execute(statement)
        db.close()

    return damage


def table(name: str, change: Callable[[dict[str, object]], object]) -> Callable[[Path], object]:
    def damage(out: Path) -> None:
        data = json.loads((out / name).read_text())
        change(data)
        (out / name).write_text(json.dumps(data))

    return damage


DAMAGE = [
    ("cut ledger", cut("ledger.sqlite", 0.5), ("ledger.sqlite: damaged ledger", "remedy")),
    ("garbage ledger", lambda out: (out / "ledger.sqlite").write_bytes(os.urandom(9000)), ("damaged ledger",)),
    ("ledger schema", ledger("UPDATE meta SET value = '7'"), ("ledger schema '7'", "expected 1")),
    ("ledger record", ledger("UPDATE arm SET record = '{'"), ("ledger.sqlite: a record",)),
    ("ledger record key", ledger("""UPDATE arm SET record = json_remove(record, '$.expect')"""), ("expect",)),
    ("cut run.json", cut("run.json", 0.5), ("run.json: damaged",)),
    ("empty run.json", cut("run.json", 0), ("run.json: damaged",)),
    ("run.json list", lambda out: (out / "run.json").write_text("[]"), ("run.json: damaged",)),
    ("run.json schema", table("run.json", lambda d: d.update(schema=7)), ("run.json: schema 7", "expected 1")),
    ("run.json key", table("run.json", lambda d: d.pop("meaning")), ("run.json: damaged: meaning",)),
    ("run.json config", table("run.json", lambda d: d["config"].update(colour=1)), ("run.json: colour",)),  # type: ignore[attr-defined]
    ("facts gone", lambda out: (out / "facts.json").unlink(), ("facts.json: No such file",)),
    ("cut facts", cut("facts.json", 0.5), ("facts.json: not a facts file",)),
    ("facts key", table("facts.json", lambda d: d["draws"][0].pop("salts")), ("facts.json", "draws.0.salts")),  # type: ignore[index]
    ("facts value", lambda out: _forge(out / "facts.json"), ("facts.json", "do not match")),
    ("commitments", table("commitments.json", lambda d: d.update(root="0")), ("commitments.json", "does not match")),
]


def _forge(path: Path) -> None:
    data = json.loads(path.read_text())
    data["draws"][0]["facts"]["mark"] = "bm-000000000000"
    path.write_text(json.dumps(data))


@pytest.mark.parametrize(("damage", "says"), [d[1:] for d in DAMAGE], ids=[d[0] for d in DAMAGE])
def test_damage_is_named_and_left_as_it_is(
    damage: Callable[[Path], object], says: tuple[str, ...], copy: Place
) -> None:
    damage(copy.out)
    before = fingerprint(copy.out)
    refused(dreambench("resume", copy.out, f"traps_dir={copy.root / 'traps'}"), 1, *says)
    assert fingerprint(copy.out) == before


def test_a_ledger_that_is_moved_away_is_the_way_out_of_damage(copy: Place) -> None:
    facts = (copy.out / "facts.json").read_bytes()
    (copy.out / "ledger.sqlite").unlink()
    owed = dreambench("status", copy.out, "--json")
    assert owed.returncode == 2
    assert json.loads(owed.stdout)["outcomes"]["owed"] == 2
    assert dreambench("resume", copy.out).returncode == 0
    assert (copy.out / "facts.json").read_bytes() == facts


# -- another configuration -------------------------------------------------------------------------------------------

OTHER: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("budget", ("budget.k=7",), ("config.budget.k: 6 -> 7",)),
    ("limits", ("limits.wall=9",), ("config.limits.wall: 120.0 -> 9.0",)),
    ("conditions", ("conditions=B0,B5",), ('config.conditions: ["B0"] -> ["B0", "B5"]', "conditions.B5: null -> ")),
    ("seeds", ("seeds=3", "first_seed=2"), ("config.first_seed: 1 -> 2", "config.seeds: 2 -> 3")),
    ("readers", ("readers=credulous",), ('config.readers: ["careful"] -> ["credulous"]',)),
    ("agent", ("agent.name=solution",), ('config.agent.name: "nop" -> "solution"', "agent: ")),
    ("sandbox", ("sandbox=docker",), ('sandbox: "bubblewrap" -> "docker"',)),
]


@pytest.mark.parametrize(("words", "says"), [o[1:] for o in OTHER], ids=[o[0] for o in OTHER])
def test_another_configuration_is_refused(words: tuple[str, ...], says: tuple[str, ...], copy: Place) -> None:
    before = fingerprint(copy.out)
    refused(dreambench("resume", copy.out, *words), 1, "another configuration", "nothing was changed", *says)
    assert fingerprint(copy.out) == before


@pytest.mark.parametrize(
    ("name", "key"), [("traps/c1/label/s1.md", "traps.c1_label"), ("oracles/c1/label/oracle.py", "oracles.c1_label")]
)
def test_an_edited_trap_or_oracle_is_another_configuration(name: str, key: str, copy: Place) -> None:
    with (copy.root / name).open("a") as file:
        file.write("\n")
    before = fingerprint(copy.out)
    moved = (f"traps_dir={copy.root / 'traps'}", f"oracles_dir={copy.root / 'oracles'}")
    refused(dreambench("resume", copy.out, *moved), 1, f"{key}: ", " -> ")
    refused(dreambench("run", *copy.words, "seeds=2", "--out", copy.out), 1, f"{key}: ", " -> ")
    assert fingerprint(copy.out) == before


def test_where_and_how_fast_are_no_part_of_the_configuration(copy: Place) -> None:
    """Another working directory, other jobs, a moved run directory and moved traps."""
    owe(copy)
    moved = copy.root / "elsewhere"
    copy.out.rename(moved)
    (copy.root / "traps").rename(copy.root / "snares")
    done = dreambench("resume", "elsewhere", "--jobs", "2", "traps_dir=snares", cwd=copy.root)
    assert done.returncode == 0, done.stderr
    status = dreambench("status", moved, "--json")
    assert json.loads(status.stdout)["complete"] is True


def test_folders_named_from_the_working_directory_are_found_from_any_other(place: Place) -> None:
    words = [*place.words[2:], "traps_dir=traps", "oracles_dir=oracles"]
    assert dreambench("run", *words, "--out", "run", cwd=place.root).returncode == 0
    owe(place, ARM)
    done = dreambench("resume", place.out, cwd="/")
    assert done.returncode == 0, done.stderr


# -- facts of another run --------------------------------------------------------------------------------------------


def test_facts_that_do_not_fit_are_refused(begun: Place, place: Place) -> None:
    again = ("run", *place.words, "--out", place.out, "--facts-from", begun.out)
    refused(dreambench(*again, "seeds=3"), 1, "facts.json", "no facts for c1_label seed 3")
    place.edit(place.trap / "trap.toml", 'format = "bm-{hex:12}"', 'format = "bx-{hex:12}"')
    refused(dreambench(*again), 1, "facts.json", "another version of the trap", "old_mark")
    assert not (place.out / "run.json").exists()
    place.edit(place.trap / "trap.toml", 'format = "bx-{hex:12}"', 'format = "bm-{hex:12}"')
    assert dreambench(*again).returncode == 0, "what was refused left the place usable"
    assert json.loads((place.out / "run.json").read_text())["draw_reused"] is True


# -- looking ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["c1_label/B0/9/given", "c1_label", "c1_label/B0/x/given"])
def test_an_unknown_arm_is_named(arm: str, begun: Place) -> None:
    before = fingerprint(begun.out)
    refused(dreambench("show", begun.out, arm), 1, arm)
    assert fingerprint(begun.out) == before


@pytest.mark.parametrize(
    "words", [("status", "RUN"), ("report", "RUN"), ("show", "RUN"), ("show", "RUN", ARM), ("conditions",)]
)
def test_json_is_json(words: tuple[str, ...], begun: Place) -> None:
    done = dreambench(*(begun.out if w == "RUN" else w for w in words), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_json_of_what_looks_at_the_machine(begun: Place) -> None:
    done = dreambench("doctor", "--json")
    assert done.returncode in (0, 3)
    assert {row["what"] for row in json.loads(done.stdout)} >= {"python", "git", "bubblewrap", "docker"}
    traps = shutil.copytree(begun.root / "traps", begun.root / "undated")
    (traps / "c1/label/e1.md").write_text((traps / "c1/label/e1.md").read_text().replace("2026-01-05", "in January"))
    done = dreambench("trap", "check", "--all", "--traps", traps, "--oracles", begun.root / "oracles", "--json")
    assert done.returncode == 3, done.stderr
    (problem,) = json.loads(done.stdout)
    assert (problem["gate"], problem["where"]) == ("format", "e1.md")
