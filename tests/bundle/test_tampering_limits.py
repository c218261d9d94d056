"""What a verification says when it cannot see an edit, or when it must not refuse one."""

from __future__ import annotations

from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.bundle import layout
from harness.bundle.access import opened
from harness.bundle.manifest import MANIFEST, SIGNATURE
from harness.replaying.replay import replay
from harness.verification.verify import NEVER, Verified, verify

from . import edits_objects, edits_plan, edits_records
from .bundle_kit import Edit, Fold, raw_members, refused, resealed, says, write_raw
from .edits_records import ALL, B0


def states(found: Verified) -> dict[str, str]:
    return {check.name: check.state for check in found.checks}


def differences(bundle: Path, box: Sandbox) -> set[tuple[str, str]]:
    with opened(bundle) as source:
        return {(d.arm, d.field) for d in replay(source.run, box, 2).differences}


def test_a_verdict_with_its_checks_and_every_number_is_for_replay_to_find(
    fold: Fold, tmp_path: Path, box: Sandbox
) -> None:
    edit = Edit(fold)
    edits_records.flip_with_checks(edit)
    edit.compute(tmp_path)
    bundle = edit.resigned(tmp_path / "x.dbf")
    assert says(verify(bundle)) == {}
    assert dict(NEVER)["verdicts"] == "are not scored again here (dreambench replay does that)"
    found = differences(bundle, box)
    assert {arm for arm, _ in found} == {B0}
    assert (B0, "outcome") in found
    assert differences(fold.revealed, box) == set()


def test_two_deltas_that_are_swapped_with_every_picture_are_for_replay_to_find(
    fold: Fold, tmp_path: Path, box: Sandbox
) -> None:
    edit = Edit(fold)
    edits_objects.swap_deltas(edit)
    edit.compute(tmp_path)
    bundle = edit.resigned(tmp_path / "x.dbf")
    assert says(verify(bundle)) == {}
    assert {B0, ALL} <= {arm for arm, _ in differences(bundle, box)}


