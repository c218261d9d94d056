"""Views rebuilt from frozen stores: the same where nothing was touched, named where it was, contained if it bites."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from containers.sandbox import AGENT, Mount, Result, Sandbox, Spec
from harness.bundle.opened import Opened, open_run
from harness.config import load
from harness.records import ArmRecord
from harness.replaying import view_answers, views
from harness.replaying.views import Rebuilt, rebuild
from harness.run import execute, prepare
from harness.stores import keep_store, restore_store
from memory_probe.lines import Lines
from oracles.tars import make_tar, read_tar

CONDITIONS = ("B0", "B5", "ALL", "DF", "B1", "B7", "DF-hybrid", "EVIDENCE", "POISON")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, mini: Mapping[str, str], box: Sandbox) -> Opened:
    """A run of the mini trap, opened. Tests add blobs to it and change no record."""
    return _run(tmp_path_factory.mktemp("views") / "run", mini, box, f"conditions={','.join(CONDITIONS)}")


def _run(out: Path, mini: Mapping[str, str], box: Sandbox, *words: str) -> Opened:
    ready = prepare(load(None, ["seeds=1", *words], dict(mini)), out)
    execute(ready, lambda record: None, sandbox=box)
    return open_run(out)


def _arm(run: Opened, condition: str) -> ArmRecord:
    return next(record for record in run.records if record.condition == condition)


def _with(run: Opened, condition: str, files: Mapping[str, bytes]) -> ArmRecord:
    """The arm of a condition as if its frozen store had held these files."""
    return _arm(run, condition).model_copy(update={"store": keep_store(run.folder, files)})


def _store(run: Opened, condition: str) -> dict[str, bytes]:
    return restore_store(run.folder, _arm(run, condition).store)


def _marks(run: Opened) -> tuple[str, str]:
    """The mark that governs in the mini trap, and one that differs from it in the last character."""
    mark = run.draws["c1_label", 1].facts["mark"]
    return mark, mark[:-1] + ("0" if mark[-1] != "0" else "1")


# -- what was not touched is the same ------------------------------------------------------------------------


def test_every_view_of_an_honest_run_is_rebuilt_the_same(run: Opened, box: Sandbox) -> None:
    found = list(rebuild(run, box, run.records))
    assert found == [Rebuilt(record.arm, True, "") for record in run.records]
    assert [record.condition for record in run.records] == list(CONDITIONS)
    shown = {r.condition: len(_view(run, r)["items"]) for r in run.records}  # so that "the same" says something
    assert shown["B0"] == 0
    assert all(shown[c] > 0 for c in CONDITIONS if c not in ("B0", "POISON"))


def _view(run: Opened, record: ArmRecord) -> dict[str, list[object]]:
    blob = next(s.view for s in run.sessions(record) if s.number == 3)
    found: dict[str, list[object]] = json.loads(run.folder.get_blob(blob))
    return found


@pytest.mark.long
def test_behind_a_haystack_too(tmp_path: Path, mini: Mapping[str, str], box: Sandbox) -> None:
    run = _run(tmp_path / "run", mini, box, "conditions=B1,DF", "haystack=70", "readers=careful")
    assert list(rebuild(run, box, run.records)) == [Rebuilt(r.arm, True, "") for r in run.records]
    # the run left out rejected candidates here, and the rebuilt view leaves out the same ones
    assert len(_view(run, _arm(run, "B1"))["rejected"]) >= views.REJECTED_KEPT


# -- what was touched is named -------------------------------------------------------------------------------


def test_a_text_that_was_changed_and_sealed_again_differs(run: Opened, box: Sandbox, tmp_path: Path) -> None:
    old, new = _marks(run)
    rows = [json.loads(line.partition(b" ")[2]) for line in _store(run, "B5")["events.jsonl"].splitlines()]
    changed = [{**row, "text": row["text"].replace(old, new)} for row in rows]
    assert changed != rows
    lines = Lines(tmp_path, "events.jsonl")
    lines.append(changed)
    (found,) = rebuild(run, box, [_with(run, "B5", lines.freeze())])
    assert found.same is False
    assert found.why.startswith("reader 'careful': item ")
    assert "text differs" in found.why
    assert found.why.index(old[-4:]) < found.why.index("recorded") < found.why.index(new[-4:])


@pytest.mark.parametrize(("condition", "file"), [("B5", "events.jsonl"), ("DF", "memory.sqlite")])
def test_one_changed_byte_of_text_is_a_damaged_store(run: Opened, box: Sandbox, condition: str, file: str) -> None:
    old, new = _marks(run)
    data = _store(run, condition)[file]
    assert old.encode() in data
    arms = [_with(run, condition, {file: data.replace(old.encode(), new.encode())}), _arm(run, "ALL")]
    first, second = rebuild(run, box, arms)
    assert first.same is False
    assert first.why.startswith("the store cannot be read: 'MemoryFault: store")
    assert second == Rebuilt(arms[1].arm, True, "")


def test_a_recorded_view_that_was_changed_differs(run: Opened, box: Sandbox) -> None:
    records = [_arm(run, condition) for condition in ("DF", "DF-hybrid", "B5", "ALL")]
    views_ = [_view(run, record) for record in records]
    first = views_[3]["items"][0]
    assert isinstance(first, dict)
    changes: list[dict[str, object]] = [
        {"considered": 99},
        {"items": views_[1]["items"][:-1]},
        {"rejected": [*views_[2]["rejected"], {"text": "x", "why": "y"}]},
        {"items": [{**first, "scope": {**first["scope"], "task": "\x1b[2Jother"}}, *views_[3]["items"][1:]]},
    ]
    changed = [json.dumps({**view, **change}).encode() for view, change in zip(views_, changes, strict=True)]
    other = _showing(run, {r.arm: run.folder.put_blob(data) for r, data in zip(records, changed, strict=True)})
    found = list(rebuild(other, box, records))
    assert [f.same for f in found] == [False] * 4
    for each, words in zip(
        found,
        ("considered: 99 recorded", "items: ", "rejected candidates: ", "item 1: scope task differs"),
        strict=True,
    ):
        assert words in each.why
        assert each.why.isprintable()


def _showing(run: Opened, blobs: Mapping[str, str]) -> Opened:
    """The run as if S3 of these arms had been shown what the blobs hold."""
    kept = dict(run.archive._sessions)
    for record in run.records:
        if blob := blobs.get(record.arm):
            shown = [s.model_copy(update={"view": blob} if s.number == 3 else {}) for s in run.sessions(record)]
            kept[record.arm, record.attempt] = shown
    return replace(run, archive=replace(run.archive, _sessions=kept))


def test_bytes_that_are_no_view_are_not_the_same(run: Opened, box: Sandbox) -> None:
    record = _arm(run, "B0")
    for data in (b"", b"\xff", b"[" * 100_000, b'{"items":[],"rejected":[],"considered":0,"more":1}', b"1e999"):
        (found,) = rebuild(_showing(run, {record.arm: run.folder.put_blob(data)}), box, [record])
        assert found == Rebuilt(record.arm, False, "what is recorded for reader 'careful' is no view")


# -- what cannot be rebuilt says why -------------------------------------------------------------------------


def test_an_arm_without_what_it_takes_says_what_is_missing(run: Opened, box: Sandbox) -> None:
    b5 = _arm(run, "B5")
    missing = b5.model_copy(update={"store": "0" * 64})
    never = b5.model_copy(update={"attempt": 7})
    none = b5.model_copy(update={"store": ""})
    where = str(run.folder.path)
    found = list(rebuild(run, box, [missing, never, none]))
    assert [f.same for f in found] == [None, None, None]
    assert found[0].why == "cannot be read: 'No such file or directory'"
    assert found[1].why == "the arm has no S3"
    assert found[2].why == "no store was frozen"
    assert not any(where in f.why for f in found)


def test_a_condition_that_is_not_here_is_not_guessed_at(run: Opened, box: Sandbox) -> None:
    cards = run.stored.meaning["conditions"]
    changed = {
        "XX": cards["B5"],
        "DF": {**cards["DF"], "version": "0"},
        "EVIDENCE": {**cards["EVIDENCE"], "instrument": False},
        "ALL": "no card",
    }
    meaning = {**run.stored.meaning, "conditions": {**cards, **changed}}
    other = replace(run, stored=run.stored.model_copy(update={"meaning": meaning}))
    strange = _arm(run, "B5").model_copy(update={"condition": "XX"})
    found = list(rebuild(other, box, [strange, *(_arm(run, code) for code in ("DF", "EVIDENCE", "ALL", "B5"))]))
    assert [f.same for f in found] == [None] * 4 + [True]
    for each, words in zip(found, ("another package", "another version", "another version", "no card"), strict=False):
        assert words in each.why


def test_without_the_facts_nothing_is_rebuilt(run: Opened, box: Sandbox) -> None:
    found = list(rebuild(replace(run, draws={}), box, run.records[:2]))
    assert [(f.same, f.why) for f in found] == [(None, "the facts are not there")] * 2


def test_a_manifest_that_makes_up_more_than_it_holds_is_not_followed(run: Opened, box: Sandbox) -> None:
    chunk = run.folder.put_packed(bytes(65_536))
    bomb = json.dumps({"events.jsonl": {"size": 65_536 * 4000, "chunks": [chunk] * 4000}}).encode()
    record = _arm(run, "B5").model_copy(update={"store": run.folder.put_blob(bomb)})
    assert list(rebuild(run, box, [record])) == [Rebuilt(record.arm, None, "the store may be larger than 128 MiB")]


# -- what bites is contained ---------------------------------------------------------------------------------


def test_corrupt_databases_and_impossible_files_cost_only_their_arm(run: Opened, box: Sandbox) -> None:
    data = _store(run, "DF")["memory.sqlite"]
    bad: list[dict[str, bytes]] = [
        {"memory.sqlite": b"no database"},
        {"memory.sqlite": data[: len(data) // 2]},
        {"memory.sqlite": data[:100] + bytes(len(data) - 100)},
        {"memory.sqlite/x": b"", "memory.sqlite": data},
        {"n" * 300: b""},
        {},
    ]
    arms = [_with(run, "DF", files) for files in bad]
    found = list(rebuild(run, box, [*arms, _arm(run, "DF")]))
    assert [f.same for f in found] == [False] * 6 + [True]
    assert all(f.why.startswith("the store cannot be read: ") for f in found[:5])
    assert "items: " in found[5].why  # an empty folder is an empty memory


def test_files_that_would_run_if_they_were_loaded_are_not(run: Opened, box: Sandbox, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    program = f"open({str(marker)!r}, 'w'); raise SystemExit(1)".encode()
    pickled = b"cposix\nsystem\n(S'touch " + str(marker).encode() + b"'\ntR."
    names = ("sitecustomize.py", "numpy.py", "json.py", "memory_probe/__init__.py", "numpy/__init__.py", "x.pth")
    arms = [
        _with(run, c, {**_store(run, c), **dict.fromkeys(names[:4], program), "x.pkl": pickled})
        for c in ("B5", "DF", "B7")
    ]
    arms.append(_with(run, "ALL", {**_store(run, "ALL"), names[4]: program, names[5]: b"import os; os._exit(1)\n"}))
    assert [(f.same, f.why) for f in rebuild(run, box, arms)] == [(True, "")] * 4
    assert not marker.exists()


#: Put below our ladder inside the sandbox: a store then may hold a program, and opening the store runs it, as if a
#: fault of SQLite or of a memory had been found by whoever made the store.
_FAULTY = """
_sound = conditions
def conditions():
    return {c: Condition(k.card, lambda o, k=k: _open(o, k)) for c, k in _sound().items()}
