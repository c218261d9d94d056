"""A self-test: frames that go through the whole chain and that nobody takes for a unit's."""

from __future__ import annotations

from wirespec.codec import decode, encode
from wirespec.errors import WireError

#: Name plate by which every station on the way knows a self-test.
PLATE = "<< settled >>"
CHANNEL = 15
MOST = 50


def frames(count: int = 3, start: int = 0) -> list[bytes]:
    """A `hello`, `count` readings a minute apart, and the `ack` of the `hello`; raises WireError."""
    if not 1 <= count <= MOST:
        raise WireError("bad_value", f"count: {count} is not within 1 to {MOST}")
    sent = [encode("hello", {"unit": PLATE, "firmware": 0, "boots": 0}, sequence=0)]
    for number in range(1, count + 1):
        values = {"channel": CHANNEL, "taken_at": start + 60 * number, "value": 1000 * number}
        sent.append(encode("reading", values, sequence=number))
    return [*sent, encode("ack", {"ref": 0}, sequence=count + 1)]


def is_selftest(data: bytes) -> bool:
    """Whether `data` is the `hello` of a self-test; a frame that cannot be decoded is not."""
    try:
        frame = decode(data)
    except WireError:
        return False
    return frame.name == "hello" and frame.values["unit"] == PLATE
