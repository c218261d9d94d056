"""Tracking numbers after UPU S10: two letters, eight digits, a check digit, a country."""

from __future__ import annotations

import re

from parcels.errors import InvalidInput

_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
_NUMBER = re.compile(r"([A-Z]{2})(\d{8})(\d)([A-Z]{2})")
_REGISTERED = re.compile(r"[a-z]+-([0-9a-f]{12})")


def check_digit(serial: str) -> int:
    """Check digit of an eight-digit serial."""
    rest = 11 - sum(w * int(d) for w, d in zip(_WEIGHTS, serial, strict=True)) % 11
    return {10: 0, 11: 5}.get(rest, rest)


def make_number(prefix: str, serial: int, country: str = "DE") -> str:
    if not 0 < serial < 10**8:
        raise InvalidInput(f"serial {serial} is out of range")
    digits = f"{serial:08d}"
    return f"{prefix}{digits}{check_digit(digits)}{country}"


def normalise(text: str) -> str:
    """Bring a typed or scanned number into its canonical form, or raise InvalidInput."""
    number = re.sub(r"[\s-]", "", text).upper()
    match = _NUMBER.fullmatch(number)
    if match is None:
        raise InvalidInput(f"{text!r} is not a tracking number")
    if int(match[3]) != check_digit(match[2]):
        raise InvalidInput(f"{text!r} has a wrong check digit")
    return number


def grouped(number: str) -> str:
    """The number in the groups that people read out: ``NP 0000 0001 4 DE``."""
    return " ".join((number[:2], number[2:6], number[6:10], number[10:11], number[11:]))


def spelled(number: str) -> str:
    """A register number for people who type it: groups of four, then its check figure."""
    match = _REGISTERED.fullmatch(number)
    if match is None:
        raise InvalidInput(f"{number!r} is not a register number")
    digits = match[1].upper()
    return f"{digits[:4]} {digits[4:8]} {digits[8:]} {int(digits, 16) % 97:02}"
