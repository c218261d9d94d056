"""`verify` and `unpack` on the command line: what they print, whom they trust, and with which code they exit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.bundle import layout
from harness.bundle.opened import open_run
from harness.bundle.signing import new_key
from harness.cli.main import cli
from harness.outcome import UsageFault
from harness.reporting import report
from harness.verification.verify import LUCK

from . import edits_records
from .bundle_kit import ATTACKER, Edit, Fold


def dreambench(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(w) for w in words], standalone_mode=False)


@pytest.fixture
def public(fold: Fold) -> Path:
    return fold.signing.with_name("signing.pem.pub")


@pytest.fixture
def tampered(fold: Fold, tmp_path: Path) -> Path:
    edit = Edit(fold)
    edits_records.flip(edit)
    return edit.resigned(tmp_path / "tampered.dbf")


def test_a_trusted_signer_verifies(fold: Fold, public: Path) -> None:
    done = dreambench("verify", fold.revealed, "--key", public)
    assert done.return_value == 0
    lines = done.output.strip().splitlines()
    assert lines[-1] == "verified"
    assert f"ok  signature: holds, of the trusted signer (fingerprint {fold.signer.fingerprint})" in lines
    assert not [line for line in lines if line.startswith("NO ")]
    assert "--  verdicts: are not scored again here (dreambench replay does that)" in lines
    assert f"--  luck: {LUCK}" in lines


def test_an_unknown_signer_is_integrity_only_and_no_success_by_itself(fold: Fold) -> None:
    done = dreambench("verify", fold.revealed)
    assert done.return_value == 3
    assert "integrity only, unknown signer (remedy: --key PUBLIC.pem" in done.output
    assert LUCK in done.output
    accepted = dreambench("verify", fold.revealed, "--any-signer")
    assert accepted.return_value == 0
    assert accepted.output.strip().splitlines()[-1] == "integrity only, unknown signer"


def test_another_signer_is_refused_even_where_any_is_accepted(fold: Fold, tmp_path: Path) -> None:
    new_key(tmp_path / "other.pem")
    done = dreambench("verify", fold.revealed, "--key", tmp_path / "other.pem.pub", "--any-signer")
    assert done.return_value == 3
    assert "NO  signature: is of another signer than the trusted one" in done.output
    assert done.output.strip().splitlines()[-1] == "does not verify: signature"


def test_what_does_not_hold_is_named_and_exits_3(tampered: Path) -> None:
    done = dreambench("verify", tampered, "--any-signer")
    assert done.return_value == 3
    assert "NO  records: c1_label/B0/1/given [careful]: pass does not follow from its checks (failed)" in done.output
    assert done.output.strip().splitlines()[-1].startswith("does not verify: records, ")
    told = json.loads(dreambench("verify", tampered, "--any-signer", "--json").output)
    assert (told["holds"], told["trusted"], told["signer"]) == (False, None, ATTACKER.public.fingerprint)
    assert {c["name"] for c in told["checks"] if c["state"] == "broken"} >= {"records", "statistics", "report"}
    assert [n["name"] for n in told["never"]] == ["verdicts", "luck"]


def test_the_sealed_form_says_what_was_not_looked_at(fold: Fold, public: Path) -> None:
    done = dreambench("verify", fold.sealed, "--key", public)
    assert done.return_value == 0
    unseen = [line for line in done.output.splitlines() if "the bundle is sealed and its key is not here" in line]
    wanted = ["public part", "objects", "views", "notes", "exchanges", "page"]
    assert [line.split(":")[0] for line in unseen] == [f"--  {name}" for name in wanted]
    whole = dreambench("verify", fold.sealed, "--key", public, "--unseal", fold.run / "seal.key")
    assert whole.return_value == 0
    assert "is sealed" not in whole.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["none.dbf"], "none.dbf: No such file"),
        (["BUNDLE", "--key", "none.pem"], "none.pem: No such file"),
        (["BUNDLE", "--unseal", "none.key"], "none.key: No such file"),
    ],
)
def test_what_cannot_be_used_is_a_fault_of_use(words: list[str], told: str, fold: Fold) -> None:
    done = dreambench("verify", *(str(fold.revealed) if w == "BUNDLE" else w for w in words))
    assert isinstance(done.exception, UsageFault)
    assert told in str(done.exception)
    assert done.exception.exit_code == 1


def test_a_file_that_is_no_bundle_does_not_verify(tmp_path: Path) -> None:
    (tmp_path / "x.dbf").write_bytes(b"\x1b[31mhello" * 1000)
    done = dreambench("verify", tmp_path / "x.dbf", "--any-signer")
    assert done.return_value == 3
    assert "NO  container: byte 0: no header of a bundle" in done.output
    assert "\x1b" not in done.output


# -- unpack --------------------------------------------------------------------------------------------------------


def test_what_is_unpacked_is_the_run(fold: Fold, tmp_path: Path) -> None:
    out = tmp_path / "new"
    assert dreambench("unpack", fold.revealed, "--out", out).return_value == 0
    one, two = open_run(fold.run), open_run(out / "run", strange=True)
    assert [r.arm for r in two.records] == [r.arm for r in one.records]
    assert [two.sessions(r) for r in two.records] == [one.sessions(r) for r in one.records]
    assert two.draws == one.draws
    assert report(two.folder, two.records).markdown == fold.members[layout.REPORT].decode()
    again = dreambench("unpack", fold.revealed, "--out", out)
    assert "is there already" in str(again.exception)


def test_without_the_key_nothing_is_unpacked(fold: Fold, tmp_path: Path) -> None:
    done = dreambench("unpack", fold.sealed, "--out", tmp_path / "new")
    assert isinstance(done.exception, UsageFault)
    assert "is sealed (remedy: --unseal KEYFILE)" in str(done.exception)
    assert (
        dreambench("unpack", fold.sealed, "-o", tmp_path / "two", "--unseal", fold.run / "seal.key").return_value == 0
    )


# -- a fault that stands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["audit", "unpack", "replay"])
def test_a_signature_that_does_not_hold_is_told_by_who_reads_on(command: str, fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    edit.members[layout.REPORT] += b"edited\n"
    forged = edit.forged(tmp_path / "forged.dbf", edit.resigned(tmp_path / "resigned.dbf"))
    words = ["--out", str(tmp_path / "out")] if command == "unpack" else []
    done = dreambench(command, forged, *words)
    assert isinstance(done.exception, UsageFault)
    assert done.exception.exit_code == 3
    assert "the signature is not one over this manifest" in str(done.exception)
