"""Freezing: the same run gives the same bytes, what is public holds no fact, and what is not whole is not frozen."""

from __future__ import annotations

import getpass
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.bundle import layout
from harness.bundle.freeze import freeze
from harness.bundle.opened import open_run
from harness.bundle.reader import Bundle
from harness.bundle.seal import load_seal
from harness.bundle.signing import load_key
from harness.cli.main import cli
from harness.outcome import Fault, UsageFault
from harness.verification.verify import verify

from .bundle_kit import Fold, says

MAIN = "from harness.cli.main import main; main()"


def listing(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def run(fold: Fold, tmp_path: Path) -> Path:
    """A copy of the run to break, with its traps where they were."""
    shutil.copytree(fold.run, tmp_path / "run")
    return tmp_path / "run"


def frozen(run: Path, fold: Fold, out: Path) -> Path:
    freeze(open_run(run), out, load_key(fold.signing))
    return out


def why(run: Path, fold: Fold, tmp_path: Path) -> str:
    """Why a run is not frozen; nothing is written then."""
    out = tmp_path / "out.dbf"
    with pytest.raises(UsageFault) as raised:
        frozen(run, fold, out)
    assert not out.exists()
    assert not list(tmp_path.glob(".new-*"))
    return str(raised.value)


def edit(run: Path, name: str, change: Callable[[Any], object]) -> None:
    data = json.loads((run / name).read_bytes())
    change(data)
    (run / name).write_text(json.dumps(data))


def edit_arm(run: Path, change: Callable[[Any], object]) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        for id_, text in db.execute("SELECT id, record FROM arm").fetchall():
            record = json.loads(text)
            change(record)
            db.execute("UPDATE arm SET record = ? WHERE id = ?", (json.dumps(record), id_))
    db.close()


def test_twice_the_same_bytes_whoever_freezes_wherever(fold: Fold, tmp_path: Path) -> None:
    before = listing(fold.run)
    assert frozen(fold.run, fold, tmp_path / "again.dbf").read_bytes() == fold.sealed.read_bytes()
    strange = {**os.environ, "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "HOME": str(tmp_path), "PYTHONHASHSEED": "7"}
    words = ["freeze", str(fold.run), "--out", "other.dbf", "--sign", str(fold.signing), "--reveal"]
    done = subprocess.run(
        [sys.executable, "-c", f"import os; os.umask(0o077); {MAIN}", *words],
        cwd=tmp_path, env=strange, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "other.dbf").read_bytes() == fold.revealed.read_bytes()
    assert (tmp_path / "other.dbf").stat().st_mode & 0o777 == 0o644
    assert listing(fold.run) == before
    assert set(before) - {"seal.key"} == set(listing(fold.run)) - {"seal.key"}


def test_a_run_directory_gains_nothing_but_its_key(run: Path, fold: Fold, tmp_path: Path) -> None:
    (run / "seal.key").unlink()
    before = listing(run)
    frozen(run, fold, tmp_path / "out.dbf")
    after = listing(run)
    assert set(after) - set(before) == {"seal.key"}
    assert {name: data for name, data in after.items() if name != "seal.key"} == before


def test_what_is_public_holds_no_fact_no_place_no_user_and_no_key(fold: Fold) -> None:
    facts = json.loads((fold.run / "facts.json").read_bytes())["draws"]
    drawn = {value for draw in facts for part in ("facts", "refs", "salts") for value in draw[part].values()}
    key = (fold.run / "seal.key").read_text().strip()
    shy = {*drawn, key, str(fold.home), str(fold.run), str(Path.home()) + "/", str(Path(__file__).parents[2]) + "/"}
    shy |= {name for name in (getpass.getuser(), socket.gethostname()) if len(name) > 5 and name != "localhost"}
    assert len(drawn) == 8
    with Bundle.open(fold.sealed) as bundle:
        assert bundle.seal is None
        assert not bundle.has(layout.KEY)
        public = {told.name: bundle.get(told.name) for told in bundle.manifest.members if not told.sealed}
    assert {layout.RUN, layout.ARMS, layout.SESSIONS, layout.REPORT, layout.ANALYSIS, layout.PLAN} <= public.keys()
    public["the file"] = fold.sealed.read_bytes()
    for name, data in public.items():
        assert not [text for text in shy if text.encode() in data], name
    assert b"PRIVATE" not in fold.revealed.read_bytes()
    # nor a digest of a tree or text that holds one
    with Bundle.open(fold.revealed) as bundle:
        rows = [json.loads(line)["record"] for line in bundle.get(layout.SEALED_SESSIONS).splitlines()]
        texts = {digest for digest, _ in bundle.packs(layout.BLOB_PACK)}
    named = {record[key] for record in rows for key in ("tree_in", "tree_out", "prompt", "view", "transcript")}
    assert len(named | texts) > 10
    for name, data in public.items():
        found = set(re.findall(r"\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b", data.decode("utf-8", "replace")))
        assert not found & (named | texts), name


def test_what_is_sealed_holds_no_place_of_this_machine_either(fold: Fold) -> None:
    for name, data in fold.members.items():
        assert str(fold.home).encode() not in data, name


def test_the_key_opens_what_was_frozen_without_it(fold: Fold, tmp_path: Path) -> None:
    seal = load_seal(fold.run / "seal.key")
    assert says(verify(fold.sealed, None, seal)) == {}
    assert {c.state for c in verify(fold.sealed, None, seal).checks} == {"ok"}
    other = tmp_path / "other.key"
    other.write_text("0" * 64)
    with pytest.raises(UsageFault, match="the key does not open this bundle"):
        verify(fold.sealed, None, load_seal(other))


def test_an_unfinished_run_is_not_frozen_and_the_command_is_told(run: Path, fold: Fold, tmp_path: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("DELETE FROM arm WHERE id = (SELECT max(id) FROM arm)")
    db.close()
    said = why(run, fold, tmp_path)
    assert "1 of 4 arms have no record yet" in said
    assert f"dreambench resume {run}" in said


@pytest.mark.parametrize("name", ["traps/c1/label/s3.md", "oracles/c1/label/oracle.py"])
def test_a_run_whose_traps_have_changed_is_not_frozen(name: str, fold: Fold, tmp_path: Path) -> None:
    shutil.copytree(fold.home, tmp_path / "home")
    run = tmp_path / "home" / "run"
    for kind in ("traps", "oracles"):
        edit(run, "run.json", lambda t, k=kind: t["config"].update({f"{k}_dir": str(tmp_path / "home" / k)}))
    path = tmp_path / "home" / name
    path.write_bytes(path.read_bytes() + b"\n# changed\n")
    said = why(run, fold, tmp_path)
    assert "its traps or oracles have changed since it was run" in said
    assert f"{name.split('/')[0]}.c1_label" in said


def lose_blob(run: Path) -> None:
    next(p for p in (run / "blobs").rglob("*") if p.is_file() and p.suffix == "").unlink()


def damage_blob(run: Path) -> None:
    next(p for p in (run / "blobs").rglob("*") if p.is_file() and p.suffix == "").write_bytes(b"damaged")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda run: (run / "facts.json").unlink(), "the facts of this run are not here"),
        (lose_blob, "No such file"),
        (damage_blob, "damaged (its bytes do not match its name)"),
        (lambda run: (run / "seal.key").write_text("short"), "64 hex digits"),
        (lambda run: (run / "ledger.sqlite").write_bytes(b"no ledger"), "damaged ledger"),
        (lambda run: edit(run, "commitments.json", lambda t: t.update(prices={})), "'prices' is no key"),
    ],
)
def test_a_damaged_run_is_not_frozen(
    damage: Callable[[Path], object], told: str, run: Path, fold: Fold, tmp_path: Path
) -> None:
    damage(run)
    assert told in why(run, fold, tmp_path)


