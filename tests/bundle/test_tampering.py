"""Edits of a bundle by somebody who has everything but the signing key: each is refused with its own sentence."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.bundle import layout
from harness.bundle.manifest import Told, merkle
from harness.bundle.packs import deflate
from harness.verification.verify import verify

from . import edits_objects, edits_plan, edits_records
from .bundle_kit import Edit, Fold, raw_members, refused, resealed, says
from .edits_records import Tampering

ALL_OF_THEM = (*edits_records.EDITS, *edits_plan.EDITS, *edits_objects.EDITS)


def test_there_are_enough_and_no_two_are_told_by_the_same_sentence() -> None:
    assert len(ALL_OF_THEM) >= 45
    names, sentences = [t.name for t in ALL_OF_THEM], [(t.check, t.says) for t in ALL_OF_THEM]
    assert len(set(names)) == len(names)
    doubled = {s for s in sentences if sentences.count(s) > 1}
    assert not doubled


@pytest.mark.parametrize("tampering", ALL_OF_THEM, ids=lambda t: t.name)
def test_an_edit_is_refused(tampering: Tampering, fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    tampering.change(edit)
    assert edit.members != fold.members
    if tampering.settled:
        edit.compute(tmp_path / "settled")
    resigned = edit.resigned(tmp_path / "resigned.dbf")
    found = refused(resigned)
    assert tampering.says in found.get(tampering.check, ""), found
    assert str(tmp_path) not in str(found)
    assert "/tmp" not in str(found)
    if tampering.settled:
        assert not found.keys() & {"statistics", "report", "page"}, found
    if tampering.check == "container":
        return  # nothing was read, so nobody is said to have signed
    assert "is of another signer than the trusted one" in refused(resigned, fold.signer)["signature"]
    forged = refused(edit.forged(tmp_path / "forged.dbf", resigned))
    assert forged == {"signature": "the signature is not one over this manifest"}


def test_what_was_not_edited_verifies(fold: Fold) -> None:
    for bundle in (fold.revealed, fold.sealed):
        found = verify(bundle, fold.signer)
        assert says(found) == {}
        assert found.holds(any_signer=False)
    assert not verify(fold.revealed).holds(any_signer=False)


@given(st.data())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bit_of_the_file_that_is_flipped_is_refused(fold: Fold, tmp_path: Path, data: st.DataObject) -> None:
    """Of either form, anywhere: in a header, a member, the manifest, the signature, the padding."""
    bundle = data.draw(st.sampled_from([fold.revealed, fold.sealed]))
    whole = bytearray(bundle.read_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    (tmp_path / "x.dbf").write_bytes(whole)
    assert len(refused(tmp_path / "x.dbf")) == 1


@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_bundle_that_is_cut_anywhere_is_refused(fold: Fold, tmp_path: Path, data: st.DataObject) -> None:
    whole = fold.revealed.read_bytes()
    (tmp_path / "x.dbf").write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert refused(tmp_path / "x.dbf").keys() == {"container"}


def test_a_bundle_that_goes_on_or_holds_two_is_refused(fold: Fold, tmp_path: Path) -> None:
    whole = fold.revealed.read_bytes()
    for more in (b"\0", b"x" * 512, bytes(512), whole):
        (tmp_path / "x.dbf").write_bytes(whole + more)
        assert f"{len(more)} bytes stand behind the end" in refused(tmp_path / "x.dbf")["container"]


def test_members_of_another_run_do_not_fit(fold: Fold, tmp_path: Path) -> None:
    """A sealed member of another seal, under a manifest that is signed."""
    edit = Edit(fold)
    other = replace(edit.seal, key=b"k" * 32)
    stored = raw_members(fold.revealed)
    data = other.close(layout.FACTS, deflate(edit.members[layout.FACTS]))

    def change(told: dict[str, list[dict[str, object]]]) -> None:
        for row in told["members"]:
            if row["name"] == layout.FACTS:
                row.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
        told["root"] = merkle([Told.model_validate(m) for m in told["members"]])  # type: ignore[assignment]

    found = refused(resealed(tmp_path / "x.dbf", {**stored, layout.FACTS: data}, change))
    assert "sealed/facts.json: does not open with this key" in found["contents"]
