"""Agents that break what they can reach: the arm is theirs to lose, never ours to excuse, and the host goes on."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harness.outcome import CAPTURE_LIMIT, NO_EDIT, TIMEOUT

from .forgery_kit import BOXES, LABELS, Stage, judged, scored

_FORKS = "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
_FILL = """
for folder in PLACES:
    for n in range(99):
        try:
            with open(f'{folder}/fill-{n}', 'wb') as file:
                file.write(bytes(7 << 20))
        except OSError as error:
            print(folder, error)
"""

#: What an agent does in S3 after its (wrong) work; the words are settings of the run.
_DEEDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "kill-1": ("os.kill(1, 9); os.kill(1, 15)", ()),
    "kill-parent": ("os.kill(os.getppid(), 9)", ()),
    "kill-everybody": ("os.kill(-1, 9)", ()),
    "stop-itself": ("os.kill(os.getpid(), 19)", ("limits.wall=2",)),
    "segmentation-fault": ("os.kill(os.getpid(), 11)", ()),
    "abort": ("os.abort()", ()),
    "exit-1": ("sys.exit(1)", ()),
    "remove-work": ("os.system('rm -rf /work /work/* /work/.[a-z]* /tools /bin ~ 2>/dev/null')", ()),
    "close-work": ("os.chmod('/work/src', 0); os.chmod('/work', 0)", ()),
    "rename-work": ("os.rename('/work', '/tmp/work')", ()),
    "link-for-work": ("os.system('rm -rf /work/src'); os.symlink('/etc', '/work/src')", ()),
    "fill-places": ("PLACES = '/tmp', '/dev/shm', os.path.expanduser('~')" + _FILL, ("limits.disk_mib=16",)),
    "fill-work": ("PLACES = ['/work/src']" + _FILL, ("limits.disk_mib=16",)),
    "memory-bomb": ("x = []\nwhile True: x.append(b'x' * (8 << 20))", ("limits.memory_mib=96",)),
    "fork-bomb": (_FORKS, ("limits.processes=24", "limits.wall=2")),
    "output-200-mb": ("for _ in range(200): os.write(1, b'x' * (1 << 20))", ()),
    "errors-200-mb": ("for _ in range(200): os.write(2, bytes(1 << 20))", ()),
    "sleep-past-wall": ("import time; time.sleep(600)", ("limits.wall=2",)),
    "deaf-to-signals": (
        "import signal, time\nfor n in set(range(1, 32)) - {9, 19}: signal.signal(n, signal.SIG_IGN)\ntime.sleep(600)",
        ("limits.wall=2",),
    ),
    "remount": ("os.system('umount /work; mount -t tmpfs x /work; unshare -rm true; chroot /tmp true')", ()),
}


#: Who is deaf to signals too sleeps past the wall as well.
_LONG = ("sleep-past-wall",)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in _LONG)) for name in _DEEDS])
def test_is_failed_and_not_invalid(stage: Stage, tmp_path: Path, name: str) -> None:
    deed, words = _DEEDS[name]
    begun = time.monotonic()
    played = stage.play(tmp_path, f"from session import *\nif STEP == 3:\n    wrong()\n    exec({deed!r})\n", *words)
    judged(played)
    assert time.monotonic() - begun < 60
    session = played.sessions[2]
    assert played.ending.cause.startswith(CAPTURE_LIMIT) == (name == "fill-work")
    if name == "fill-work":
        return
    assert len(session.tree_out) == 40
    if "limits.wall=2" in words:
        assert (session.timed_out, session.exit) == (True, None)
        assert "wall" in session.hit
        assert played.ending.cause.startswith(TIMEOUT)
    if name not in ("remove-work", "rename-work", "link-for-work"):
        assert played.left(3)[LABELS].data.startswith(b"def label")


def test_output_is_cut_and_said_so(stage: Stage, tmp_path: Path) -> None:
    script = "from session import *\nfor _ in range(64): os.write(1, b'y' * (1 << 20))\nwrong()\n"
    played = stage.play(tmp_path, script)
    judged(played)
    for step in (1, 2, 3):
        assert len(played.said(step)) == 1 << 20
        assert "output" in played.sessions[step - 1].hit
        assert played.sessions[step - 1].exit == 0


@pytest.mark.parametrize(
    "deed", ["os.kill(1, 9); os.kill(-1, 9)", "import time; time.sleep(600)"], ids=["kill", "sleep"]
)
def test_the_same_deed_in_every_session(stage: Stage, tmp_path: Path, deed: str) -> None:
    played = stage.play(tmp_path, f"from session import *\n{deed}\n", "limits.wall=1")
    assert judged(played).cause.endswith(NO_EDIT)
    assert [session.number for session in played.sessions] == [1, 2, 3]
    assert played.arm.warm_up == (False, False)


def test_a_command_that_is_not_there(stage: Stage, tmp_path: Path) -> None:
    words = 'agent.command=["no-such-program","{prompt}"]'
    played = stage.play(tmp_path, "", words)
    assert judged(played).cause == NO_EDIT


def test_a_check_that_hangs_is_a_check_that_failed(stage: Stage, tmp_path: Path) -> None:
    script = (
        "from session import *\nif STEP == 3:\n    wrong()\n    write('conftest.py', 'import time; time.sleep(600)')\n"
    )
    played = stage.play(tmp_path, script, "limits.wall=2")
    check = played.sessions[2].check
    assert check is not None
    assert (check.passed, check.exit) == (False, None)
    assert scored(played).outcome == "failed"


@pytest.mark.long
def test_a_call_that_hangs_while_it_is_scored_is_failed(stage: Stage, tmp_path: Path) -> None:
    script = "from session import *\nif STEP == 3:\n    wrong(after='def bare(name):\\n    while True: pass\\n')\n"
    played = stage.play(tmp_path, script)
    assert scored(played).outcome == "failed"
    assert {check.name: check.held for check in played.ending.checks}["bare_name"] is False


def test_what_was_done_before_a_crash_is_kept(stage: Stage, tmp_path: Path) -> None:
    script = """
from session import *
print("this is session", STEP, flush=True)
write("src/mini/boxes.py", f"step = {STEP}\\n")
if STEP == 2:
    os.kill(1, 9); os.kill(os.getpid(), 9)
"""
    played = stage.play(tmp_path, script)
    judged(played)
    for step in (1, 2, 3):
        assert played.said(step) == f"this is session {step}\n"
        assert played.left(step)[BOXES].data == f"step = {step}\n".encode()
    assert (played.sessions[0].exit, played.sessions[1].exit) == (0, None)
