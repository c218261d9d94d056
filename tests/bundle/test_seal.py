"""Sealing, packs and the manifest: what opens is what was closed, and one text has one form."""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.bundle.container import BundleError
from harness.bundle.layout import AMENDMENTS, FILE_PACK, NEEDED, PLAN, coding, numbered, strange
from harness.bundle.manifest import Manifest, Told, canonical, make, merkle, read_manifest, read_signature
from harness.bundle.packs import MOST, PACK, deflate, inflate, pack, unpack
from harness.bundle.seal import KEY_BYTES, NONCE_BYTES, Seal, load_seal, run_seal
from harness.bundle.thaw import bounded
from harness.outcome import UsageFault

from .bundle_kit import ATTACKER

KEYS = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)
NAMES = st.sampled_from(["sealed/facts.json", "sealed/blobs-00000", "sealed/trees.jsonl"])
BODIES = st.binary(max_size=300)


@given(KEYS, NAMES, BODIES)
def test_what_was_closed_opens_and_twice_the_same_is_the_same_bytes(key: bytes, name: str, data: bytes) -> None:
    sealed = Seal(key).close(name, data)
    assert Seal(key).open(name, sealed) == data
    assert Seal(key).close(name, data) == sealed
    assert len(sealed) == NONCE_BYTES + len(data) + 16


@given(KEYS, KEYS, NAMES, NAMES, BODIES)
def test_another_name_or_key_does_not_open(key: bytes, other: bytes, name: str, place: str, data: bytes) -> None:
    sealed = Seal(key).close(name, data)
    assume(key != other)
    with pytest.raises(BundleError, match="does not open with this key"):
        Seal(other).open(name, sealed)
    assert Seal(key).check != Seal(other).check
    assert Seal(key).pseudonym("x") != Seal(other).pseudonym("x")
    if place != name:
        with pytest.raises(BundleError, match="does not open with this key"):
            Seal(key).open(place, sealed)


