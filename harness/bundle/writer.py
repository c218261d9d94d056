"""Members on their way into a bundle: packed, sealed, counted, and spilled to disk so that no bundle has to fit memory.

Invariant: what is written is what was put in; the file appears in one step, when it is whole.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from harness.bundle import container
from harness.bundle.layout import KEY, coding, numbered
from harness.bundle.manifest import Manifest, Told, make, read_manifest
from harness.bundle.packs import deflate, pack
from harness.bundle.seal import Seal
from harness.bundle.signing import SigningKey
from harness.codebase import code_digest
from harness.outcome import UsageFault

_SPILL = 1 << 20  # bytes from which a member waits on disk


class Writer:
    """Collects members in `scratch`, an empty folder of ours."""

    def __init__(self, seal: Seal, scratch: Path) -> None:
        self._seal, self._scratch = seal, scratch
        self._bodies: dict[str, bytes | Path] = {}
        self._told: dict[str, Told] = {}

    def put(self, name: str, data: bytes) -> None:
        """Add a member by its plain bytes."""
        how = coding(name)
        stored = deflate(data) if how.packed else data
        stored = self._seal.close(name, stored) if how.sealed else stored
        digest = hashlib.sha256(stored).hexdigest()
        self._told[name] = Told(
            name=name, size=len(stored), sha256=digest, plain=len(data), sealed=how.sealed, packed=how.packed
        )
        if len(stored) < _SPILL:
            self._bodies[name] = stored
            return
        path = self._scratch / f"member-{len(self._told):06d}"
        path.write_bytes(stored)
        self._bodies[name] = path

    def put_packs(self, kind: str, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """Add entries (digest, stored bytes), which have to come in order, as packs of a kind."""
        for number, data in enumerate(pack(entries)):
            self.put(numbered(kind, number), data)

    def write(self, out: Path, key: SigningKey, dreambench: str, reveal: bool) -> Manifest:
        """Sign and write the file, in one step. Raises UsageFault when it cannot be written."""
        if reveal:
            self.put(KEY, self._seal.key.hex().encode() + b"\n")
        told = [self._told[name] for name in sorted(self._told)]
        head = make(told, self._seal.check, dreambench, code_digest(), key)
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=out.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    container.write(file, {**self._bodies, **head})
                    os.fchmod(file.fileno(), 0o644)
                os.replace(temporary, out)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise UsageFault(f"{out}: {error.strerror or error}; nothing was written") from error
        return read_manifest(head[container.FIRST[0]])
