"""A tiny repository and oracle that the tests of this room score."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from oracles.broker import Job, ScoreLimits
from oracles.contract import Change
from oracles.tars import make_tar

TAG = "ch-" + secrets.token_hex(6)
OLD = "ch-" + secrets.token_hex(6)

BASE = b"""\
def add(a, b):
    return 0

def mark():
    return "default"
"""

RIGHT = f"""\
def add(a, b):
    return a + b

def mark():
    return "{TAG}"

if __name__ == "__main__":
    import sys
    print(add(*map(int, sys.stdin.read().split())))
""".encode()

WRONG = RIGHT.replace(b"a + b", b"a - b").replace(TAG.encode(), b"default")

ORACLE = b"""
from oracles.contract import Raised, derives, forbids, requires

@derives("shout")
def shout(facts):
    return facts.tag.upper()

@requires("mark() gives the tag")
def marks(subject, facts):
    assert subject.call("calc:mark") == facts.tag

@requires("add() adds")
def adds(subject, facts):
    a, b = subject.random.randrange(10**6), subject.random.randrange(10**6)
    assert subject.call("calc:add", a, b) == a + b

@requires("the command adds")
def command(subject, facts):
    a, b = subject.random.randrange(10**6), subject.random.randrange(10**6)
    done = subject.run(["python", "-m", "calc"], f"{a} {b}".encode())
    assert done.exit == 0
    assert done.stdout == f"{a + b}\\n".encode()

@forbids("the old tag is used")
def old(subject, facts):
    subject.call("calc:mark")
    return subject.mentions(facts.old)
"""

QUICK = ScoreLimits(call=1.5, total=8.0)


def job(files: Mapping[str, bytes] | bytes, **changes: Any) -> Job:
    """A job over src/calc.py (bytes) or the given files, all of them the agent's change."""
    tree = {"src/calc.py": files} if isinstance(files, bytes) else dict(files)
    delta = {path: Change("modified", BASE if path == "src/calc.py" else None, data) for path, data in tree.items()}
    settings: dict[str, Any] = {"facts": {"tag": TAG, "old": OLD}, "limits": QUICK, "roots": ("src",), **changes}
    return Job(make_tar(tree), delta, **settings)


def oracle(body: str) -> bytes:
    """An oracle file with one required check, `check`, made of these lines."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return f"""
from oracles.contract import *

@requires("the check holds")
def check(subject, facts):
{lines}
""".encode()
