"""SIGKILL at every kind of point of a run, and again while it is taken up: nothing is lost or counted twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harness.config import load
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.outcome import UsageFault
from harness.run import prepare
from harness.rundir import RunDir
from tests.command import PROGRAM, dreambench
from tests.crash.conftest import WORDS, Drive, Table, alive, check_facts, endings, leftovers

ARMS = {"c1_label/B0/1/given", "c1_label/B5/1/given"}

#: Where the first driver dies, and where the one that takes the run up does. Occurrences count within a driver.
KILLS = [
    (("run:start", 1), ("s2:run", 1)),
    (("s1:run", 1), ("ledger:session", 3)),
    (("s1:captured", 1), ("s3:run", 1)),
    (("s1:record", 1), ("run:start", 1)),
    (("s1:sleep", 2), ("s1:sleep", 1)),
    (("s2:captured", 2), ("s3:score", 1)),
    (("s2:sleep", 1), ("ledger:arm", 1)),
    (("s3:run", 1), ("s1:run", 2)),
    (("s3:captured", 2), ("s2:sleep", 1)),
    (("s3:score", 1), ("s3:captured", 1)),
    (("ledger:session", 1), ("s2:captured", 1)),
    (("ledger:before-arm", 2), ("s2:record", 1)),
    (("ledger:arm", 1), ("s1:record", 1)),
    (("run:end", 1), None),
]
#: In the default suite: one between two sessions, one in the last, one in the ledger.
AT_ONCE = {"s1:record", "s3:run", "ledger:before-arm"}


def _kill(first: tuple[str, int], second: tuple[str, int] | None) -> Any:
    marks = () if first[0] in AT_ONCE else (pytest.mark.long,)
    return pytest.param(first, second, id=f"{first[0]}-{second and second[0]}", marks=marks)


def _whole(out: Path, expected: Table, facts: bytes) -> None:
    assert endings(out) == expected
    assert leftovers(out) == []
    check_facts(out, facts)
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        assert ledger.settled() == ARMS


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [_kill(*kill) for kill in KILLS])
def test_a_run_that_is_killed_twice_ends_like_one_that_was_not(
    first: tuple[str, int], second: tuple[str, int] | None, drive: Drive, undisturbed: Path, tmp_path: Path
) -> None:
    out, children = tmp_path / "run", tmp_path / "run.children"
    source = {"facts_from": str(undisturbed)}
    for kill in (first, second) if second else (first,):
        ended = drive(out, WORDS, kill, source)
        assert ended.signal == signal.SIGKILL, ended
        assert json.loads(children.read_text()) or kill[0] in ("run:start", "s1:run"), "the sandbox had processes"
        assert alive(children) == []
        check_facts(out, (out / "facts.json").read_bytes())
    facts = (out / "facts.json").read_bytes()
    assert (out / "facts.json").read_bytes() == (undisturbed / "facts.json").read_bytes()
    ended = drive(out, WORDS, base=source)
    assert ended.exit == 0, ended.said
    _whole(out, endings(undisturbed), facts)


@pytest.mark.slow
def test_an_undisturbed_run_with_the_facts_of_a_killed_one_ends_alike(drive: Drive, tmp_path: Path) -> None:
    out, other = tmp_path / "run", tmp_path / "other"
    assert drive(out, WORDS, ("s3:run", 2)).signal == signal.SIGKILL
    facts = (out / "facts.json").read_bytes()
    assert drive(out, WORDS).exit == 0
    assert drive(other, WORDS, base={"facts_from": str(out)}).exit == 0
    _whole(out, endings(other), facts)
    assert json.loads((other / "run.json").read_text())["draw_reused"] is True


def test_what_a_killed_arm_finished_can_be_read(drive: Drive, tmp_path: Path) -> None:
    out, arm = tmp_path / "run", "c1_label/B5/1/given"
    words = ("seeds=1", "conditions=B5", "readers=careful", "jobs=1")
    assert drive(out, words, ("ledger:session", 1)).signal == signal.SIGKILL
    assert [p for p in leftovers(out) if p.startswith("stores-")], "the scratch store of the arm is still there"
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        assert list(ledger.arms()) == []
        (session,) = ledger.sessions(arm, 1)
    store, home = ObjectStore(out / "objects.git"), RunDir.open(out)
    assert b"src/mini/boxes.py" in store.get(session.tree_out)
    assert b"src/mini/boxes.py" not in store.get(session.tree_in)
    assert b"empty(name)" in home.get_blob(session.prompt)
    assert json.loads(home.get_blob(session.view))["items"] == []
    home.get_blob(session.transcript)
    shown = dreambench("show", str(out), arm)
    assert shown.returncode == 0
    assert "not finished" in shown.stdout
    assert "+def empty(name)" in shown.stdout
    status = dreambench("status", str(out), "--json")
    assert status.returncode == 2
    assert json.loads(status.stdout)["outcomes"]["owed"] == 1
    resumed = dreambench("resume", str(out), "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["complete"] is True
    assert leftovers(out) == []
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        assert [(r.arm, r.attempt) for r in ledger.arms()] == [(arm, 2)]
        assert len(ledger.sessions(arm, 1)) == 1, "what the killed attempt left is kept"


def test_a_driver_that_is_killed_from_outside_takes_its_sandbox_along(tmp_path: Path, mini: dict[str, str]) -> None:
    out, mark = tmp_path / "run", "86397"
    words = ["agent.name=command", f'agent.command=["sleep","{mark}"]', "conditions=B0", "seeds=1"]
    words += [f"{k}={v}" for k, v in mini.items()]
    driver = subprocess.Popen([PROGRAM, "run", *words, "--out", str(out)], stderr=subprocess.DEVNULL)
    try:
        _until(lambda: _processes(mark), "the agent to start")
        refused = dreambench("resume", str(out))
        assert refused.returncode == 1
        assert "another process is driving this run" in refused.stderr
        assert dreambench("clean", str(out)).returncode == 1
        assert _processes(mark), "neither disturbed the run"
        with pytest.raises(UsageFault, match="another process"):
            prepare(load(None, words), out)
    finally:
        driver.kill()
        driver.wait()
    _until(lambda: not _processes(mark), "the agent to end with its driver")
    cleaned = dreambench("clean", str(out))
    assert cleaned.returncode == 0, cleaned.stderr
    assert cleaned.stdout.startswith("1 scratch stores")
    assert leftovers(out) == []


@pytest.mark.parametrize(
    "gone", [("run.json",), ("run.json", "commitments.json"), ("run.json", "commitments.json", "facts.json")]
)
def test_a_run_that_was_killed_before_it_had_begun_is_begun_again(gone: tuple[str, ...], tmp_path: Path) -> None:
    mini = Path(__file__).parents[1] / "data" / "mini"
    config = load(None, ["seeds=1"], {"traps_dir": str(mini / "traps"), "oracles_dir": str(mini / "oracles")})
    out = tmp_path / "run"
    prepare(config, out).folder.unlock()
    for name in gone:
        (out / name).unlink()
    (out / ".new-abc").write_bytes(b"{")
    ready = prepare(config, out)
    ready.folder.unlock()
    assert leftovers(out) == []
    check_facts(out, (out / "facts.json").read_bytes())
    assert len(ready.owed) == len(ready.plan.arms)


def _processes(mark: str) -> list[str]:
    """Processes whose own command is `sleep <mark>`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if [os.fsencode(w) for w in ("sleep", mark)] == words[:2]:
            found.append(folder.name)
    return found


def _until(holds: object, what: str, patience: float = 60.0) -> None:
    assert callable(holds)
    until = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.05)
