"""What a session may leave always fits into the next one, beside its repository; too much is the agent's own limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from containers.sandbox import MIB, Limits
from harness.outcome import CAPTURE_LIMIT, Boundary, Outcome

from .capture_cases import START
from .conftest import Session

_SMALL = Limits(wall=60, disk=16 * MIB)
_LONGEST = """
python3 - <<'END'
import os
os.symlink("t" * 4095, "link")
for path in ("/".join("p" * 249 for _ in range(16)), "/".join("d" for _ in range(128)) + "/end"):
    *folders, name = path.split("/")
    os.chdir("/work")
    for folder in folders:
        os.mkdir(folder)
        os.chdir(folder)
    open(name, "w").close()
END
"""
_FULL = {
    "paths": _LONGEST,
    "bytes": "head -c 4150000 /dev/urandom > x",
    "files": "mkdir f; for n in $(seq 1300); do echo $n > f/$n; done",
    "both": "head -c 4100000 /dev/urandom > x; mkdir f; for n in $(seq 1250); do echo $n > f/$n; done",
}


@pytest.mark.parametrize("script", _FULL.values(), ids=_FULL.keys())
def test_the_most_that_may_be_left_can_be_entered_again(session: Session, script: str) -> None:
    left = session.run(START, script, _SMALL)
    assert left.cut_short == ""
    again = session.run(left.tree, "git status --porcelain", _SMALL)
    assert (again.result.exit, again.result.stdout) == (0, b"")
    assert again.tree == left.tree


@pytest.mark.parametrize("script", ["head -c 5000000 /dev/urandom > x", "for n in $(seq 1500); do echo $n > $n; done"])
def test_more_is_a_capture_limit(session: Session, script: str) -> None:
    done = session.run(START, script, _SMALL)
    assert done.cut_short
    assert done.tree_id == ""


def test_what_was_there_before_is_not_held_against_the_agent(session: Session) -> None:
    left = session.run(START, "head -c 4150000 /dev/urandom > x", _SMALL)
    again = session.run(left.tree, "echo more > y", _SMALL)
    assert again.cut_short == ""


def test_an_early_session_that_leaves_too_much_ends_its_arm(run_mini: Callable[..., Any]) -> None:
    """Such a tree did fit once, but not a second time with its repository beside it, which read as trouble of ours."""
    script = "import os\nopen('/work/src/mini/boxes.py', 'wb').write(os.urandom(8 << 20))\n"
    (ending,) = run_mini("conditions=B0", "limits.disk_mib=16", script=script).only().endings
    assert (ending.outcome, ending.boundary) == (Outcome.FAILED, Boundary.AGENT)
    assert ending.cause.startswith(f"{CAPTURE_LIMIT}: S1: /work/src/mini/boxes.py")
