"""How many minutes after its schedule a job comes due, so that not all begin together."""

from __future__ import annotations

import zlib

# Shared with others that use the same machines at fixed minutes.
SEED = "<< waits_seed >>"

LONGEST = 59


def offset(seed: str, name: str, stagger: int) -> int:
    """Minutes from 0 to `stagger`; the same for a seed and a name at every start, on every host."""
    return zlib.crc32(f"{seed}/{name}".encode()) % (stagger + 1)
