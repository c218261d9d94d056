"""`show` on a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from harness.cli.read import printable


def test_what_an_agent_wrote_cannot_drive_the_terminal(run_mini: Any) -> None:
    script = "open('src/mini/labels.py', 'ab').write(b'# \\x1b]0;owned\\x07 \\xc2\\x9b2J\\r\\n')\n"
    done = run_mini("conditions=B0", script=script)
    command = Path(sys.executable).parent / "dreambench"
    shown = subprocess.run([command, "show", str(done.out), done.only().arm], capture_output=True, check=True).stdout
    assert b"owned" in shown
    assert not {0x1B, 0x07, 0x0D} & set(shown)
    assert "\x9b" not in shown.decode()


def test_line_ends_and_tabs_stay() -> None:
    assert printable("a\tb\nc\x1b[0m\r") == "a\tb\nc\\x1b[0m\\x0d"
