"""Scoring end to end in real sandboxes: honest code, choking oracles, lost judges, and who sees what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from oracle_toy import OLD, ORACLE, RIGHT, TAG, WRONG, job, oracle

from containers.sandbox import Sandbox
from oracles.broker import Job, ScoreLimits, score, survey
from oracles.contract import Change
from oracles.tars import make_tar
from oracles.verdict import OracleError, Verdict


def _check(box: Sandbox, body: str, code: bytes = RIGHT, **changes: object) -> Verdict:
    return score(box, oracle(body), job(code, **changes))


def test_right_code_passes(box: Sandbox) -> None:
    verdict = score(box, ORACLE, job(RIGHT))
    assert verdict.outcome == "pass", verdict
    assert [check.name for check in verdict.checks] == ["marks", "adds", "command", "old"]
    assert verdict.derived == {"shout": TAG.upper()}


def test_wrong_code_fails_and_says_where(box: Sandbox) -> None:
    verdict = score(box, ORACLE, job(WRONG))
    assert verdict.outcome == "failed"
    assert not any(check.choked for check in verdict.checks)
    assert "subject.call" in verdict.checks[0].detail


@pytest.mark.parametrize(
    "code",
    [
        RIGHT + f"# never again {OLD}\n".encode(),
        RIGHT.replace(TAG.encode(), OLD.encode()),
        RIGHT + f"\nold, mark = mark, lambda: print('ch-' + '{OLD[3:]}') or old()\n".encode(),
        RIGHT + f"\ndef mark():\n    print('ch-' + '{OLD[3:]}', flush=True)\n    import os; os._exit(0)\n".encode(),
    ],
    ids=["comment", "value", "print", "last words"],
)
def test_forbidden_text_traps(box: Sandbox, code: bytes) -> None:
    assert score(box, ORACLE, job(code)).outcome == "trapped"


def test_removed_lines_do_not_count(box: Sandbox) -> None:
    before = RIGHT + f"# {OLD}\n".encode()
    job_ = Job(
        make_tar({"src/calc.py": RIGHT}),
        {"src/calc.py": Change("modified", before, RIGHT), "gone.py": Change("deleted", OLD.encode(), None)},
        {"tag": TAG, "old": OLD},
        roots=("src",),
    )
    assert score(box, ORACLE, job_).outcome == "pass"


def test_no_edit_fails_without_running_anything(box: Sandbox) -> None:
    verdict = score(box, ORACLE, Job(make_tar({"src/calc.py": RIGHT}), {}, {"tag": TAG, "old": OLD}))
    assert (verdict.outcome, verdict.no_edit, verdict.checks) == ("failed", True, ())


def test_survey_needs_no_tree(box: Sandbox) -> None:
    found = survey(box, ORACLE, {"tag": "ch-1", "old": "x"})
    assert found.derived == {"shout": "CH-1"}
    assert [check.kind for check in found.checks] == ["requires"] * 3 + ["forbids"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"def broken(:\n", "SyntaxError"),
        (b"raise ValueError('no')\n", "ValueError: no"),
        (b"x = 1\n", "requires nothing"),
        (b"import os\nos._exit(0)\n", "did not start"),
        (b"from oracles.contract import *\n@derives('a')\ndef a(f): return 1/0\n", "ZeroDivisionError"),
        (oracle("pass").replace(b"requires(", b"requires(when='abstain', text="), "requires nothing"),
    ],
)
def test_an_oracle_that_cannot_judge_is_our_error(box: Sandbox, source: bytes, reason: str) -> None:
    with pytest.raises(OracleError, match=reason):
        score(box, source, job(RIGHT))


@pytest.mark.parametrize("body", ["1 / 0", "return 1", "raise SystemError('x')", "return subject.call('calc:mark')"])
def test_a_check_that_raises_chokes(box: Sandbox, body: str) -> None:
    verdict = _check(box, body)
    assert verdict.outcome == "failed"
    assert [check.choked for check in verdict.checks] == [True]
    assert verdict.choked == verdict.checks


@pytest.mark.parametrize(
    "body",
    [
        "import os; os._exit(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "raise SystemExit(0)",
        "subject._link.send({'op': 'verdict', 'results': []})",
        "subject._link.send({'op': 'nonsense'})",
        "subject._link.writer.write(b'x' * 100)",
        "raise KeyboardInterrupt('\\ud800\\n' * 5000)",
    ],
)
def test_a_judge_that_vanishes_chokes_every_check(box: Sandbox, body: str) -> None:
    verdict = _check(box, body)
    assert verdict.outcome == "failed"
    assert verdict.checks[0].choked
    assert "the judge was lost" in verdict.checks[0].detail
    assert verdict.checks[0].detail.isprintable()


def test_a_judge_that_never_ends_chokes_in_time(box: Sandbox) -> None:
    verdict = _check(box, "while True: pass", limits=ScoreLimits(call=0.5, total=0.5, grace=1.0))
    assert verdict.checks[0].choked
    assert "TimeoutError" in verdict.checks[0].detail


def test_forbids_must_answer_with_a_truth_value(box: Sandbox) -> None:
    source = oracle("pass") + b"\n@forbids('f')\ndef f(subject, facts):\n    assert False\n"
    verdict = score(box, source, job(RIGHT))
    assert (verdict.outcome, verdict.checks[1].choked) == ("failed", True)


def test_when_binds_a_check_to_the_expectation(box: Sandbox) -> None:
    source = oracle("pass") + b"\n@requires('plain', when='abstain')\ndef plain(subject, facts):\n    return False\n"
    assert score(box, source, job(RIGHT)).outcome == "pass"
    assert score(box, source, job(RIGHT, expect="abstain")).outcome == "failed"


def test_the_same_seed_asks_the_same(box: Sandbox) -> None:
    body = "assert False, str(subject.random.getrandbits(64))"
    details = [_check(box, body, seed=seed).checks[0].detail for seed in ("1", "1", "2")]
    assert details[0] == details[1] != details[2]


def test_subject_toolbox(box: Sandbox) -> None:
    code = (
        RIGHT
        + b"""