@given(KEYS, NAMES, BODIES, st.data())
def test_a_flipped_bit_or_a_cut_does_not_open(key: bytes, name: str, data: bytes, draw: st.DataObject) -> None:
    sealed = bytearray(Seal(key).close(name, data))
    sealed[draw.draw(st.integers(0, len(sealed) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    for edited in (bytes(sealed), bytes(sealed[:-1]), b"", bytes(sealed[:NONCE_BYTES])):
        with pytest.raises(BundleError, match="does not open"):
            Seal(key).open(name, edited)


@given(KEYS, st.lists(st.tuples(NAMES, BODIES), max_size=20, unique=True))
def test_no_two_contents_share_a_nonce(key: bytes, members: list[tuple[str, bytes]]) -> None:
    nonces = [Seal(key).close(name, data)[:NONCE_BYTES] for name, data in members]
    assert len(set(nonces)) == len(members)


def test_neither_the_key_nor_a_digest_of_the_text_is_told() -> None:
    seal, data = Seal(b"k" * 32), b"one of four words"
    sealed = seal.close("sealed/facts.json", data)
    assert seal.key.hex() not in repr(seal)
    assert seal.key not in sealed
    assert hashlib.sha256(data).digest() not in sealed
    assert seal.pseudonym("") == ""
    assert seal.pseudonym("a" * 64) != hashlib.sha256(b"a" * 64).hexdigest()[:40]


def test_the_key_of_a_run_is_drawn_once_and_is_nobodys_to_read(tmp_path: Path) -> None:
    one = run_seal(tmp_path)
    assert run_seal(tmp_path) == one
    assert (tmp_path / "seal.key").stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other"
    other.mkdir()
    assert run_seal(other) != one
    for text in ("", "xyz", "00" * 31, "00" * 33):
        (other / "seal.key").write_text(text)
        with pytest.raises(UsageFault, match="64 hex digits"):
            load_seal(other / "seal.key")
    with pytest.raises(UsageFault, match="No such file"):
        load_seal(tmp_path / "none")


# -- packs ---------------------------------------------------------------------------------------------------------


def sorted_entries(bodies: list[bytes]) -> list[tuple[bytes, bytes]]:
    return sorted({hashlib.sha256(b).digest(): b for b in bodies}.items())


@given(st.lists(BODIES, max_size=10))
def test_packs_come_back(bodies: list[bytes]) -> None:
    entries = sorted_entries(bodies)
    packs = list(pack(entries))
    assert len(packs) == (1 if entries else 0)
    found = [entry for data in packs for entry in unpack("x", data, b"")]
    assert found == [(digest.hex(), body) for digest, body in entries]


@given(st.lists(BODIES, min_size=1, max_size=5), st.data())
def test_any_bit_of_a_pack_that_is_flipped_is_refused(bodies: list[bytes], draw: st.DataObject) -> None:
    data = bytearray(next(pack(sorted_entries(bodies))))
    data[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    with pytest.raises(BundleError):
        list(unpack("x", bytes(data), b""))


def test_a_pack_ends_where_it_is_large_and_order_goes_on_over_packs() -> None:
    entries = sorted_entries([bytes([n]) * (PACK // 2) for n in range(3)])
    packs = list(pack(entries))
    assert len(packs) == 3
    assert [d for data in packs for d, _ in unpack("x", data, b"")] == [d.hex() for d, _ in entries]
    with pytest.raises(BundleError, match="out of order"):
        list(unpack("x", packs[0], entries[1][0]))


@given(BODIES)
def test_only_the_announced_number_of_bytes_is_unpacked(data: bytes) -> None:
    packed = deflate(data)
    assert inflate("x", packed, len(data)) == data
    for size in (len(data) + 1, max(len(data) - 1, 0), -1, MOST + 1):
        if size != len(data):
            with pytest.raises(BundleError):
                inflate("x", packed, size)
    for edited in (packed + b"x", packed[:-1], b""):
        with pytest.raises(BundleError):
            inflate("x", edited, len(data))


def test_a_bomb_is_stopped_after_one_byte_too_many() -> None:
    bomb = zlib.compress(bytes(64 << 20), 9)
    with pytest.raises(BundleError, match="does not unpack to the 1024 bytes that it announces"):
        inflate("x", bomb, 1024)
    with pytest.raises(BundleError, match="at most 536870912 are taken"):
        inflate("x", bomb, 1 << 40)
    with pytest.raises(BundleError, match="larger than 10 bytes"):
        bounded(10)(bomb)
    with pytest.raises(BundleError, match="goes on behind its end"):
        bounded(10)(zlib.compress(b"12345") + b"x")
    with pytest.raises(BundleError, match="cannot be unpacked"):
        bounded(10)(b"no zlib")


# -- the manifest --------------------------------------------------------------------------------------------------

HEX = st.integers(0, 1 << 256).map(lambda n: f"{n:064x}"[-64:])
TOLD = st.builds(
    Told,
    name=st.from_regex(r"[a-z]{1,8}", fullmatch=True),
    size=st.integers(0, 1 << 40),
    sha256=HEX,
    plain=st.integers(0, 1 << 40),
    sealed=st.booleans(),
    packed=st.booleans(),
)


def head(members: list[Told]) -> dict[str, bytes]:
    return make(members, "a" * 64, "1.0", "b" * 64, ATTACKER)


@given(st.lists(TOLD, max_size=6))
@settings(deadline=None)
def test_a_manifest_comes_back_and_is_signed(members: list[Told]) -> None:
    made = head(members)
    found: Manifest = read_manifest(made["manifest.json"])
    signature = read_signature(made["signature.json"])
    assert found.members == tuple(members)
    assert found.root == merkle(members)
    assert signature.key == ATTACKER.public
    assert signature.key.vouches("fold", made["manifest.json"], bytes.fromhex(signature.signature))
    assert not signature.key.vouches("plan", made["manifest.json"], bytes.fromhex(signature.signature))


@given(st.lists(TOLD, min_size=1, max_size=6), st.data())
def test_any_other_text_of_a_manifest_is_refused(members: list[Told], draw: st.DataObject) -> None:
    data = bytearray(head(members)["manifest.json"])
    place = draw.draw(st.integers(0, len(data)))
    data[place:place] = draw.draw(st.sampled_from([b" ", b"\n", b"\t", b"0", b"\0", b","]))
    told = read_back(bytes(data))
    assert told is None or told["dreambench"] != "1.0"  # inside of the one text that may be anything


def read_back(data: bytes) -> dict[str, object] | None:
    try:
        return read_manifest(data).model_dump()
    except BundleError:
        return None


@given(st.lists(TOLD, min_size=2, max_size=6, unique_by=lambda t: t.name))
def test_the_root_depends_on_every_member_and_its_place(members: list[Told]) -> None:
    roots = {merkle(members), merkle(members[::-1]), merkle(members[:-1]), merkle([*members, members[-1]])}
    roots |= {merkle([*members[:-1], members[-1].model_copy(update={"size": members[-1].size + 1})])}
    assert len(roots) == 5


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.lists(st.text(max_size=5), max_size=3), max_size=5))
def test_one_table_has_one_text(data: dict[str, object]) -> None:
    text = canonical(data)
    assert canonical(json.loads(text)) == text
    assert text.isascii()


# -- names ---------------------------------------------------------------------------------------------------------


def test_which_members_there_are() -> None:
    packs = [numbered(FILE_PACK, n) for n in range(3)]
    assert strange([*NEEDED, PLAN, AMENDMENTS, *packs]) == []
    assert strange([*NEEDED, packs[0], packs[2]]) == [packs[2]]
    assert strange(["sealed/files-1", "sealed/files-000000", "notes.md"]) == [
        "sealed/files-1",
        "sealed/files-000000",
        "notes.md",
    ]
    assert all(coding(name).sealed == name.startswith("sealed/") for name in NEEDED)
