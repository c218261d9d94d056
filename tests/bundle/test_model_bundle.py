"""Runs that asked a model: frozen, verified, replayed and audited without a word when honest, refused when edited."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.auditing.audit import audit
from harness.bundle import layout
from harness.bundle.access import opened
from harness.bundle.opened import open_run
from harness.bundle.reader import Bundle
from harness.replaying.replay import replay, write_replayed
from harness.replaying.views import rebuild
from harness.verification.verify import verify

from . import edits_models, model_fold
from .audit_kit import Bench, messages, told
from .bundle_kit import Edit, Fold, refused, says
from .edits_records import Tampering
from .model_fold import B0, B5, FILES, JUDGED
from .replay_kit import again


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory, box: Sandbox, mini: Mapping[str, str]) -> Fold:
    return model_fold.noted(tmp_path_factory.mktemp("noted"), box, mini)


@pytest.fixture(scope="module")
def pulled(tmp_path_factory: pytest.TempPathFactory, box: Sandbox, mini: Mapping[str, str]) -> Fold:
    return model_fold.pulled(tmp_path_factory.mktemp("pulled"), box, mini)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, box: Sandbox, mini: Mapping[str, str]) -> Fold:
    return model_fold.judged(tmp_path_factory.mktemp("judged"), box, mini)


def honest(fold: Fold) -> None:
    """Both forms of the bundle verify; its audit has no breach, and neither has that of the run."""
    for bundle in (fold.revealed, fold.sealed):
        found = verify(bundle, fold.signer)
        assert says(found) == {}
        assert found.holds(any_signer=False)
    with opened(fold.revealed) as source:
        assert [f for f in audit(source.run).findings if f.level == "breach"] == []
    assert [f for f in audit(open_run(fold.run)).findings if f.level == "breach"] == []


# -- notes that the agent keeps, and arms that were begun twice --------------------------------------------------------


def test_a_run_with_notes_is_verified_and_audited(noted: Fold) -> None:
    honest(noted)
    run = open_run(noted.run)
    outcomes = {record.condition: record.endings[0].outcome.value for record in run.records}
    assert outcomes == {"B0": "failed", "B5": "pass", "FILES": "pass"}
    record = next(r for r in run.records if r.arm == FILES)
    turns = [(s.number, s.reader, s.paid_in) for s in run.sessions(record)]
    assert turns == [(1, "", 1), (1, "debrief", 1), (2, "", 1), (2, "debrief", 1), (3, "-", None)]
    proofs = {p.condition: (p.passes, p.whole) for p in audit(run).proofs}
    assert proofs == {"B5": (1, 1), "FILES": (1, 1)}


@pytest.mark.long
def test_its_verdicts_are_the_same_and_a_replayed_copy_has_every_attempt(
    noted: Fold, tmp_path: Path, box: Sandbox
) -> None:
    with opened(noted.revealed) as source:
        done = replay(source.run, box, 2)
        assert (done.differences, done.scored, done.broken) == ((), 3, 0)
        assert [r.same for r in rebuild(source.run, box, source.run.records)] == [True] * 3
        folder = write_replayed(source.run, done, tmp_path / "again")
        attempts = Counter(attempt for _, attempt in open_run(folder.path).archive.attempts)
    assert attempts == {1: 3, 2: 3}
    assert (folder.path / "lost.jsonl").read_bytes() == (noted.run / "lost.jsonl").read_bytes()


def test_what_was_lost_is_in_the_bundle_and_its_amount_is_public(noted: Fold) -> None:
    with Bundle.open(noted.sealed) as bundle:
        (line,) = bundle.get(layout.LOST).splitlines()
        report = bundle.get(layout.REPORT).decode()
    use = json.loads(line)["use"]
    assert (use["calls"], use["tokens"][0]["model"], use["tokens"][0]["input"], use["usd"]) == (
        1, model_fold.MODEL, None, None)  # fmt: skip
    (own,) = (json.loads(each)["use"] for each in (noted.run / "lost.jsonl").read_text().splitlines())
    assert len(use["exchange"]) == 40
    assert use["exchange"] != own["exchange"][:40]
    with opened(noted.revealed) as source:
        assert (source.run.folder.path / "lost.jsonl").read_bytes() == (noted.run / "lost.jsonl").read_bytes()
        calls = sum(s.model.calls for found in source.run.archive.attempts.values() for s in found
                    if s.model and not s.paid_in)  # fmt: skip
    (row,) = re.findall(r"^\| *all *\| *paid *\|(.*)$", report, re.M)
    assert str(calls + 1) in [cell.strip() for cell in row.split("|")]


def test_there_are_no_two_edits_with_one_sentence() -> None:
    names, sentences = [t.name for t in edits_models.EDITS], [(t.check, t.says) for t in edits_models.EDITS]
    assert len(set(names)) == len(names) == len(set(sentences))


@pytest.mark.parametrize(
    "tampering",
    [pytest.param(t, id=t.name, marks=[pytest.mark.long] if t.settled else []) for t in edits_models.EDITS],
)
def test_an_edit_is_refused(tampering: Tampering, noted: Fold, tmp_path: Path) -> None:
    edit = Edit(noted)
    tampering.change(edit)
    assert edit.members != noted.members
    if tampering.settled:
        edit.compute(tmp_path / "settled")
    found = refused(edit.resigned(tmp_path / "resigned.dbf"))
    assert tampering.says in found.get(tampering.check, ""), found
    assert str(tmp_path) not in str(found)
    if tampering.settled:
        assert not found.keys() & {"statistics", "report", "page", "objects", "public part"}, found


# -- what replay and audit say of a run that was changed ---------------------------------------------------------------


@pytest.fixture
def bench(noted: Fold, tmp_path: Path) -> Bench:
    return Bench(noted.run, tmp_path / "copy")


@pytest.mark.long
def test_the_tree_of_a_further_turn_is_the_one_that_its_session_left(bench: Bench, box: Sandbox) -> None:
    other = bench.put_tree(bench.session(FILES, 1).tree_in, {"x.txt": "x"})
    bench.edit_session(FILES, 1, "debrief", tree_in=other)
    done = again(bench.out, box, FILES)
    assert [(d.reader, d.field, d.recorded) for d in done.differences] == [
        ("debrief", "S1 further turn's tree", other)]  # fmt: skip


def test_a_token_of_another_draw_in_an_exchange_or_in_notes(bench: Bench) -> None:
    """The fact is that of a second seed, which this run has not: planted as if it had."""
    token = "bm-0123456789ab"
    facts = json.loads((bench.out / "facts.json").read_text())
    own = facts["draws"][0]
    facts["draws"].append({**own, "seed": 2, "facts": {**own["facts"], "mark": token, "old_mark": "bm-ba9876543210"}})
    (bench.out / "facts.json").write_text(json.dumps(facts))
    said = json.dumps({"request": "{}", "response": f"see {token} in /oracles/c1/label/oracle.py"}).encode() + b"\n"
    use = bench.session(B5, 3, "-").model
    assert use is not None
    exchange = bench.folder.put_packed(said)
    bench.edit_session(B5, 3, "-", model=use.model_copy(update={"exchange": exchange}).model_dump(mode="json"))
    notes = bench.session(FILES, 3, "-").memory_out
    assert notes
    bench.edit_session(FILES, 3, "-", memory_out=bench.put_tree(notes, {"hidden_tests.md": token}))
    found = bench.audit()
    assert told(found) == {("other keys", "breach"), ("oracle paths", "note")}
    assert sorted(messages(found)) == [
        "a file of the notes is called hidden_tests.md",
        "the exchange of S3 holds the token mark of c1_label seed 2",
        "the exchange with the model names /oracles/c1/label/oracle.py",
        "the notes of S3 holds the token mark of c1_label seed 2",
    ]


def test_what_looks_like_a_key_is_listed_by_its_beginning(bench: Bench) -> None:
    key = "sk-" + "a1B2" * 10
    use = bench.session(B5, 3, "-").model
    assert use is not None
    exchange = bench.folder.put_packed(json.dumps({"request": key, "response": ""}).encode() + b"\n")
    bench.edit_session(B5, 3, "-", model=use.model_copy(update={"exchange": exchange}).model_dump(mode="json"))
    bench.say(B0, 3, "-", f"export KEY={key}; risk-{key}")
    found = bench.audit()
    assert [(f.rule, f.level, f.where, f.message) for f in found.findings] == [
        ("key strings", "note", f"{B0} S3", "the transcript holds sk-a1B2a…"),
        ("key strings", "note", f"{B5} S3", "the exchange holds sk-a1B2a…"),
    ]


def test_notes_from_nowhere(bench: Bench) -> None:
    """A mark in the notes that were found, which the session before had not left; it is told too early, too."""
    mark = bench.token("mark")
    empty = bench.session(FILES, 1).memory_in
    assert empty
    bench.edit_session(FILES, 1, "", memory_in=bench.put_tree(empty, {"notes.md": mark}))
    found = bench.audit()
    assert told(found) == {("inputs", "breach"), ("told in time", "breach")}
    assert set(messages(found)) == {
        "the notes that it found are not nothing",
        "the notes hold token mark, which nothing had told by then",
    }


def test_a_further_turn_with_another_prompt(bench: Bench) -> None:
    bench.edit_session(FILES, 2, "debrief", prompt=bench.folder.put_blob(b"Remember this."))
    found = bench.audit()
    assert ("inputs", "breach") in told(found)
    assert "the prompt is not what was said after the session" in messages(found)


# -- a memory that is asked by a tool, and one that asks a model -------------------------------------------------------


@pytest.mark.long
def test_a_run_that_pulls(pulled: Fold, box: Sandbox) -> None:
    honest(pulled)
    with opened(pulled.revealed) as source:
        done = replay(source.run, box, 2)
        assert (done.differences, done.scored) == ((), 2)
        rebuilt = list(rebuild(source.run, box, source.run.records))
        assert [(r.same, r.why) for r in rebuilt] == [(None, "the agent asked for it")] * 2


@pytest.mark.long
def test_a_view_that_no_search_gave_is_refused(pulled: Fold, tmp_path: Path) -> None:
    edit = Edit(pulled)
    rows = edit.lines(layout.SEALED_SESSIONS)
    record = next(r["record"] for r in rows if r["arm"] == B5 and r["record"]["number"] == 3)
    view = json.loads(edit.pack(layout.BLOB_PACK)[bytes.fromhex(record["view"])])
    view["items"][0]["text"] = "x" * len(view["items"][0]["text"])
    new = edit.add(layout.BLOB_PACK, json.dumps(view, ensure_ascii=False).encode())
    edit.session(B5, 3, lambda each: each.update(view=new), layout.SEALED_SESSIONS)
    edit.project()
    found = refused(edit.resigned(tmp_path / "x.dbf"))
    assert "S3: 1 items of its view stand in no answer that the agent was given" in found["exchanges"]


@pytest.mark.long
def test_a_view_of_an_agent_that_asked_nothing_is_refused(pulled: Fold, tmp_path: Path) -> None:
    edit = Edit(pulled)
    edit.session(B5, 3, lambda record: record["model"].update(pulled=0))
    found = refused(edit.resigned(tmp_path / "x.dbf"))
    assert "bytes of memory are told and nothing was asked" in found["channel"]
    assert "0 searches are told, its exchange has 1" in found["exchanges"]


@pytest.mark.long
def test_a_memory_that_asks_a_model(judged: Fold, box: Sandbox) -> None:
    honest(judged)
    with opened(judged.revealed) as source:
        (record,) = source.run.records
        assert record.asked is not None
        assert len(source.run.folder.get_blob(record.asked.exchange).splitlines()) == record.asked.calls == 2
        assert replay(source.run, box, 2).differences == ()
        (rebuilt,) = rebuild(source.run, box, source.run.records)
        assert (rebuilt.same, rebuilt.why) == (True, "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "check", "says_"),
    [
        (lambda record: record.pop("asked"), "model use", "its memory asks a model, and nothing is told"),
        (lambda record: record["asked"].update(usd="9"), "prices", f"{JUDGED} (its memory): 9 USD are told"),
        (lambda record: record["asked"]["tokens"][0].update(output=1), "exchanges", "(its memory): tokens of"),
        (lambda record: record["asked"].update(exchange="0" * 64), "objects", "is named by a record and is not there"),
    ],
    ids=["removed", "usd", "tokens", "exchange"],
)
def test_what_a_memory_asked_cannot_be_told_otherwise(
    change: object, check: str, says_: str, judged: Fold, tmp_path: Path
) -> None:
    edit = Edit(judged)
    edit.arm(JUDGED, change, layout.SEALED_ARMS)  # type: ignore[arg-type]
    edit.project()
    found = refused(edit.resigned(tmp_path / "x.dbf"))
    assert says_ in found.get(check, ""), found


@pytest.mark.long
def test_an_amount_by_another_price_table_is_not_checked_and_never_right(judged: Fold, tmp_path: Path) -> None:
    edit = Edit(judged)
    edit.arm(JUDGED, lambda record: record["asked"].update(prices="mine-1"), layout.SEALED_ARMS)
    edit.project()
    edit.compute(tmp_path / "settled")
    found = verify(edit.resigned(tmp_path / "x.dbf"))
    (check,) = (check for check in found.checks if check.name == "prices")
    assert (check.state, check.says) == (
        "not checked", ("1 of 1 amounts are by another price table than the one that is here",))  # fmt: skip
    assert says(found) == {}
