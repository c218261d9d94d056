"""The trees of a bundle: rows of path, mode and digest, read as data and as strictly as what leaves a sandbox.

Invariant: a path is relative, without `.`, `..` or a repository's own folder; a tree's id is the one that git gives to
these rows; nothing is written here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from harness.batches import Listing
from harness.bundle import layout
from harness.bundle.container import BundleError
from harness.bundle.manifest import Digest
from harness.snapshot import LINK, is_git, listing_id
from traps.schema import explain

LONGEST, DEEPEST = 4096, 100  # bytes and parts of a path
Mode = Literal["100644", "100755", "120000"]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    tree: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    files: list[tuple[str, Mode, Digest]]


def read_trees(data: bytes, bodies: Mapping[str, bytes]) -> dict[str, Listing]:
    """tree id -> path -> (mode, sha256 of the body). Raises BundleError naming the tree."""
    blobs = {digest: _blob_id(body) for digest, body in bodies.items()}
    found: dict[str, Listing] = {}
    for number, line in enumerate(data.splitlines(), 1):
        told = _line(number, line)
        listing = dict(_files(told, blobs, bodies))
        if len(listing) != len(told.files) or told.tree in found:
            raise BundleError(f"{layout.TREES}:{number}: a path or a tree is there twice")
        if any(b"/".join(path.split(b"/")[:n]) in listing for path in listing for n in range(1, path.count(b"/") + 1)):
            raise BundleError(f"{layout.TREES}:{number}: a path is a file and a folder")
        if listing_id({path: (mode, blobs[key]) for path, (mode, key) in listing.items()}) != told.tree:
            raise BundleError(f"{layout.TREES}:{number}: tree {told.tree[:16]} has another id than its files make")
        found[told.tree] = listing
    return found


def _line(number: int, line: bytes) -> _Line:
    try:
        raw = json.loads(line)  # paths may hold lone surrogates, which stricter readers refuse
        told = _Line.model_validate(raw)
    except ValidationError as error:
        raise BundleError(f"{layout.TREES}:{number}: {explain(error)[:300]}") from None
    except (ValueError, RecursionError):
        raise BundleError(f"{layout.TREES}:{number}: not JSON") from None
    if json.dumps({"tree": raw["tree"], "files": raw["files"]}, separators=(",", ":")).encode() != line:
        raise BundleError(f"{layout.TREES}:{number}: is not in the form that a bundle has")
    return told


def _files(
    told: _Line, blobs: Mapping[str, str], bodies: Mapping[str, bytes]
) -> Iterator[tuple[bytes, tuple[str, str]]]:
    for name, mode, digest in told.files:
        try:
            path = name.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise BundleError(f"{layout.TREES}: tree {told.tree[:16]}: a path that no file has") from None
        parts = path.split(b"/")
        if len(path) > LONGEST or len(parts) > DEEPEST:
            raise BundleError(f"{layout.TREES}: tree {told.tree[:16]}: a path is too long or too deep")
        if not path or b"\0" in path or any(p in (b"", b".", b"..") or is_git(p) for p in parts):
            raise BundleError(f"{layout.TREES}: tree {told.tree[:16]}: path {name[:60]!r} leads out of a tree")
        if mode == LINK and parts[-1].lower() == b".gitmodules":
            raise BundleError(f"{layout.TREES}: tree {told.tree[:16]}: {name[:60]!r} is a link")
        if digest not in blobs:
            raise BundleError(f"{layout.TREES}: tree {told.tree[:16]}: the bytes of {name[:60]!r} are missing")
        yield path, (mode, digest)


def _blob_id(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body, usedforsecurity=False).hexdigest()