def _open(opening, condition):
    if (opening.namespace / "do").exists():
        exec((opening.namespace / "do").read_text(), {})
    return condition.open(opening)
"""


@dataclass
class _Faulty:
    """The sandbox, with a memory in it that runs what its store says."""

    box: Sandbox
    runs: int = 0
    command: tuple[str, ...] = ()

    def run(self, spec: Spec) -> Result:
        self.runs += 1
        files = read_tar(spec.mounts[AGENT].tar)
        files["lib/memory_probe/ladder.py"] += _FAULTY.encode()
        mounts = {**spec.mounts, AGENT: Mount(make_tar(files))}
        return self.box.run(replace(spec, mounts=mounts, command=self.command or spec.command))

    def __getattr__(self, name: str) -> object:
        return getattr(self.box, name)


_EMPTY = json.dumps({"view": {"items": [], "rejected": [], "considered": 0}})
_FORGED = f"\n{64 * '0'} " + json.dumps({"job": 1, "end": "said", "said": _EMPTY}) + "\n"
_FORGE = f"""
import os
for place in (f"/proc/{{os.getppid()}}/fd/1", f"/proc/{{os.getppid()}}/mem", "/proc/1/fd/1", "/dev/stdout"):
    try:
        with open(place, "r+b", buffering=0) as file:
            file.write({_FORGED!r}.encode())
    except OSError:
        pass
