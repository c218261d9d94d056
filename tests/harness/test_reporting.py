"""What a report is made from, on a real run of the mini trap; damaged and older runs; what must not be in a page."""

from __future__ import annotations

import getpass
import json
import platform
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from analysis.family import shipped_family
from analysis.report.source import ArmDetail, Arms, RunData
from containers.sandbox import Sandbox
from harness.archive import REJECTED, Archive
from harness.cli.output import committed
from harness.config import load
from harness.details import LONGEST, Texts, arms
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.outcome import Boundary, Outcome, UsageFault
from harness.records import ArmRecord, SessionRecord
from harness.reporting import in_plan_order, report, run_data, write
from harness.run import execute, prepare
from harness.rundir import RunDir
from memory_probe.protocol import count_tokens

CONDITIONS = ("B0", "B5", "DF", "POISON")


@pytest.fixture(scope="module")
def run(mini: Mapping[str, str], box: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of our own that the tests of this file only read."""
    out = tmp_path_factory.mktemp("reporting") / "run"
    words = ["seeds=1", f"conditions={','.join(CONDITIONS)}", "family=quick"]
    execute(prepare(load(None, words, dict(mini)), out), lambda record: None, sandbox=box, unavailable={})
    return out


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(run, tmp_path / "copy"))


def data(out: Path) -> RunData:
    folder = RunDir.open(out)
    return run_data(folder, committed(folder))


def details(out: Path) -> Arms:
    folder = RunDir.open(out)
    return arms(folder, committed(folder))


def arm(found: Arms, condition: str) -> ArmDetail:
    return next(detail for detail in found.details if detail.condition == condition)


def sessions(out: Path, record: ArmRecord) -> list[SessionRecord]:
    with Ledger(out / "ledger.sqlite", read_only=True) as ledger:
        return ledger.sessions(record.arm, record.attempt)


def change(out: Path, edit: dict[str, object], *gone: str) -> None:
    """Rewrite run.json."""
    stored = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps({k: v for k, v in (stored | edit).items() if k not in gone}))


def test_what_was_run(run: Path, box: Sandbox) -> None:
    found = data(run)
    told = dict(found.told)
    stored = json.loads((run / "run.json").read_text())
    assert (told["reader levels"], told["seeds"], told["traps"]) == ("careful, credulous", "1", "1 (C1: 1)")
    assert (told["view budget"], told["haystack"]) == ("6 items, 1200 tokens", "none")
    assert (told["plan digest"], told["draw digest"]) == (stored["plan_digest"], stored["draw_digest"])
    assert told["draw of the facts"] == "fresh"
    assert told["outcomes"].startswith("8 planned, ")
    assert told["sandbox: bubblewrap"] == box.describe()["bubblewrap"]
    assert found.planned == dict.fromkeys(CONDITIONS, 1)
    assert {card.code: card.instrument for card in found.cards} == {c: c == "POISON" for c in CONDITIONS}
    assert found.family == shipped_family("quick")
    (info,) = found.traps.values()
    assert (info.construct, info.fixture, info.evidence, info.clean_start) == ("C1", "mini", "verbatim", False)
    assert found.poisoned == frozenset()  # the mini trap has nothing that must not be used


def test_what_each_arm_took(run: Path) -> None:
    found = data(run)
    records = {r.condition: r for r in committed(RunDir.open(run))}
    assert len(found.spent) == len(found.warm_ups) == len(found.arms) == 8
    spent = {(s.condition, s.reader): s for s in found.spent}
    assert spent["B0", "careful"].view_tokens == 0
    view = json.loads(RunDir.open(run).get_blob(sessions(run, records["B5"])[2].view))
    tokens = sum(count_tokens(item["text"]) for item in view["items"])
    assert spent["B5", "careful"].view_tokens == spent["B5", "credulous"].view_tokens == tokens > 0
    assert spent["B5", "careful"].store_bytes or 0 > 0
    assert spent["B5", "careful"].seconds == records["B5"].seconds
    assert spent["B5", "careful"].model_tokens is None
    warm = {(w.condition, w.reader): w for w in found.warm_ups}
    assert (warm["B5", "careful"].s1, warm["B5", "careful"].s2) == records["B5"].warm_up
    assert warm["B5", "careful"].passed is True
    assert warm["B0", "careful"].passed is False


def test_each_arm_as_a_person_reads_it(run: Path) -> None:
    found = details(run)
    assert [d.arm for d in found.details] == [r.arm for r in committed(RunDir.open(run))]
    b5 = arm(found, "B5")
    assert [(s.number, s.reader) for s in b5.sessions] == [(1, ""), (2, ""), (3, "careful"), (3, "credulous")]
    record = next(r for r in committed(RunDir.open(run)) if r.condition == "B5")
    stored = sessions(run, record)
    store = ObjectStore(run / "objects.git")
    for shown, session in zip(b5.sessions, stored, strict=True):
        diff = store.diff(session.tree_in, session.tree_out).decode()
        assert found.texts.get(shown.diff, "") == diff
        assert found.texts[shown.prompt].encode() == RunDir.open(run).get_blob(session.prompt)
        assert [name for name, _, _ in shown.carried] == [c.name for c in session.carried]
        assert shown.notes == ()
    last = b5.sessions[2]
    assert tuple(item.role for item in last.admitted) == record.shown
    assert all(item.date and found.texts[item.text] in found.texts[last.prompt].replace("\n    ", "\n")
               for item in last.admitted)  # fmt: skip
    assert [e.outcome for e in b5.endings] == [e.outcome.value for e in record.endings]
    assert b5.endings[0].checks[0].mark == "ok"
    assert any(fate.startswith("mark [governing] used") for fate in b5.endings[0].fates)
    assert any(check.mark == "missed" for check in arm(found, "B0").endings[0].checks)
    assert any(item.why for item in arm(found, "DF").sessions[2].rejected)
    assert len(set(found.texts.values())) == len(found.texts)
    assert found.cut is None


def test_the_files_at_the_end(copy: Path) -> None:
    folder = RunDir.open(copy)
    made = report(folder, committed(folder))
    write(folder, made)
    page = (copy / "report.html").read_text(encoding="utf-8")
    assert (copy / "report.html").stat().st_mode & 0o777 == 0o600
    assert (copy / "report.md").stat().st_mode & 0o777 == 0o644
    assert (copy / "report.md").read_text(encoding="utf-8") == made.markdown
    plain = re.sub(r"[A-Za-z0-9+/=]{120,}", "", page)  # without what is packed, which the next test looks at
    user = re.escape(getpass.getuser())  # by itself it may be a word of the page
    places = [re.escape(name) for name in (str(copy), str(Path.home()), platform.node())]
    for text in (plain, made.markdown, made.text):
        assert not re.search(rf"(?<!\w)({'|'.join(places)}|/{user}/|{user}@)\b", text)


def test_no_arm_tells_of_the_host(run: Path) -> None:
    found = details(run)
    said = json.dumps([found.texts, [repr(d) for d in found.details], data(run).told])
    for secret in (str(run), str(Path.home()), platform.node(), getpass.getuser(), str(Path(__file__).parent.parent)):
        assert not re.search(rf"\b{re.escape(secret)}\b", said)


def test_a_fault_that_names_a_folder_is_told_without_it(copy: Path) -> None:
    folder = RunDir.open(copy)
    first = committed(folder)[0]
    cause = f"{copy / 'blobs' / 'ab'}: No space left on device"
    bad = first.endings[0].model_copy(update={"outcome": Outcome.INVALID, "cause": cause, "boundary": Boundary.LEDGER})
    record = first.model_copy(update={"endings": (bad,), "attempt": 2})
    assert run_data(folder, [record]).arms[0].cause == "RUN/blobs/ab: No space left on device"
    (detail,) = arms(folder, [record]).details
    assert detail.endings[0].cause == "RUN/blobs/ab: No space left on device"
    assert detail.sessions == ()  # of the second attempt


def test_what_is_missing_is_said_in_its_arm(copy: Path) -> None:
    record = next(r for r in committed(RunDir.open(copy)) if r.condition == "B5")
    whole = details(copy)
    third = sessions(copy, record)[2]
    (copy / "blobs" / third.view[:2] / third.view).unlink()
    (copy / "blobs" / third.prompt[:2] / third.prompt).write_text("changed")
    tree = copy / "objects.git" / "objects" / third.tree_out[:2] / third.tree_out[2:]
    tree.unlink()
    found = details(copy)
    broken = arm(found, "B5").sessions[2]
    assert (broken.prompt, broken.admitted, broken.diff) == ("", (), "")
    view, prompt, diff = broken.notes
    assert view == f"the view cannot be read (blob {third.view[:16]}: No such file or directory)"
    assert prompt == f"the prompt cannot be read (blob {third.prompt[:16]}: damaged (its bytes do not match its name))"
    assert diff.startswith("the change cannot be shown (trees ")
    untouched = [d for d in found.details if d.condition in ("B0", "POISON")]
    assert [d for d in whole.details if d.condition in ("B0", "POISON")] == untouched
    assert {s.condition: s.view_tokens for s in data(copy).spent}["B5"] is None
    report(RunDir.open(copy), committed(RunDir.open(copy))).page()


def test_no_store_of_trees_is_said_and_none_is_made(copy: Path) -> None:
    shutil.rmtree(copy / "objects.git")
    assert "missing or damaged" in arm(details(copy), "B5").sessions[2].notes[0]
    assert not (copy / "objects.git").exists()


def test_an_older_run_reports(copy: Path) -> None:
    """One from before there were families, traps_told, sandbox.json and versions."""
    stored = json.loads((copy / "run.json").read_text())
    del stored["meaning"]["family"]
    change(copy, {"meaning": stored["meaning"]}, "family", "traps_told", "dreambench", "begun", "python", "draw_reused")
    (copy / "sandbox.json").unlink()
    found = data(copy)
    assert found.family is None
    assert found.traps["c1_label"].construct == "C1"
    assert found.traps["c1_label"].fixture == ""
    assert found.poisoned == frozenset()
    assert not {"begun", "draw of the facts", "DreamBench-SWE"} & set(dict(found.told))
    write(RunDir.open(copy), report(RunDir.open(copy), committed(RunDir.open(copy))))
    poison = next(r for r in committed(RunDir.open(copy)) if r.condition == "POISON")
    shown = poison.model_copy(update={"shown": ("harmful",)})
    assert run_data(RunDir.open(copy), [shown]).poisoned == {"c1_label"}


def test_poisoned_traps_are_told(copy: Path) -> None:
    told = json.loads((copy / "run.json").read_text())["traps_told"]
    told["c1_label"]["poisoned"] = True
    change(copy, {"traps_told": told})
    assert data(copy).poisoned == {"c1_label"}


def test_a_run_without_any_arm_reports(copy: Path) -> None:
    (copy / "ledger.sqlite").unlink()
    assert dict(data(copy).told)["outcomes"].endswith("8 owed")
    assert details(copy) == Arms()
    report(RunDir.open(copy), []).page()


def test_the_stored_family_must_be_the_planned_one(copy: Path) -> None:
    family = shipped_family("quick").as_data()
    change(copy, {"family": family | {"alpha": 0.1}})
    with pytest.raises(UsageFault, match=r"run\.json: family: not the family that the plan registers"):
        data(copy)
    change(copy, {"family": family | {"colour": 1}})
    with pytest.raises(UsageFault, match=r"run\.json: family: colour: Extra inputs"):
        data(copy)


HOSTILE = """
import pathlib, sys
name = b"src/mini/<script>\\n\\xff.py"
open(name, "wb").write(b"</script><script>alert(1)</script>\\xff\\x00\\x1b[2J")
pathlib.Path("src/mini/labels.py").write_bytes(b"# </script><b>\\xe2\\x80\\xa8 \\xff\\r\\n")
sys.stdout.buffer.write(b"</script><img src=x>\\xff\\xed\\xa0\\x80\\x00")
"""


def test_what_an_agent_writes_reaches_the_page_as_text_only(run_mini: Any) -> None:
    done = run_mini("conditions=B0", script=HOSTILE)
    folder = RunDir.open(done.out)
    (detail,) = details(done.out).details
    texts = details(done.out).texts
    last = detail.sessions[2]
    assert texts[last.transcript] == "</script><img src=x>\\xff\\xed\\xa0\\x80\0"
    assert "+# </script><b>\u2028 \\xff\r\n" in texts[last.diff]
    assert "GIT binary patch" in texts[last.diff]
    write(folder, report(folder, done.records))
    page = (done.out / "report.html").read_text(encoding="utf-8")
    assert "alert(1)" not in page
    assert "<img src=x>" not in page


def test_a_long_list_of_rejected_candidates_is_cut_and_counted(copy: Path) -> None:
    rejected = [{"text": f"note {n}", "why": "out-ranked"} for n in range(REJECTED + 5)]
    blob = RunDir.open(copy).put_blob(json.dumps({"items": [], "rejected": rejected, "considered": 40}).encode())
    view = Archive.open(RunDir.open(copy)).view(blob)
    assert (len(view.rejected), view.more, view.considered) == (REJECTED, 5, 40)
    assert view.rejected[-1]["text"] == f"note {REJECTED - 1}"
    other = RunDir.open(copy).put_blob(b"[]")
    assert Archive.open(RunDir.open(copy)).view(other).problem == f"blob {other[:16]}: not a view"


def test_texts_are_kept_once_and_cut() -> None:
    texts = Texts()
    long = "x" * (LONGEST + 1)
    assert texts.add("") == ""
    assert texts.add("a") == texts.add("a") != texts.add("b")
    key = texts.add(long)
    assert texts.cut(LONGEST)[0][key] == long[:-1]
    assert texts.cut(LONGEST)[1] == LONGEST
    assert texts.cut(LONGEST + 1)[1] is None


def test_the_order_in_which_arms_ended_is_no_part_of_the_report(run: Path) -> None:
    folder = RunDir.open(run)
    one, other = (report(folder, records) for records in (committed(folder), committed(folder)[::-1]))
    assert (one.markdown, one.page()) == (other.markdown, other.page())
    assert [r.condition for r in in_plan_order(folder.description(), committed(folder)[::-1])] == list(CONDITIONS)
