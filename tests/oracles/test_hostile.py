"""Code that tries to forge, break or hang its own scoring: it must not pass, not hang, and not become our error."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest
from oracle_toy import ORACLE, QUICK, RIGHT, TAG, WRONG, job, oracle

from containers.sandbox import Sandbox
from oracles.broker import ScoreLimits, hostile, score
from oracles.contract import Change
from oracles.tars import make_tar
from oracles.verdict import OracleError, Verdict

MOST = 30.0  # seconds; the jobs have 2.5 s for all calls, and nothing may hold us much longer

LIAR = """
class Liar{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return True
    def __len__(self): return 1
    def __contains__(self, x): return True
    def __lt__(self, x): return True
"""

#: What add() and mark() return: body of `def give():`, with helpers before it.
RETURNS: Mapping[str, tuple[str, str]] = {
    "always equal": (LIAR.format(base=""), "return Liar()"),
    "int subclass": (LIAR.format(base="(int)"), "return Liar(7)"),
    "str subclass": (LIAR.format(base="(str)"), "return Liar('x')"),
    "bytes subclass": (LIAR.format(base="(bytes)"), "return Liar(b'x')"),
    "dict subclass": (LIAR.format(base="(dict)"), "return Liar()"),
    "the class itself": (LIAR.format(base=""), "return Liar"),
    "nan": ("", "return float('nan')"),
    "none": ("", "return None"),
    "true": ("", "return True"),
    "not implemented": ("", "return NotImplemented"),
    "10 MB string": ("", "return 'x' * 10_000_000"),
    "10 MB bytes": ("", "return b'x' * 10_000_000"),
    "a million parts": ("", "return [0] * 1_000_000"),
    "huge int": ("", "return 1 << 60_000_000"),
    "int too long to print": ("", "return 10 ** 5000"),
    "recursive list": ("", "x = []; x.append(x); return x"),
    "recursive dict": ("", "x = {}; x['x'] = x; return x"),
    "deep nesting": ("", "x = ()\n    for _ in range(100_000): x = (x,)\n    return x"),
    "depth near the cap": ("", "x = ()\n    for _ in range(47): x = (x,)\n    return x"),
    "generator": ("", "return (i for i in [1])"),
    "coroutine": ("async def soon(): return 1", "return soon()"),
    "lambda": ("", "return lambda *a: 1"),
    "module": ("", "import sys; return sys"),
    "colliding set": ("", "return {i * (2**61 - 1) for i in range(3000)}"),
    "signalling decimal": ("from decimal import Decimal", "return Decimal('sNaN')"),
    "monstrous decimal": ("from decimal import Decimal", "return Decimal('1e999999')"),
    "lone surrogates": ("", r"return '\ud83d\ude00'"),
    "forged answer": ("", """return '{"ok": "[1,1]"}'"""),
    "forged tags": ("", "return ['h', 0], ['o', 'int'], [1, ['i', '0x1']], {'raised': ['a', 'b']}"),
    "lying __class__": (
        "class Liar:\n    @property\n    def __class__(self): return str\n    def __str__(self): return 'x'",
        "return Liar()",
    ),
    "raising __class__": (
        "class Liar:\n    @property\n    def __class__(self): raise SystemExit(0)\n"
        "    def __getattribute__(self, n): raise BaseException(n)\n"
        "    def __repr__(self): raise KeyboardInterrupt\n    __str__ = __reduce__ = __repr__",
        "return Liar()",
    ),
    "metaclass": (
        "class Meta(type):\n    def __eq__(c, o): return True\n    def __hash__(c): return hash(str)\n"
        "    def __getattribute__(c, n): raise SystemExit(0)\n    def __instancecheck__(c, o): return True\n"
        "class Liar(metaclass=Meta): pass\none = object.__new__(Liar)",
        "return one",
    ),
    "hostile dataclass": (
        "class Liar:\n    @property\n    def __dataclass_fields__(self): raise SystemExit(0)",
        "return Liar()",
    ),
    "dataclass of itself": (
        "from dataclasses import dataclass\n@dataclass\nclass Loop:\n    me: object = None",
        "x = Loop(); x.me = x; return x",
    ),
    "record that claims a type": (
        "from dataclasses import make_dataclass\nFake = make_dataclass('str', [('value', str)])",
        "return Fake('x')",
    ),
    "enum": ("import enum\nclass E(str, enum.Enum):\n    A = 'x'", "return E.A"),
    "named tuple": ("from typing import NamedTuple\nclass N(NamedTuple):\n    a: int = 1", "return N()"),
    "surrogate type name": ("Odd = type('\\udc80' * 10_000, (), {})", "return Odd()"),
    "exception": ("", "raise ValueError('x' * 10_000_000)"),
    "exception with hostile text": (
        "class E(Exception):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__",
        "raise E",
    ),
    "exception whose text is a liar": (
        LIAR.format(base="(str)") + "class E(Exception):\n    def __str__(self): return Liar('x')",
        "raise E",
    ),
    "exception without a type": ("class E(BaseException): pass\nE.__name__ = 'SubjectDied\\n{'", "raise E"),
    "exit": ("", "raise SystemExit(0)"),
    "interrupt": ("", "raise KeyboardInterrupt"),
    "recursion": ("def f(): return f()", "return f()"),
}

#: What the module does when it is imported (each ends with wrong add() and mark()).
ACTIONS: Mapping[str, str] = {
    "exit 0": "import os; os._exit(0)",
    "system exit": "raise SystemExit(0)",
    "kill itself": "import os; os.kill(os.getpid(), 9)",
    "kill the parent": "import os; os.kill(os.getppid(), 9)",
    "stop the parent": "import os; os.kill(os.getppid(), 19)",
    "kill everything": "import os; os.kill(-1, 9)",
    "segfault": "import ctypes; ctypes.string_at(0)",
    "close all descriptors": "import os; os.closerange(0, 10_000)",
    "close the pipe of the parent": (
        "import os\nfor n in range(256):\n    try: os.close(os.open(f'/proc/{os.getppid()}/fd/{n}', os.O_WRONLY))\n"
        "    except OSError: pass"
    ),
    "fake report on stdout": (
        "print('2 passed in 0.01s', flush=True)\nimport os; os.write(1, b'2 passed\\n'); os._exit(0)"
    ),
    "lines on every descriptor": (
        "import os\nfor n in range(256):\n"
        '    try: os.write(n, b\'{"op":"verdict","results":[]}\\n{"ok":"[1,1]"}\\n\')\n'
        "    except OSError: pass"
    ),
    "lines into the parent's descriptors": (
        "import os\nfor pid in (os.getppid(), 1):\n    for n in range(256):\n        try:\n"
        "            f = os.open(f'/proc/{pid}/fd/{n}', os.O_WRONLY | os.O_NONBLOCK)\n"
        '            os.write(f, b\'0\' * 32 + b\' {"answer":"value","body":"{}"}\\n\')\n'
        "        except OSError: pass"
    ),
    "frames on every socket": (
        "import os\nfor n in range(256):\n"
        "    try: os.write(n, (21).to_bytes(4, 'big') + b'n' * 16 + b'{\"ok\":\"[1,1]\"}' * 9)\n"
        "    except OSError: pass"
    ),
    "a frame without end": (
        "import os\nfor n in range(3, 256):\n    try: os.write(n, b'\\xff' * 64)\n    except OSError: pass"
    ),
    "answers from a thread": (
        "import os, threading\ndef go():\n    while True:\n        for n in range(3, 64):\n"
        "            try: os.write(n, b'\\0\\0\\0\\x0e' + b'n' * 16 + b'{\"ok\":\"[1,1]\"}')\n"
        "            except OSError: pass\nthreading.Thread(target=go, daemon=True).start()"
    ),
    "answer twice by fork": "import os; os.fork(); os.fork()",
    "a daemon that floods": (
        "import os\nif os.fork() == 0:\n    os.setsid()\n    while True:\n"
        "        for n in range(256):\n            try: os.write(n, b'x' * 65536)\n            except OSError: pass"
    ),
    "endless loop": "while True: pass",
    "endless sleep": "import time\ntime.sleep(10**6)",
    "ignores signals and sleeps": (
        "import signal, time\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
        "    except (OSError, ValueError): pass\ntime.sleep(10**6)"
    ),
    "endless output": "while True: print('x' * 100_000)",
    "memory": "x = [bytearray(1 << 26) for _ in range(10**6)]",
    "full disk": (
        "import os\ntry:\n    with open('/tmp/x', 'wb') as f:\n        while True: f.write(b'x' * (1 << 20))\n"
        "except OSError: pass\ntry:\n    with open('x', 'wb') as f:\n        while True: f.write(b'x' * (1 << 20))\n"
        "except OSError: pass"
    ),
    "processes": "import os\ntry:\n    while True: os.fork()\nexcept OSError: pass",
    "pass by exit hook": "import atexit, os; atexit.register(lambda: os._exit(0))",
    "builtins and json replaced": (
        LIAR.format(base="")
        + "import builtins, json, base64, os, sys, time\n"
        + "for name in ('type', 'isinstance', 'hash', 'hex', 'len', 'sorted', 'str', 'getattr', 'callable', 'set'):\n"
        + "    setattr(builtins, name, lambda *a, **k: Liar())\n"
        + "json.dumps = json.loads = json.encoder.encode_basestring_ascii = lambda *a, **k: '[1,1]'\n"
        + "sys.stdout = sys.stderr = Liar()\nos._exit = os.read = os.write = os.getpid = lambda *a: 0\n"
        + "base64.b64encode = lambda x: b''"
    ),
    "frames walked and patched": (
        "import sys\nf = sys._getframe()\nwhile f:\n    f.f_globals.get('Worker') and f.f_globals.update(\n"
        "        dumps=lambda *a, **k: '[1,[\"h\",0]]', type_name=lambda *a: 'x')\n    f = f.f_back"
    ),
    "worker answers by itself": (
        "import sys\nf = sys._getframe()\nwhile f:\n    w = f.f_locals.get('self')\n    if hasattr(w, 'sock'):\n"
        """        w.answer = lambda *a: '{"ok":"[1,[\\\\"f\\\\",\\\\"nan\\\\"]]","ok":"[1,1]"}'\n"""
        "    f = f.f_back"
    ),
    "expected value looked for": (
        "import gc, re, sys\nfound = re.findall('ch-[0-9a-f]{12}', repr([o for o in gc.get_objects()"
        " if type(o) in (dict, list, tuple) and o is not globals()])[:10**6])\nmark_ = found[0] if found else 'x'"
    ),
}

#: Files beside a wrong calc.py.
FILES: Mapping[str, Mapping[str, bytes]] = {
    "sitecustomize": {
        "src/sitecustomize.py": b"import os; os._exit(0)\n",
        "sitecustomize.py": b"import os; os._exit(0)\n",
    },
    "usercustomize": {"src/usercustomize.py": b"import os; os._exit(0)\n"},
    "path file": {"src/x.pth": b"import os; os._exit(0)\n"},
    "standard library shadowed": {
        f"src/{name}.py": b"import os; print('ok'); os._exit(0)\n"
        for name in ("json", "enum", "decimal", "base64", "glob")
    },
    "wire shadowed": {
        f"src/{n}.py": b"raise SystemExit(0)\n" for n in ("values", "encode", "decode", "worker", "hands")
    },
    "conftest and settings": {
        "conftest.py": b"def pytest_sessionfinish(session):\n    import os; os._exit(0)\n",
        "pytest.ini": b"[pytest]\naddopts = --collect-only\n",
        "pyproject.toml": b"[tool.pytest.ini_options]\naddopts = '-p evil'\n",
    },
    "an oracle of its own": {
        "oracles/__init__.py": b"",
        "oracles/contract.py": b"raise SystemExit(0)\n",
        "oracle.py": oracle("pass"),
    },
    "a plugin": {
        "src/evil-1.dist-info/entry_points.txt": b"[pytest11]\nevil = evil\n",
        "src/evil-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
    },
}


#: Impatient, because what is scored here is not meant to be answered.
SOON = ScoreLimits(call=0.8, total=2.5)

#: As ORACLE, but each answer is asked for alone, so that one comparison cannot hide the other.
TWO = b"""
from oracles.contract import forbids, requires

@requires("mark() gives the tag")
def marks(subject, facts):
    assert subject.call("calc:mark") == facts.tag

@requires("add() adds")
def adds(subject, facts):
    assert subject.call("calc:add", 123, 456) == 579
"""


def _scored(box: Sandbox, code: bytes, extra: Mapping[str, bytes] | None = None, limits: ScoreLimits = SOON) -> Verdict:
    began = time.monotonic()
    verdict = score(box, TWO, job({"src/calc.py": code, **(extra or {})}, limits=limits))
    assert time.monotonic() - began < MOST
    return verdict


@pytest.mark.parametrize("name", RETURNS)
def test_hostile_return(box: Sandbox, name: str) -> None:
    before, body = RETURNS[name]
    code = f"{before}\ndef give(*_):\n    {body}\nadd = mark = give\n"
    verdict = _scored(box, code.encode("utf-8", "surrogatepass"))
    assert verdict.outcome == "failed", verdict
    assert not any(check.held for check in verdict.checks), verdict


@pytest.mark.parametrize("name", ACTIONS)
def test_hostile_action(box: Sandbox, name: str) -> None:
    verdict = _scored(box, ACTIONS[name].encode() + b"\n" + WRONG)
    assert verdict.outcome == "failed", verdict


@pytest.mark.parametrize("name", ["exit 0", "endless loop", "lines on every descriptor", "builtins and json replaced"])
def test_hostile_action_in_a_call(box: Sandbox, name: str) -> None:
    lines = "\n".join(f"    {line}" for line in ACTIONS[name].splitlines())
    code = f"def mark():\n{lines}\n    return 'x'\ndef add(a, b):\n    return mark()\n"
    assert _scored(box, code.encode()).outcome == "failed"


@pytest.mark.parametrize("name", FILES)
def test_hostile_files(box: Sandbox, name: str) -> None:
    assert _scored(box, WRONG, FILES[name]).outcome == "failed"


def test_shadows_do_not_hurt_right_code(box: Sandbox) -> None:
    """The controls: with right code the same files change nothing for the functions that are called."""
    for name in ("wire shadowed", "conftest and settings", "an oracle of its own", "a plugin"):
        assert _scored(box, RIGHT, FILES[name], QUICK).outcome == "pass", name


def test_an_innocent_patch_keeps_its_honest_answer(box: Sandbox) -> None:
    code = RIGHT + b"\nimport builtins, json\nbuiltins.sorted = builtins.hex = json.loads = None\n"
    assert _scored(box, code, limits=QUICK).outcome == "pass"


def test_poisoned_bytecode_is_not_run(box: Sandbox) -> None:
    import importlib.util
    import marshal

    header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")  # hash-based, unchecked
    cached = header + importlib.util.source_hash(RIGHT) + marshal.dumps(compile(RIGHT, "calc.py", "exec"))
    path = "src/" + importlib.util.cache_from_source("calc.py")
    tree = {"src/calc.py": WRONG, path: cached}
    verdict = score(box, oracle('assert subject.call("calc:add", 2, 3) == 5'), job(tree))
    assert verdict.outcome == "failed"


def test_a_call_cannot_outlive_the_budget(box: Sandbox) -> None:
    body = "for _ in range(1000):\n    r = subject.call('calc:mark')\n    assert not isinstance(r, str)\nassert False"
    code = b"import time\ndef mark(): time.sleep(1)\n"
    began = time.monotonic()
    verdict = score(box, oracle(body), job(code, limits=SOON))
    assert verdict.outcome == "failed"
    assert not verdict.choked
    assert time.monotonic() - began < MOST


def test_commands_that_hang_flood_or_stay_behind(box: Sandbox) -> None:
    body = """
def trouble(*command):
    try:
        return subject.run(list(command))
    except AssertionError as error:
        return str(error).split(":")[1].strip()
assert trouble("sleep", "1000") == "SubjectTimeout"
assert trouble("sh", "-c", "sleep 1000 & echo x").stdout == b"x\\n"
assert trouble("sh", "-c", "trap '' TERM HUP; sleep 1000 & wait") == "SubjectTimeout"
assert trouble("sh", "-c", "kill -9 $$").exit is None
assert trouble("cat") .stdout == b""
assert trouble("head", "-c", "3000000", "/dev/zero") == "SubjectFlood"
assert trouble("sh", "-c", "kill -9 $PPID") == "SubjectDied"
assert trouble("true") == "SubjectDied"
"""
    verdict = score(box, oracle(body), job(RIGHT))
    assert verdict.outcome == "pass", verdict


def test_reading_odd_files(box: Sandbox) -> None:
    body = """
made = subject.run(["sh", "-c", "mkfifo p && ln -s p q && ln -s /dev/zero z && ln -s nowhere n"])
assert made.exit == 0, made
for path in ("p", "q", "z", "n", ".", "/", "a\\0b", "", "x" * 5000):
    assert subject.read(path) is None, path
assert subject.files("**/*.py") == ["src/calc.py"]
"""
    verdict = score(box, oracle(body), job(RIGHT))
    assert verdict.outcome == "pass", verdict


def test_unparsable_and_monstrous_sources_do_not_choke_ast(box: Sandbox) -> None:
    for source in (b"def (", b"\0", b"(" * 100_000, b"-" * 1_000_000 + b"1", b"\xff\xfe"):
        change = Change("modified", b"", source)
        job_ = job(RIGHT)
        odd = type(job_)(make_tar({"a.py": source}), {"a.py": change}, {"tag": TAG}, limits=job_.limits)
        verdict = score(box, oracle('subject.ast("a.py")'), odd)
        assert verdict.outcome == "failed"


def test_canned_answers_pass_nothing_and_break_nothing(box: Sandbox) -> None:
    verdicts = hostile(box, ORACLE, job(WRONG))
    assert len(verdicts) >= 200
    assert [label for label, verdict in verdicts.items() if verdict.outcome == "pass"] == []


def test_canned_answers_find_an_oracle_that_believes_anything(box: Sandbox) -> None:
    verdicts = hostile(box, oracle('subject.call("calc:mark")'), job(WRONG))
    assert all(verdict.outcome == "pass" for verdict in verdicts.values())
    weak = hostile(box, oracle('assert subject.call("calc:mark") != "default"'), job(WRONG))
    assert 10 < sum(verdict.outcome == "pass" for verdict in weak.values()) < len(weak)
    with pytest.raises(OracleError, match="broke the judge"):
        hostile(box, oracle('import os\nif subject.call("calc:mark") is True: os._exit(0)'), job(WRONG))
