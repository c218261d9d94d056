"""The audit's rules about outcomes, each planted alone, and what it says of a run that cannot be read whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.auditing.audit import audit_text
from harness.auditing.audit_rules import RULES
from harness.stores import keep_store

from .audit_kit import ALL, B0, B5, B5_TWO, GIT, Bench, messages, play, told


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, box: Sandbox, mini: Mapping[str, str]) -> Path:
    return play(tmp_path_factory.mktemp("audit") / "run", box, mini)


@pytest.fixture
def bench(run: Path, tmp_path: Path) -> Bench:
    return Bench(run, tmp_path / "copy")


# -- what came out -----------------------------------------------------------------------------------------------


def test_a_pass_of_b0_where_a_token_is_due(bench: Bench) -> None:
    bench.drop_seed(2)
    bench.edit_ending(B0, "careful", outcome="pass", cause="")
    found = bench.audit()
    assert told(found) == {("evidence", "breach")}
    assert messages(found) == ["pass with nothing of the evidence in view; not there: mark"]
    assert [(p.condition, p.passes, p.none) for p in found.proofs] == [("B0", 1, 1), ("B5", 1, 0), ("ALL", 1, 0)]


def test_a_pass_without_the_evidence_is_listed(bench: Bench) -> None:
    bench.drop_seed(2)
    bench.show(B5, 3, "careful", [])
    found = bench.audit()
    assert told(found) == {("evidence", "note"), ("source", "breach")}  # and its token came from nowhere
    assert [(p.condition, p.none) for p in found.proofs] == [("B5", 1), ("ALL", 0)]


def test_a_pass_without_a_session(bench: Bench) -> None:
    bench.edit_session(B5, 3, "careful", reader="credulous")
    assert messages(bench.audit()) == ["a pass without a session of it"]


def test_a_token_from_no_input(bench: Bench) -> None:
    bench.say(B5, 1, "", f"I remember {bench.token('mark')} from somewhere.")
    found = bench.audit()
    assert told(found) == {("source", "breach")}
    assert messages(found) == ["token mark came from no input of the session"]


def test_a_token_of_another_seed_in_a_transcript(bench: Bench) -> None:
    bench.say(B5, 3, "careful", f"I remember {bench.token('mark', 2)}.")
    found = bench.audit()
    assert told(found) == {("other keys", "breach")}
    assert messages(found) == ["the transcript of S3 holds the token mark of c1_label seed 2"]


def test_a_token_of_another_seed_in_a_store(bench: Bench) -> None:
    data = b"SQLite format 3\0" + bytes(70_000) + bench.token("old_mark", 2).encode() + bytes(9)
    bench.edit_arm(B5, store=keep_store(bench.folder, {"notes.sqlite": data}))
    found = bench.audit()
    assert messages(found) == ["the store holds the token old_mark of c1_label seed 2"]


def test_a_change_of_another_seed(bench: Bench) -> None:
    bench.edit_session(B5, 3, "careful", tree_out=bench.session(B5_TWO, 3, "careful").tree_out)
    found = bench.audit()
    assert "the change of S3 holds the token mark of c1_label seed 2" in messages(found)
    assert told(found) == {("other keys", "breach"), ("same change", "breach"), ("used", "breach")}


def test_one_change_that_passes_for_two_seeds(bench: Bench) -> None:
    plain = bench.session(B0, 3, "careful").tree_out
    for arm in (B5, B5_TWO):
        bench.edit_session(arm, 3, "careful", tree_out=plain)
        bench.edit_ending(arm, "careful", used=[])
    found = bench.audit()
    assert told(found) == {("same change", "breach")}
    assert messages(found) == ["the same S3 change for seeds 1, 2, and it passes"]


def test_used_and_the_change_disagree(bench: Bench) -> None:
    bench.edit_ending(B5, "careful", used=[])
    bench.edit_ending(B0, "careful", used=["old_mark"])
    found = bench.audit()
    assert told(found) == {("used", "breach")}
    assert messages(found) == [
        "used says old_mark, the change does not hold it",
        "the change holds mark, used does not say so",
    ]


# -- what cannot be looked at ------------------------------------------------------------------------------------


def test_what_cannot_be_read_is_said(bench: Bench) -> None:
    session = bench.session(B5, 3, "careful")
    blobs = bench.out / "blobs"
    (blobs / session.transcript[:2] / session.transcript).write_bytes(b"other bytes")
    (blobs / session.view[:2] / session.view).unlink()
    bench.edit_arm(B5, store=keep_store(bench.folder, {"x": b"y"}))
    for chunk in blobs.glob("*/*.z"):
        chunk.write_bytes(b"no deflate stream")
    bench.edit_session(ALL, 3, "careful", tree_out="1" * 40)
    found = bench.audit()
    assert {(what, why.partition(":")[0]) for what, why, _ in found.unseen} == {
        ("a prompt", "its view cannot be read, and with it not compared"),
        ("a store", "incorrect header check"),
        ("a transcript", "damaged (its bytes do not match its name)"),
        ("a tree or a file of one", "missing"),
        ("a view", "No such file or directory"),
        GIT,
    }
    assert str(bench.out) not in audit_text(found)


@pytest.mark.parametrize("name", ["/dev/zero", "../facts.json", "../../../../../../etc/passwd", "a" * 63])
def test_a_blob_name_that_leads_elsewhere_is_not_followed(bench: Bench, name: str) -> None:
    bench.edit_session(B5, 1, "", transcript=name, tree_out="HEAD")
    bench.edit_arm(B5, store=name)
    found = bench.audit()
    assert ("a transcript", "not the name of a blob", 1) in found.unseen
    assert ("a store", "not the name of a blob", 1) in found.unseen
    assert ("a tree or a file of one", "not the id of a tree", 1) in found.unseen


def test_a_store_that_repeats_one_chunk_is_not_put_together(bench: Bench) -> None:
    chunk = bench.folder.put_packed(bytes(65_536))
    bomb = {"x": {"size": 65_536 * 100_000, "chunks": [chunk] * 100_000}}
    bench.edit_arm(B5, store=bench.folder.put_blob(json.dumps(bomb).encode()))
    assert ("a store", "it is too large", 1) in bench.audit().unseen


def test_an_earlier_attempt_is_counted(bench: Bench) -> None:
    bench.repeat(B5, 2, "", attempt=0)
    found = bench.audit()
    assert found.findings == ()
    assert found.unseen == (("an earlier attempt", f"attempt 0 of {B5} is not the one that counts", 1), (*GIT, 18))


def test_without_the_facts(bench: Bench) -> None:
    bench.folder.facts.unlink()
    bench.edit_session(B0, 3, "careful", memory_bytes=7)
    found = bench.audit()
    assert [rule.name for rule in found.asked] == ["network", "no memory in B0"]
    assert len(found.left) == len(RULES) - 2
    assert messages(found) == ["B0 was given 7 bytes of memory"]
    assert "not asked" in audit_text(found)
    assert found.as_data()["not_asked"] == [rule.name for rule in found.left]