def test_the_13th_digit_is_what_machines_may_differ_in(fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    edits_plan.p_value(1.0000000000001)(edit)
    assert edit.members != fold.members
    assert says(verify(edit.resigned(tmp_path / "x.dbf"))) == {}


def test_without_a_frozen_plan_a_setting_that_leaves_no_trace_can_be_told_otherwise_and_that_is_said(
    fold: Fold, tmp_path: Path
) -> None:
    edit = Edit(fold)
    edits_plan.unplanned(edit, edits_plan.setting("limits.wall", 999.0))
    edit.compute(tmp_path)
    found = verify(edit.resigned(tmp_path / "x.dbf"))
    assert states(found)["preregistration"] == "not checked"
    assert says(found) == {}
    assert "another signer" in refused(tmp_path / "x.dbf", fold.signer)["signature"]


def test_an_invalid_cell_and_a_removed_trap_stand_in_the_report(fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    edits_records.endings(
        edit, B0, lambda e: e.update(outcome="invalid", cause="it died", boundary="sandbox", checks=[])
    )
    edit.project()
    edit.change(layout.RUN, lambda run: run["traps_told"][edits_records.TRAP].update(candidate="removed"))
    edit.compute(tmp_path)
    report = edit.members[layout.REPORT].decode()
    assert "2 invalid" in report
    assert "1 removed" in report


def test_a_report_of_another_program_counts_for_nothing_and_says_so(fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    edit.members[layout.REPORT] += b"better\n"
    stored = raw_members(edit.resigned(tmp_path / "x.dbf"))
    found = verify(resealed(tmp_path / "y.dbf", stored, lambda told: told.update(code="0" * 64)))
    assert states(found)["report"] == "not checked"
    assert "do not rely on it" in str([check.says for check in found.checks if check.name == "report"])
    assert states(found)["page"] == "ok"


# -- the sealed form -----------------------------------------------------------------------------------------------


def test_without_the_key_the_public_part_is_held_to_itself(fold: Fold, tmp_path: Path) -> None:
    """Of the sealed form: everything but what a fact could stand in is checked."""
    wanted = {"public part", "objects", "views", "notes", "exchanges", "page"}
    found = verify(fold.sealed, fold.signer)
    assert {name for name, state in states(found).items() if state == "not checked"} == wanted
    told = {check.name: check.says[0] for check in found.checks}
    assert told["public part"] == "the bundle is sealed and its key is not here"
    assert "facts sealed" in told["commitments"]
    edit = Edit(fold)
    del edit.members[layout.KEY]
    edits_records.flip(edit)
    assert "does not follow from its checks" in refused(edit.resigned(tmp_path / "x.dbf"))["records"]


def test_another_public_part_with_the_sealed_one_untouched_needs_the_key_to_be_seen(fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    edit.arm(ALL, lambda record: record.update(seconds=77.0), layout.ARMS)
    edit.compute(tmp_path)
    assert "public part" in refused(edit.resigned(tmp_path / "open.dbf"))
    del edit.members[layout.KEY]
    bundle = edit.resigned(tmp_path / "shut.dbf")
    found = verify(bundle)
    assert says(found) == {}
    assert states(found)["public part"] == "not checked"
    assert f"a record of {ALL} is not the one that is sealed" in says(verify(bundle, None, edit.seal))["public part"]


def test_a_sealed_member_under_the_name_of_another_does_not_open(fold: Fold, tmp_path: Path) -> None:
    stored = raw_members(fold.revealed)
    one, two = layout.SEALED_ARMS, layout.SEALED_SESSIONS

    def change(told: dict[str, list[dict[str, object]]]) -> None:
        rows = {str(m["name"]): m for m in told["members"]}
        for key in ("size", "sha256", "plain"):
            rows[one][key], rows[two][key] = rows[two][key], rows[one][key]
        told["root"] = root(told["members"])  # type: ignore[assignment]

    swapped = {**stored, one: stored[two], two: stored[one]}
    found = refused(resealed(tmp_path / "x.dbf", swapped, change))
    assert "sealed/arms.jsonl: does not open with this key" in found["contents"]


def root(members: list[dict[str, object]]) -> str:
    from harness.bundle.manifest import Told, merkle

    return merkle([Told.model_validate(m) for m in members])


# -- the head ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new", "check", "told"),
    [
        (SIGNATURE, b'"schema":1', b'"schema":2', "container", "signature.json: schema '2' is not known here"),
        (SIGNATURE, b'{"schema"', b'{ "schema"', "container", "signature.json: "),
        (SIGNATURE, b'"signer":"', b'"signer":"00', "container", "signature.json: signer"),
        (MANIFEST, b'"schema":1', b'"schema":2', "container", "manifest.json: schema '2' is not known here"),
        (MANIFEST, b'"members"', b' "members"', "container", "manifest.json: is not in its canonical form"),
        (MANIFEST, b'"format":"dreambench', b'"format":"nightbench', "container", "manifest.json: format"),
        (MANIFEST, b'"size":', b'"prize":1,"size":', "container", "manifest.json: members.0.prize: Extra inputs"),
        (
            MANIFEST,
            b'"packed":false',
            b'"packed":true',
            "container",
            "manifest.json: the root is not that of the members",
        ),
        (MANIFEST, b'"root":"', b'"root":"0', "container", "manifest.json: root"),
        (MANIFEST, b'{"code"', b'{"code":"x","code"', "container", "manifest.json: is not in its canonical form"),
        (MANIFEST, b'"dreambench":"', b'"dreambench":"9', "signature", "the signature is not one over this manifest"),
        (layout.REPORT, b"#", b"%", "digests", "report.md: its digest differs from the manifest's"),
    ],
)  # fmt: skip
def test_one_edit_of_the_file_itself(
    name: str, old: bytes, new: bytes, check: str, told: str, fold: Fold, tmp_path: Path
) -> None:
    stored = raw_members(fold.revealed)
    if old == b'{"schema"':  # the keys of the signature are sorted
        old, new = b'{"', b'{ "'
    assert old in stored[name]
    found = refused(write_raw(tmp_path / "x.dbf", {**stored, name: stored[name].replace(old, new, 1)}))
    assert found.keys() == {check}
    assert told in found[check]


def test_what_a_manifest_may_not_say(fold: Fold, tmp_path: Path) -> None:
    """Each under a signature that holds."""
    stored = raw_members(fold.revealed)

    def with_root(change: object) -> str:
        def whole(told: dict[str, list[dict[str, object]]]) -> None:
            change(told["members"])  # type: ignore[operator]
            told["root"] = root(told["members"])  # type: ignore[assignment]

        out = tmp_path / "x.dbf"
        return str(refused(resealed(out, stored, whole)))

    def of(name: str, **how: object) -> object:
        return lambda rows: [m.update(how) for m in rows if m["name"] == name]

    assert "would unpack to more than 4 GiB" in with_root(of(layout.FACTS, plain=1 << 40))
    assert "at most 536870912 are taken" in with_root(of(layout.FACTS, plain=1 << 31))
    assert "sealed/facts.json: does not unpack to the 10 bytes that it announces" in with_root(
        of(layout.FACTS, plain=10)
    )
    assert "report.md: has " in with_root(of(layout.REPORT, plain=10))
    assert "sealed/facts.json: is said to be stored as no such member is" in with_root(of(layout.FACTS, sealed=False))
    assert "its digest differs" in with_root(of(layout.SEALED_ARMS, size=10))
    assert "members are named twice or out of order" in with_root(lambda rows: rows.reverse())
    assert "members are named twice or out of order" in with_root(lambda rows: rows.append(dict(rows[-1])))
    assert "sources/pack-00000: stands in the file and not in the manifest" in with_root(lambda rows: rows.pop())
    assert "run.json: is missing" in str(
        refused(write_raw(tmp_path / "y.dbf", {n: b for n, b in stored.items() if n != layout.RUN}))
    )
