"""`docs/bundle.md` suffices to write a reader: this one is made from the page and uses nothing of ours.

It reads the example bundle and has to find the same members, root, signer, key and texts as the program does.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import tarfile
import zlib
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from harness.bundle.reader import Bundle
from harness.config import ROOT

EXAMPLE = ROOT / "examples" / "parcels.dbf"
PAGE = (ROOT / "docs" / "bundle.md").read_text("utf-8")


@pytest.fixture(scope="module")
def members() -> dict[str, bytes]:
    """As any tar program lists them."""
    with tarfile.open(EXAMPLE) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers()}  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def manifest(members: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(members["manifest.json"])
    return found


@pytest.fixture(scope="module")
def key(members: dict[str, bytes]) -> bytes:
    return bytes.fromhex(members["seal.key"].decode().strip())


def sub(key: bytes, use: str) -> bytes:
    return hmac.digest(key, b"dreambench seal 1 " + use.encode(), "sha256")


def plain(members: dict[str, bytes], manifest: dict[str, Any], key: bytes, name: str) -> bytes:
    """Unsealed and unpacked, as the manifest says."""
    told = next(m for m in manifest["members"] if m["name"] == name)
    data = members[name]
    if told["sealed"]:
        packed = AESGCM(sub(key, "encrypt")).decrypt(data[:12], data[12:], name.encode())
        again = hmac.digest(sub(key, "nonce"), name.encode() + b"\0" + hashlib.sha256(packed).digest(), "sha256")
        assert data[:12] == again[:12]
        data = packed
    data = zlib.decompress(data) if told["packed"] else data
    assert len(data) == told["plain"]
    return data


def entries(pack: bytes) -> dict[str, bytes]:
    found, at = {}, 0
    while at < len(pack):
        size = int.from_bytes(pack[at + 32 : at + 40], "big")
        found[pack[at : at + 32].hex()] = pack[at + 40 : at + 40 + size]
        at += 40 + size
    return found


def test_headers_are_as_the_page_says_byte_for_byte(members: dict[str, bytes]) -> None:
    raw, at, names = EXAMPLE.read_bytes(), 0, []
    for name, data in members.items():
        head = bytearray(512)
        for place, text in ((0, name), (100, "0000644"), (108, "0000000"), (116, "0000000"), (124, f"{len(data):011o}"),
                            (136, "00000000000"), (148, "        "), (156, "0"), (257, "ustar\0" + "00")):  # fmt: skip
            head[place : place + len(text)] = text.encode()
        head[148:156] = f"{sum(head):06o}\0 ".encode()
        size = len(data) + -len(data) % 512
        assert raw[at : at + 512 + size] == bytes(head) + data + bytes(-len(data) % 512)
        at += 512 + size
        names.append(name)
    assert raw[at:] == bytes(1024)
    assert names[:2] == ["manifest.json", "signature.json"]
    assert names[2:] == sorted(names[2:])


def test_digests_root_and_signature_are_computed_as_the_page_says(
    members: dict[str, bytes], manifest: dict[str, Any]
) -> None:
    level = []
    for told in manifest["members"]:
        assert (told["size"], told["sha256"]) == (
            len(members[told["name"]]),
            hashlib.sha256(members[told["name"]]).hexdigest(),
        )
        row = {name: told[name] for name in ("name", "size", "sha256", "plain", "sealed", "packed")}
        level.append(hashlib.sha256(b"\0" + json.dumps(row, separators=(",", ":")).encode()).digest())
    while len(level) > 1:
        odd = level[len(level) // 2 * 2 :]
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [*(hashlib.sha256(b"\1" + left + right).digest() for left, right in pairs), *odd]
    signature = json.loads(members["signature.json"])
    statement = f"dreambench fold 1\n{hashlib.sha256(members['manifest.json']).hexdigest()}\n"
    signer = bytes.fromhex(signature["signer"])
    Ed25519PublicKey.from_public_bytes(signer).verify(bytes.fromhex(signature["signature"]), statement.encode())
    with Bundle.open(EXAMPLE) as ours:
        assert level[0].hex() == manifest["root"] == ours.manifest.root
        assert hashlib.sha256(signer).hexdigest() == ours.signer.fingerprint


def test_every_member_opens_as_the_page_says(members: dict[str, bytes], manifest: dict[str, Any], key: bytes) -> None:
    assert sub(key, "check").hex() == manifest["seal"]
    with Bundle.open(EXAMPLE) as ours:
        assert [m["name"] for m in manifest["members"]] == list(ours.names)
        for name in ours.names:
            assert plain(members, manifest, key, name) == ours.get(name)


def test_packs_trees_and_pseudonyms_are_as_the_page_says(
    members: dict[str, bytes], manifest: dict[str, Any], key: bytes
) -> None:
    files = entries(plain(members, manifest, key, "sealed/files-00000"))
    assert list(files) == sorted(files)
    assert all(hashlib.sha256(data).hexdigest() == digest for digest, data in files.items())
    chunks = entries(plain(members, manifest, key, "sealed/chunks-00000"))
    assert all(hashlib.sha256(zlib.decompress(data)).hexdigest() == digest for digest, data in chunks.items())
    trees = [json.loads(line) for line in plain(members, manifest, key, "sealed/trees.jsonl").splitlines()]
    assert {digest for tree in trees for _, _, digest in tree["files"]} == files.keys()
    texts = entries(plain(members, manifest, key, "sealed/blobs-00000"))
    whole, shown = ([json.loads(line)["record"] for line in plain(members, manifest, key, f"{part}/sessions.jsonl")
                     .splitlines()] for part in ("sealed", "public"))  # fmt: skip
    assert {record["view"] for record in whole} <= texts.keys()
    for record, seen in zip(whole, shown, strict=True):
        for name in ("tree_in", "tree_out", "prompt", "view", "transcript"):
            alias = hmac.digest(sub(key, "pseudonym"), record[name].encode(), "sha256").hex()[:40]
            assert seen[name] == (alias if record[name] else "")


def test_the_page_names_every_member_of_the_example(members: dict[str, bytes]) -> None:
    patterns = [re.escape(name).replace("NNNNN", r"\d{5}") for name in re.findall(r"`([a-z./-]+(?:NNNNN)?)`", PAGE)]
    assert [name for name in members if not any(re.fullmatch(pattern, name) for pattern in patterns)] == []
