"""The vendors' own Python clients work with the scripted model as they do with the real endpoints.

They are in no environment of this project: name the interpreter of one that has them in DREAMBENCH_SDK_PYTHON.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .client import DIALECTS
from .faults import BadJson, Cut, Fault, Status, always, at
from .script import Say, Shell, Steps
from .server import ModelServer

pytestmark = pytest.mark.long

PYTHON = "DREAMBENCH_SDK_PYTHON"
MODULES = {"chat": "openai", "responses": "openai", "anthropic": "anthropic", "gemini": "google.genai"}
SCRIPT = Steps((Shell("ls -l"),), Say("All is done."))
ALL = pytest.mark.parametrize("dialect", DIALECTS)
BOTH = pytest.mark.parametrize("how", ["whole", "streamed"])


def run(server: ModelServer, dialect: str, how: str) -> dict[str, Any]:
    """What the client made of it; skips where there is none."""
    python = os.environ.get(PYTHON)
    if not python:
        pytest.skip(f"{PYTHON} names no interpreter with the vendors' clients")
    if subprocess.run([python, "-c", f"import {MODULES[dialect]}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{python} has no module {MODULES[dialect]}")
    program = Path(__file__).parent / "sdk_program.py"
    words = [python, "-W", "ignore", str(program), dialect, server.url, how]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@ALL
@BOTH
def test_a_conversation_to_its_end(dialect: str, how: str) -> None:
    with ModelServer(SCRIPT, thoughts="one moment", key="test-key") as server:
        assert run(server, dialect, how) == {
            "turns": [["ls -l", [6, 0, 0, 4 + 2]], ["All is done.", [6 + 4 + 3, 6, 0, 3 + 2]]]
        }
        assert {entry.status for entry in server.log.entries()} == {200}


@ALL
@pytest.mark.parametrize("code", [429, 503])
def test_they_try_again_after_an_error(dialect: str, code: int) -> None:
    with ModelServer(SCRIPT, faults=[Fault(Status(code, retry_after=0), at(1))]) as server:
        assert [turn[0] for turn in run(server, dialect, "whole")["turns"]] == ["ls -l", "All is done."]
        assert [entry.status for entry in server.log.asked()] == [code, 200, 200]


BROKEN = [
    (Cut(300), {"APIConnectionError", "RemoteProtocolError"}),
    (BadJson(), {"JSONDecodeError", "UnknownApiResponseError"}),
]


@ALL
@pytest.mark.parametrize(("kind", "names"), BROKEN, ids=["cut", "bad"])
def test_a_broken_stream_is_an_error_for_them(dialect: str, kind: Cut | BadJson, names: set[str]) -> None:
    with ModelServer(Steps((), Say("word " * 100)), faults=[Fault(kind, always)]) as server:
        assert run(server, dialect, "streamed")["error"] in names
