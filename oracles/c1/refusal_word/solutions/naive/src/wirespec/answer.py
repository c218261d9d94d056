"""What the collector sends back to a unit."""

from __future__ import annotations

from wirespec.codec import MAGIC, URGENT, decode, encode
from wirespec.errors import WireError

UNANSWERED = ("ack", "reject")
AGAIN = "send again"
HEADER_SIZE = 10


def answer(data: bytes, sequence: int = 0) -> bytes | None:
    """The frame that goes back for what came from a unit, or None.

    ``sequence`` is the answer's own number. Nothing goes back to an answer, or where the
    number of the frame cannot be read.
    """
    if len(data) < HEADER_SIZE or not data.startswith(MAGIC):
        return None
    ref, urgent = int.from_bytes(data[6:8], "big"), bool(data[3] & URGENT)
    try:
        frame = decode(data)
    except WireError as error:
        values = {"ref": ref, "code": error.code, "detail": _detail(error)}
        return encode("reject", values, sequence=sequence, urgent=urgent)
    if frame.name in UNANSWERED:
        return None
    return encode("ack", {"ref": ref}, sequence=sequence, urgent=urgent)


def _detail(error: WireError) -> str:
    return AGAIN if error.retry else error.detail