from dataclasses import dataclass
LIMIT = (1, 2.5)
@dataclass
class Box:
    items: list
    def put(self, item): self.items.append(item)
    def touch(self, path):
        with open(path, 'w') as f: f.write('x')
def size(box): return len(box.items)
def boom(): raise KeyError('k')
count = 0
def tick():
    global count
    count += 1
    return count
"""
    )
    body = """
box = subject.new("calc:Box", [])
assert box.method("put", 3) is None
assert box.attr("items") == [3]
assert subject.call("calc:size", box) == 1
assert subject.value("calc:LIMIT") == (1, 2.5)
assert subject.call("calc:boom") == Raised("KeyError", "'k'")
assert subject.call("calc:Box", [1]) == Record("Box", {"items": [1]})
assert subject.call("calc:nothing").type == "AttributeError"
assert subject.call("nowhere:f").type == "ModuleNotFoundError"
assert (subject.call("calc:tick"), subject.call("calc:tick")) == (1, 2)
assert box.method("touch", "made.txt") is None
assert subject.read("made.txt") == b"x" and subject.read("none") is None and subject.read("src") is None
subject.restart()
assert subject.call("calc:tick") == 1
assert box.attr("items").type == "SubjectStale"
assert subject.files("**/*.txt") == ["made.txt"]
done = subject.run(["python", "-c", "import sys; sys.stderr.write('e'); sys.exit(3)"])
assert (done.exit, done.stdout, done.stderr) == (3, b"", b"e")
assert subject.run(["no-such-program"]).exit == 127
assert {node.name for node in subject.ast("src/calc.py").body if hasattr(node, "name")} >= {"Box", "tick"}
assert any("class Box" in line for line in subject.added_lines())
assert subject.delta["src/calc.py"].status == "modified"
assert subject.mentions("made.txt") is False and subject.mentions("class Box") is True
"""
    verdict = _check(box, body, code)
    assert verdict.outcome == "pass", verdict


def test_checks_do_not_share_files_or_modules(box: Sandbox) -> None:
    check = b"""
