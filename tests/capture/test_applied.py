"""The change is scored as it is: work that holds only if every byte, mode and link of it arrives at the oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.outcome import Outcome
from harness.snapshot import EXECUTABLE, LINK, REGULAR, Entry

_AGENT = r'''
import os, re, subprocess, sys

prompt = open(sys.argv[1], encoding="utf-8").read()
if "agreed box mark" in prompt:
    mark = re.search("`(bm-[0-9a-f]{12})`. This replaces", prompt).group(1)
    os.chdir("/work/src/mini")
    os.remove("labels.py")
    os.makedirs("labels")
    os.makedirs("data/unter ä")
    with open("data/unter ä/mark.bin", "wb") as file:
        file.write(b"\0\r\n\xff\r" + bytes(c ^ 0x5A for c in mark.encode()))
    with open("data/tool", "wb") as file:
        file.write(b"#!/bin/sh\r\n")
    os.chmod("data/tool", 0o755)
    open("data/empty", "w").close()
    os.symlink("../data/unter ä/mark.bin", "labels/near")
    with open(".gitignore", "wb") as file:
        file.write(b"*")
    with open(".gitattributes", "wb") as file:
        file.write(b"* text eol=crlf export-ignore -diff\n")
    with open("labels/__init__.py", "wb") as file:
        file.write(b"""import os\r
HERE = os.path.dirname(__file__)\r
def label(name):\r
    near, tool = os.path.join(HERE, "near"), os.path.join(HERE, "..", "data", "tool")\r
    assert os.readlink(near) == "../data/unter \xc3\xa4/mark.bin" and os.stat(tool).st_mode & 0o111\r
    assert open(tool, "rb").read() == b"#!/bin/sh\\r\\n"\r
    assert os.path.getsize(os.path.join(HERE, "..", "data", "empty")) == 0\r
    data = open(near, "rb").read()\r
    assert data[:5] == b"\\0\\r\\n\\xff\\r"\r
    return name + " " + bytes(c ^ 0x5A for c in data[5:]).decode()\r
def width(name): return len(label(name))\r
def bare(name): return name""")
    for words in (["add", "-Af"], ["switch", "-q", "--detach"], ["commit", "-qm", "work"], ["stash", "-u"]):
        subprocess.run(["git", *words], check=True)
    os.makedirs("/work/tests/data", exist_ok=True)
    open("/work/tests/data/more.txt", "w").close()
'''


def test_every_part_of_the_change_reaches_the_oracle(run_mini: Callable[..., Any]) -> None:
    done = run_mini("conditions=ALL", script=_AGENT)
    record = done.only()
    (ending,) = record.endings
    assert ending.outcome == Outcome.PASS, (ending.cause, [check.detail for check in ending.checks])
    assert set(ending.production) == {
        "deleted src/mini/labels.py",
        "added src/mini/labels/__init__.py",
        "added src/mini/labels/near",
        "added src/mini/data/unter ä/mark.bin",
        "added src/mini/data/tool",
        "added src/mini/data/empty",
        "added src/mini/.gitignore",
        "added src/mini/.gitattributes",
    }
    assert ending.stripped == ("added tests/data/more.txt",)
    assert ending.used == ()  # the value itself stands nowhere in the change
    left = done.tree(done.sessions(record.arm)[2].tree_out)
    assert left[b"src/mini/data/tool"] == Entry(EXECUTABLE, b"#!/bin/sh\r\n")
    assert left[b"src/mini/data/empty"] == Entry(REGULAR, b"")
    assert left[b"src/mini/labels/near"] == Entry(LINK, "../data/unter ä/mark.bin".encode())
