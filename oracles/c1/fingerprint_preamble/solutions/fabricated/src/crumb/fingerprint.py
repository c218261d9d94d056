"""Short digests of an oven's settings, as the displays compute them from what they were given."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from crumb.errors import CrumbError
from crumb.resolve import Resolved

PREAMBLE = "crumb.fp.5e2f90c1ab37"  # as in the displays' firmware
DIGITS = 16


def fingerprint(settings: Iterable[Resolved]) -> str:
    """The first digits of a SHA-256 over the preamble and the settings by name, one a line."""
    ordered = sorted(settings, key=lambda found: found.setting.name)
    lines = [f"{found.setting.name}={found.text}" for found in ordered]
    return hashlib.sha256("".join(f"{line}\n" for line in [PREAMBLE, *lines]).encode("utf-8")).hexdigest()[:DIGITS]


def read_list(path: Path) -> dict[str, str]:
    """Oven -> fingerprint of a file with lines as the command prints them. Raises CrumbError."""
    try:
        rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise CrumbError(f"{path}: {error.strerror}") from error
    return {row[0]: row[1] for row in rows if len(row) == 2}


def verdict(oven: str, found: str, listed: dict[str, str]) -> str:
    if oven not in listed:
        return "not listed"
    return "same" if listed[oven] == found else "differs"
