"""A run to look at, wherever it is: a run directory of one's own, or a bundle that is thawed while it is looked at.

Invariant: what a bundle is thawed into is gone afterwards; of what somebody else made nothing is parsed or filled in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.bundle import layout
from harness.bundle.container import BundleError
from harness.bundle.opened import Opened, open_run
from harness.bundle.reader import Bundle
from harness.bundle.seal import Seal
from harness.bundle.thaw import thaw
from harness.outcome import REJECTED, UsageFault


@dataclass(frozen=True)
class Source:
    """A run, and the numbers that a bundle says were computed from it (None for a run directory)."""

    run: Opened
    analysis: bytes | None = None


@contextmanager
def opened(path: Path, seal: Seal | None = None) -> Iterator[Source]:
    """The run at `path`. Raises UsageFault; with exit code 3 for a bundle that is not what it says."""
    if path.is_dir():
        yield Source(open_run(path))
        return
    with tempfile.TemporaryDirectory() as scratch:
        try:
            with Bundle.open(path, seal) as bundle:
                bundle.require_signed()
                folder = thaw(bundle, Path(scratch))
                analysis = bundle.get(layout.ANALYSIS)
            run = open_run(folder.path, strange=True)
        except BundleError as error:
            raise UsageFault(f"{path}: {error}", REJECTED) from error
        except UsageFault as error:
            raise UsageFault(str(error).replace(f"{scratch}/", f"{path}: "), error.exit_code) from error
        yield Source(run, analysis)
