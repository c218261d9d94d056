"""Ctrl-C: exit code 130, a message, and a run that can be taken up."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.command import PROGRAM, dreambench
from tests.crash.conftest import leftovers


def _start(out: Path, mini: Mapping[str, str], *words: str) -> subprocess.Popen[str]:
    places = [f"{k}={v}" for k, v in mini.items()]
    command = [PROGRAM, "run", *words, *places, "conditions=B0", "readers=careful", "jobs=1", "--out", str(out)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/")


def _until(holds: Callable[[], object], what: str, patience: float = 60.0) -> None:
    until = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < until, f"waited in vain for {what}"
        time.sleep(0.02)


def test_an_interrupted_run_says_so_and_is_taken_up(tmp_path: Path, mini: Mapping[str, str]) -> None:
    out = tmp_path / "run"
    run = _start(out, mini, "seeds=4", "agent.name=nop")
    _until(lambda: any(out.glob("blobs/*/*")), "the first session")
    run.send_signal(signal.SIGINT)
    said, heard = run.communicate(timeout=60)
    assert (run.returncode, said) == (130, "")
    assert "dreambench resume" in heard
    assert "Traceback" not in heard
    status = json.loads(dreambench("status", str(out), "--json").stdout)
    assert status["outcomes"]["invalid"] == 0
    assert status["outcomes"]["owed"] >= 1
    done = dreambench("resume", str(out), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["complete"] is True
    assert leftovers(out) == []


def test_a_second_interrupt_does_not_wait_for_a_long_session(tmp_path: Path, mini: Mapping[str, str]) -> None:
    out = tmp_path / "run"
    run = _start(out, mini, "seeds=1", "agent.name=command", 'agent.command=["sleep","86398"]')
    _until(lambda: _sleepers("86398"), "the agent to start")
    run.send_signal(signal.SIGINT)
    assert run.stderr is not None
    heard = ""
    while "stopping" not in heard:
        line = run.stderr.readline()
        assert line, heard
        heard += line
    run.send_signal(signal.SIGINT)
    _, rest = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "Traceback" not in heard + rest
    _until(lambda: not _sleepers("86398"), "the agent to end with its driver")
    assert dreambench("clean", str(out)).returncode == 0
    assert leftovers(out) == []


def _sleepers(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()]:
            found.append(folder.name)
    return found