@requires('%s')
def %s(subject, facts):
    assert subject.read('left') is None
    assert subject.run(['sh', '-c', 'echo x > left; echo y > /tmp/left']).exit == 0
    assert subject.run(['cat', '/tmp/left']).stdout == b'y\\n'
"""
    source = b"from oracles.contract import *\n" + b"".join(check % (n, n) for n in (b"one", b"two", b"three"))
    verdict = score(box, source, job(RIGHT))
    assert verdict.outcome == "pass", verdict


def test_regenerate_uses_the_pristine_generator(box: Sandbox) -> None:
    make = b"import pathlib; p = pathlib.Path('out'); p.mkdir(exist_ok=True); " + (
        b"(p / 'made.txt').write_text('made from ' + pathlib.Path('source.txt').read_text())"
    )
    tree = {"source.txt": b"new", "make.py": b"raise SystemExit('sabotage')", "out/made.txt": b"by hand"}
    settings = {"artifacts": ("out/*.txt",), "generator": ("python", "make.py")}
    body = """
assert subject.regenerate() == {"out/made.txt": b"made from new"}
assert subject.read("out/made.txt") == b"by hand"
"""
    verdict = score(box, oracle(body), job(tree, pristine=make_tar({**tree, "make.py": make}), **settings))
    assert verdict.outcome == "pass", verdict
    sabotaged = score(box, oracle(body), job(tree, pristine=make_tar(tree), **settings))
    assert sabotaged.outcome == "failed"
    assert not sabotaged.choked
    assert "the generator ended with 1" in sabotaged.checks[0].detail


def test_the_subject_sees_no_fact_and_no_word_of_ours(box: Sandbox) -> None:
    code = (
        RIGHT
        + rb"""
import glob, os, re, sys
def look():
    found = [repr(sys.argv), repr(dict(os.environ)), repr(sys.path), repr(sorted(sys.modules))]
    names = [f'/proc/[0-9]*/{name}' for name in ('cmdline', 'environ', 'mountinfo', 'status', 'comm')]
    for path in [path for name in names for path in glob.glob(name)] + glob.glob('/agent/*'):
        try:
            with open(path, errors='replace') as file:
                found.append(path + ' ' + file.read(300_000))
        except OSError:
            pass
    frame = sys._getframe()
    while frame:
        found.append(repr({k: v for k, v in frame.f_locals.items() if k != 'found'})[:100_000])
        frame = frame.f_back
    return chr(10).join(found)

def hunt():
    shape, found = re.compile(rb'qz' + rb'-[0-9a-f]{12}'), set()
    for pid in ('self', os.getppid()):
        try:
            memory = open(f'/proc/{pid}/mem', 'rb', 0)
            for line in open(f'/proc/{pid}/maps'):
                low, high = (int(part, 16) for part in line.split()[0].split('-'))
                try:
                    memory.seek(low)
                    found |= set(shape.findall(memory.read(high - low)))
                except (OSError, ValueError, OverflowError):
                    pass
        except OSError:
            pass
    return found
"""
    )
    body = """
seen = subject.call("calc:look")
assert type(seen) is str and "calc:look" in seen, seen
for word in ("qz-", "oracle", "benchmark", "dreambench", "verdict", "judge", "abstain"):
    at = seen.lower().replace("qz' + rb'-", "").find(word)
    assert at < 0, (word, seen[at - 60 : at + 60])
assert subject.call("calc:hunt") == set()
assert facts.secret == "qz-99c41e0d77aa"
"""
    verdict = _check(box, body, code, facts={"tag": TAG, "old": OLD, "secret": "qz-99c41e0d77aa"}, history="given")
    assert verdict.outcome == "pass", verdict
    known = code.replace(b"def hunt():", b"known = 'qz-99c41' + 'e0d77aa'\ndef hunt():")
    assert _check(box, 'assert len(subject.call("calc:hunt")) == 1', known).outcome == "pass"


def test_stripped_asserts_are_refused() -> None:
    program = (
        "from oracles.broker import score, OracleError\ntry:\n score(None, b'', None)\nexcept OracleError: print('no')"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-O", "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "no\n"
