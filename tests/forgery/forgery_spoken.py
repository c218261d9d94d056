"""Modules whose code speaks at scoring time: forged answers on every way out, and values that lie about themselves.

A row is a test id and the text of `src/mini/labels.py`.
"""

from __future__ import annotations

import textwrap


def _module(label: str, before: str = "") -> str:
    """A module whose three functions all return what the body of `label` says."""
    body = textwrap.indent(textwrap.dedent(label).strip(), "    ")
    return f"{textwrap.dedent(before)}\ndef label(name):\n{body}\n\nwidth = bare = label\n"


_FORGE = """
import json, os, socket, struct
CHECKS = ("current_mark", "width_follows", "bare_name", "old_mark")
VERDICT = json.dumps({"op": "verdict", "results": [
    {"name": n, "held": n != "old_mark", "choked": False, "detail": ""} for n in CHECKS]}).encode() + b"\\n"
ANSWERS = [VERDICT, b"hello\\n", b'{"answer": "value", "body": "{\\\\"ok\\\\": true}", "out": ""}\\n',
           struct.pack(">I", 12) + bytes(16) + b'{"ok": true}']

def shout(folder):
    for number in os.listdir(folder):
        for how in (os.O_WRONLY, None):
            try:
                fd = int(number) if how is None else os.open(f"{folder}/{number}", how | os.O_NONBLOCK)
                if how is None and folder != "/proc/self/fd":
                    continue
                for answer in ANSWERS:
                    os.write(fd, answer)
            except OSError:
                pass
"""

SPOKEN = {
    "every-descriptor-at-import": _module("return name", _FORGE + "shout('/proc/self/fd')\n"),
    "every-descriptor-in-call": _module("shout('/proc/self/fd')\nreturn name", _FORGE),
    "descriptors-of-the-parent": _module("shout(f'/proc/{os.getppid()}/fd')\nreturn name", _FORGE),
    "descriptors-of-everybody": _module(
        "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
        "    try:\n        shout(f'/proc/{pid}/fd')\n    except OSError:\n        pass\n"
        "return name",
        _FORGE,
    ),
    "replaced-stdout": _module(
        "return name",
        "import io, sys\nclass Out(io.StringIO):\n"
        "    def write(self, text): return 0\n    def flush(self): raise SystemExit(0)\n"
        "sys.stdout = sys.stderr = sys.__stdout__ = Out()\n",
    ),
    "answers-of-the-worker": _module(
        "return name",
        """
        import gc, json
        for found in gc.get_objects():
            if type(found).__name__ == "Worker":
                found.answer = lambda body: json.dumps({"ok": True})
        """,
    ),
    "json-always-agrees": _module(
        "return name", "import json\njson.dumps = json.JSONEncoder.encode = lambda *a: 'true'\n"
    ),
    "equal-to-everything": _module(
        "return Same()",
        "class Same:\n    def __eq__(self, other): return True\n"
        "    def __ne__(self, other): return False\n    def __hash__(self): return 0\n",
    ),
    "str-subclass": _module(
        "return Text(name)",
        "class Text(str):\n    def __eq__(self, other): return True\n    def __len__(self): return 19\n"
        "    def __hash__(self): return 0\n    def encode(self, *a): return b'pass'\n",
    ),
    "int-subclass": _module(
        "return Number(7)",
        "class Number(int):\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
        "    def __index__(self): raise SystemExit(0)\n",
    ),
    "lying-class": _module(
        "return Liar()",
        "class Liar:\n    __class__ = str\n    def __len__(self): return 19\n"
        "    def __eq__(self, other): return True\n    def __getattribute__(self, name): return lambda *a, **k: True\n",
    ),
    "not-a-number": _module("return float('nan')"),
    "ten-megabytes": _module("return name * (10 << 20)"),
    "generator": _module("return (name for _ in iter(int, 1))"),
    "recursive-list": _module("found = [name]\nfound.append(found)\nreturn found"),
    "deep-list": _module("found = []\nfor _ in range(200_000): found = [found]\nreturn found"),
    "dead-hands": _module("os.close(3); os.closerange(3, 256); return name", "import os\n"),
    "wrong-surrogates": _module("return name + chr(0xD800) + chr(0xDC00) + chr(0)"),
    "every-mark": _module("return 'bm-' + ''.join(map('{:012x}'.format, range(1000)))"),
    "raises-the-judge's-words": _module("raise AssertionError('current_mark held')"),
    "forks-and-answers-twice": _module("os.fork()\nreturn name", "import os\n"),
    "flood": _module("for _ in range(64): print('pass' * 65536)\nreturn name"),
    "segmentation-fault": _module("os.kill(os.getpid(), 11)", "import os\n"),
    "stack-overflow": _module(
        "return list(map(label, [name]))", "import sys\nsys.setrecursionlimit(1 << 30)\n"
    ),  # by way of C
}
