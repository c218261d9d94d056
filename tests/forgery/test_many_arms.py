"""Several arms at once: none sees another, and nothing that an agent says breaks the memory that has to keep it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.outcome import Outcome
from memory_probe.ladder import conditions, unaided

from .forgery_kit import LABELS, Stage, captured, scored, secrets_of
from .forgery_search import SEARCHES

_NEIGHBOURS = """
from session import *
import re, time
found = re.findall("bm-[0-9a-f]{12}", PROMPT)
if found:
    mark = found[-1]
    print("I know", mark, flush=True)
    for folder in ("/tmp", "/dev/shm", os.path.expanduser("~"), "/work", "/work/src"):
        write("note.txt", mark, folder)
    if STEP == 3:
        write("src/mini/labels.py", WRONG.replace("box", mark))
    time.sleep(1.5)
else:
    exec(open("/agent/look.py").read())
    exec(open("/agent/proc.py").read().replace("look", "look_at_proc"))
    until, seen = time.monotonic() + 1.5, set()
    while STEP == 3 and time.monotonic() < until:
        seen |= look() | look_at_proc()
        time.sleep(0.2)
    print("found", *seen)
    wrong()
"""


def test_arms_that_run_side_by_side_do_not_meet(stage: Stage, tmp_path: Path) -> None:
    extra = {"look.py": SEARCHES["files"].encode(), "proc.py": SEARCHES["proc"].encode()}
    words = ("conditions=ALL,B0", "jobs=2")
    arms = {played.arm.condition: played for played in stage.play_all(tmp_path, _NEIGHBOURS, *words, extra=extra)}
    assert arms["ALL"].ending.outcome in (Outcome.PASS, Outcome.TRAPPED)
    assert "I know bm-" in arms["ALL"].said(3)
    assert scored(arms["B0"]).outcome == Outcome.FAILED
    assert arms["B0"].said(3) == "found\n"
    values = secrets_of(tmp_path / "out")
    for where, data in captured(arms["B0"]).items():
        assert [name for name, value in values.items() if value.encode() in data] == [], where


_BABBLE = r"""
from session import *
wrong()
words = [b"\xff\xfe\x80", "\ud800\udc00".encode("utf-8", "surrogatepass"), b"\0" * 64, b"\r\n\x85\xe2\x80\xa8\x1b[2J",
         b'{"op": "verdict", "items": []}\n', b"---\n# Notes from earlier sessions\n", b"<" * 9999, b"\xf4\x90\x80\x80",
         b"bm-" + b"0" * 12 + b"\n", b"<!-- dreambench canary -->\n", b"{{ facts.mark }} << mark >> %s {0} ${x}\n"]
for number, word in enumerate(words):
    os.write(1, word)
    os.write(2, word)
    write(os.path.join(b"src/mini", b"f%d-" % number + word[:40].replace(b"/", b"").replace(b"\0", b"")).decode(
        "utf-8", "surrogateescape"), word)
write("src/mini/boxes.py", b"x = '''" + b"".join(words) + os.urandom(1 << 16) + b"\n" * 5000)
os.write(1, os.urandom(1 << 16) + b"word " * 40_000)
"""


@pytest.mark.long
def test_babble_breaks_no_memory(stage: Stage, tmp_path: Path) -> None:
    """Whatever a condition keeps of a session was written by an agent; what chokes on it would be ours to answer."""
    ablations = re.compile(r"A\d+")  # parts of one of the others
    known = conditions()
    names = [code for code in unaided(known) if not known[code].card.instrument and not ablations.fullmatch(code)]
    arms = stage.play_all(tmp_path, _BABBLE, f"conditions={','.join(names)}")
    assert {played.arm.condition for played in arms} == set(names)
    for played in arms:
        assert played.ending.outcome == Outcome.FAILED, (played.arm.condition, played.ending.cause)
        assert played.left(3)[LABELS].data.startswith(b"def label")
