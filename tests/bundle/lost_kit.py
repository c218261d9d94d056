"""A bundle with what a killed session had used, made from one that has none."""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness.bundle import layout
from harness.bundle.reader import Bundle
from harness.bundle.signing import load_key
from harness.bundle.writer import Writer


def with_lost(example: Path, home: Path, lost: bytes) -> None:
    """`home`/lost.dbf: the example as if a session of it had been killed."""
    with Bundle.open(example) as bundle, tempfile.TemporaryDirectory() as scratch:
        assert bundle.seal is not None
        writer = Writer(bundle.seal, Path(scratch))
        for name in bundle.names:
            writer.put(name, bundle.get(name))
        for name in (layout.LOST, layout.SEALED_LOST):
            writer.put(name, lost)
        writer.write(home / "lost.dbf", load_key(home / "signing.pem"), "0", reveal=False)
