"""Keys and signatures: who signed what, and that a signature is over one kind of document."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from harness.bundle.signing import (
    AMENDMENT,
    FOLD,
    PLAN,
    PublicKey,
    default_key,
    load_key,
    load_public,
    new_key,
    own_key,
)
from harness.outcome import UsageFault

from .bundle_kit import ATTACKER


@given(st.binary(max_size=100), st.sampled_from([PLAN, FOLD, AMENDMENT]))
def test_a_signature_is_over_one_document_of_one_kind(data: bytes, kind: str) -> None:
    key, signature = ATTACKER.public, ATTACKER.sign(kind, data)
    assert signature == ATTACKER.sign(kind, data)
    assert key.vouches(kind, data, signature)
    for other in {PLAN, FOLD, AMENDMENT} - {kind}:
        assert not key.vouches(other, data, signature)
    assert not key.vouches(kind, data + b"x", signature)
    assert not key.vouches(kind, data, signature[:-1] + bytes([signature[-1] ^ 1]))
    for broken in (b"", signature[:63], signature + b"x", bytes(64)):
        assert not key.vouches(kind, data, broken)


@pytest.mark.parametrize("raw", [bytes(32), b"\xff" * 32, bytes(31) + b"\x80", b"\x01" + bytes(31)])
def test_a_key_that_is_no_point_or_a_weak_one_vouches_for_nothing_of_anybody(raw: bytes) -> None:
    assert not PublicKey(raw).vouches(FOLD, b"x", ATTACKER.sign(FOLD, b"x"))
    assert PublicKey(raw).fingerprint != ATTACKER.public.fingerprint


def test_a_key_is_kept_for_its_owner_and_never_printed_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "key.pem"
    key = new_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.with_name("key.pem.pub").stat().st_mode & 0o777 == 0o644
    assert load_key(path).public == load_public(path) == load_public(path.with_name("key.pem.pub")) == key.public
    assert "PRIVATE" not in repr(key)
    assert key.public.fingerprint[:16] in repr(key)
    with pytest.raises(UsageFault, match="it is not replaced"):
        new_key(path)
    assert b"PRIVATE" not in path.with_name("key.pem.pub").read_bytes()


def test_what_is_no_key_is_told_by_its_file(tmp_path: Path) -> None:
    other = generate_private_key(SECP256R1())
    files = {
        "none.pem": None,
        "text.pem": b"hello",
        "other.pem": other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "other.pub": other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "cut.pem": b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    }
    for name, data in files.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        for load in (load_key, load_public):
            with pytest.raises(UsageFault, match=name):
                load(tmp_path / name)


def test_ones_own_key_is_made_at_first_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert default_key() == tmp_path / "dreambench" / "signing.pem"
    key, made = own_key(None)
    again, second = own_key(None)
    assert (made, second) == (True, False)
    assert key.public == again.public
    with pytest.raises(UsageFault, match=r"nothing\.pem"):
        own_key(tmp_path / "nothing.pem")