for number in (0, 1, 2, 4, 5, 6, 7, 8, 9):
    try:
        os.write(number, {_FORGED!r}.encode())
    except OSError:
        pass
"""
#: Lives on in a session of its own and writes into whatever store is opened next.
_LINGER = """
import os
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 100)
    while True:
        try:
            with open("/tmp/store/events.jsonl", "w") as file:
                file.write("forged")
        except OSError:
            pass
"""
_FILL = """
for place in ("/tmp", "/home/dev"):
    try:
        with open(place + "/full", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError:
        pass
"""


@pytest.mark.long
def test_a_store_that_takes_over_its_reader_reaches_no_other_answer(run: Opened, box: Sandbox) -> None:
    honest = _store(run, "B5")

    def biting(program: str) -> ArmRecord:
        return _with(run, "B5", {**honest, "do": program.encode()})

    asked = {
        "forge": biting(_FORGE),
        "after forge": _arm(run, "DF"),
        "linger": biting(_LINGER),
        "after linger": _arm(run, "ALL"),
        "fill": biting(_FILL),
        "after fill": _arm(run, "DF-hybrid"),
        "hang": biting("import time; time.sleep(1000)"),
        "fall": biting("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"),
        "leave": biting("import os; os._exit(0)"),
        "flood": biting("import os\nwhile True: os.write(3, bytes(1 << 16))"),
        "after flood": _arm(run, "B1"),
        "end the worker": biting("import os, signal; os.kill(os.getppid(), signal.SIGKILL)"),
        "after the end": _arm(run, "B7"),
        "last": _arm(run, "B0"),
    }
    faulty = _Faulty(box)
    told = rebuild(run, faulty, list(asked.values()), seconds=3.0)
    found = {name: (each.same, each.why) for name, each in zip(asked, told, strict=True)}
    assert found == {
        **dict.fromkeys((name for name in asked if name.startswith(("after", "last"))), (True, "")),
        "forge": (True, ""),  # nothing came of it: its view is what was recorded
        "linger": (True, ""),
        "fill": (True, ""),  # it had been read by then, and nobody after it found the disk full
        "hang": (False, "the store was not read within 3 s"),
        "fall": (False, "the store ended its reader: 'signal 11'"),
        "leave": (False, "the store's reader gave no view"),
        "flood": (False, "the store gave a view of more than 8 MiB"),
        "end the worker": (False, "reading the store ended the sandbox"),
    }
    assert faulty.runs == 4  # the batch, and one for each arm that it left without an answer


@pytest.mark.parametrize(
    "program",
    [
        "print('no JSON'); print('{}')",
        "import sys; sys.stdout.buffer.write(b'\\xff\\x00' * 100000)",
        "print('[' * 200000)",
        "raise SystemExit('\\x1b[31mred')",
    ],
)
def test_a_sandbox_that_answers_anything_else_rebuilds_nothing(run: Opened, box: Sandbox, program: str) -> None:
    found = list(rebuild(run, _Faulty(box, command=("python3", "-c", program)), run.records[:2]))
    assert [f.same for f in found] == [None, None]
    assert all(f.why.startswith("no store can be read in this sandbox: ") for f in found)
    assert all(f.why.isprintable() for f in found)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["job", "end", "said", "view", "items"]), inner),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.binary() | _json.map(lambda data: json.dumps(data).encode()))
def test_no_bytes_break_the_reading_of_answers(data: bytes) -> None:
    for stdout in (data, _marked(data), _marked(b'{"ready": true}') + _marked(data), _marked(data, b"x" * 32)):
        found = view_answers.answers(stdout, _KEY, 3)
        assert found is None or set(found) <= {0, 1, 2}
    view_answers.stored_view(data)
    view_answers.said(data.decode("utf-8", "surrogateescape"))


_KEY = bytes(range(32))
_READY = b'{"ready": true}'


def _marked(text: bytes, key: bytes = _KEY) -> bytes:
    return b"\n" + hmac.digest(key, text, "sha256").hex().encode() + b" " + text + b"\n"


def test_only_the_workers_own_lines_are_answers() -> None:
    def line(job: int, end: str = "late") -> bytes:
        return json.dumps({"job": job, "end": end, "said": ""}).encode()

    def jobs(stdout: bytes) -> dict[int, str] | None:
        found = view_answers.answers(stdout, _KEY, 2)
        return None if found is None else {n: answer.end for n, answer in found.items()}

    assert jobs(_marked(line(0))) is None
    assert jobs(_marked(_READY, b"x" * 32) + _marked(line(0))) is None
    assert jobs(_marked(_READY) + _marked(line(0)) + _marked(line(1))) == {0: "late", 1: "late"}
    assert jobs(_marked(_READY) + _marked(line(1), b"x" * 32) + b"garbage" + _marked(line(0))) == {0: "late"}
    assert jobs(_marked(_READY) + line(1) + b"\n" + _marked(line(0), b"x" * 32)) == {}
    assert jobs(_marked(_READY) + _marked(line(0)) + _marked(line(0, "long"))) == {0: "late"}
    assert jobs(_marked(_READY) + _marked(line(0)) + _marked(line(2)) + _marked(line(1))[:-5]) == {0: "late"}
    assert jobs(_marked(_READY) + _marked(line(0, "well"))) == {}