def test_a_run_that_lost_its_trees_is_not_frozen(run: Path, fold: Fold, tmp_path: Path) -> None:
    shutil.rmtree(run / "objects.git" / "objects")
    (run / "objects.git" / "objects").mkdir()
    with pytest.raises((UsageFault, Fault), match="missing from the store"):
        frozen(run, fold, tmp_path / "out.dbf")
    assert not (tmp_path / "out.dbf").exists()


def leak(text: str) -> Callable[[Any], object]:
    """A check of the oracle that says something that must not be public."""
    return lambda record: [check.update(text=text) for e in record["endings"] for check in e["checks"]]


def test_a_fact_or_a_place_that_would_be_public_stops_the_freeze(run: Path, fold: Fold, tmp_path: Path) -> None:
    draw = json.loads((run / "facts.json").read_bytes())["draws"][0]
    edit_arm(run, leak(f"the mark is {draw['facts']['mark']}"))
    assert "public/arms.jsonl would be public and holds a drawn fact" in why(run, fold, tmp_path)
    edit_arm(run, leak(f"see {draw['refs']['e1']}"))
    assert "public/arms.jsonl would be public and holds a drawn fact" in why(run, fold, tmp_path)
    place = Path(__file__).parents[2]
    if str(place).count("/") > 1:
        edit_arm(run, leak(f"{place}/oracles"))
        assert "public/arms.jsonl would be public and holds a place of this machine" in why(run, fold, tmp_path)


# -- the command line ----------------------------------------------------------------------------------------------


def dreambench(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(w) for w in words], standalone_mode=False)


def test_the_command_says_what_it_wrote(fold: Fold, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "x.dbf"
    done = dreambench("freeze", fold.run, "--out", out, "--sign", fold.signing)
    assert done.exception is None
    assert done.return_value == 0
    assert out.read_bytes() == fold.sealed.read_bytes()
    with Bundle.open(out) as bundle:
        assert f"root {bundle.manifest.root}\nsigned by {bundle.signer.fingerprint}\n" in done.output
    assert f"{out}: 4 arms, 5 trees" in done.output
    assert f"sealed; the key is {fold.run / 'seal.key'}" in done.output


@pytest.mark.parametrize("place", ["x.dbf", "blobs/x.dbf", "../run/x.dbf"])
def test_a_bundle_is_not_written_into_the_run(place: str, run: Path, fold: Fold) -> None:
    done = dreambench("freeze", run, "--out", run / place, "--sign", fold.signing)
    assert isinstance(done.exception, UsageFault)
    assert "lies in the run directory" in str(done.exception)
    assert not (run / place).exists()
