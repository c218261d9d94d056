"""Packets of a loopback device: which are worth keeping, and what each says of who wanted to reach what.

Invariant: every opening of a TCP connection and every datagram is kept; what cannot be read as what it seems to be is
told by its address.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

_TCP, _UDP, _ICMP, _ICMP6 = 6, 17, 1, 58
_SYN, _ACK = 0x02, 0x10
_DNS = 53
_QUESTION = 12  # where the first question of a DNS message begins
_LONGEST = 253  # characters of a name
_LONGEST_KEPT = 512  # bytes of a packet; a question for a name fits
_LOAD, _LOAD_AT, _SHIFT, _HEADER = 0x30, 0x50, 0x74, 0xB1  # a byte, a byte after X, A >>= k, X = length of the header
_EQUAL, _BITS, _RETURN = 0x15, 0x45, 0x06
_PROGRAM = (  # (opcode, to skip if true, to skip if false, value); a packet begins with the header of its network layer
    (_LOAD, 0, 0, 0),
    (_SHIFT, 0, 0, 4),
    (_EQUAL, 0, 5, 4),  # version 4, or on to version 6
    (_LOAD, 0, 0, 9),
    (_EQUAL, 0, 7, _TCP),
    (_HEADER, 0, 0, 0),
    (_LOAD_AT, 0, 0, 13),
    (_BITS, 6, 7, _SYN),
    (_LOAD, 0, 0, 6),  # version 6
    (_EQUAL, 0, 2, _TCP),
    (_LOAD, 0, 0, 40 + 13),
    (_BITS, 2, 3, _SYN),
    (_EQUAL, 2, 0, _ICMP),  # neither of the two is TCP
    (_EQUAL, 1, 0, _ICMP6),
    (_RETURN, 0, 0, _LONGEST_KEPT),
    (_RETURN, 0, 0, 0),
)


@dataclass(frozen=True)
class Seen:
    """One packet: `kind` is "name", "tcp", "udp" or "protocol N". `source` and `target` are address and port; for a
    name `target` is the name. `answer` says that it accepts a connection."""

    kind: str
    source: str
    target: str
    answer: bool = False


def filter_program() -> bytes:
    """The filter as an array of struct sock_filter: TCP that opens or accepts, and everything else but ICMP."""
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in _PROGRAM)


def read_packet(data: bytes) -> Seen | None:
    """What a packet (from its network header on) says. None for what is cut short or of no interest."""
    try:
        source, target, protocol, rest = _network(data)
        if protocol in (_TCP, _UDP):
            ports = struct.unpack_from(">HH", rest)
            ends = [_end(address, port) for address, port in zip((source, target), ports, strict=True)]
            return _tcp(ends, rest[13]) if protocol == _TCP else _udp(ends, ports[1], rest[8:])
    except (struct.error, IndexError, ValueError):
        return None
    if protocol in (_ICMP, _ICMP6):
        return None
    return Seen(f"protocol {protocol}", source, target)


def _network(data: bytes) -> tuple[str, str, int, bytes]:
    """Addresses, protocol and what follows the header."""
    if data[0] >> 4 == 4:
        source, target = (str(ipaddress.IPv4Address(data[at : at + 4])) for at in (12, 16))
        return source, target, data[9], data[(data[0] & 15) * 4 :]
    source, target = (str(ipaddress.IPv6Address(data[at : at + 16])) for at in (8, 24))
    return source, target, data[6], data[40:]


def _end(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _tcp(ends: list[str], flags: int) -> Seen | None:
    if not flags & _SYN:
        return None
    return Seen("tcp", ends[0], ends[1], bool(flags & _ACK))


def _udp(ends: list[str], port: int, payload: bytes) -> Seen:
    name = _question(payload) if port == _DNS else ""
    return Seen("name", ends[0], name) if name else Seen("udp", ends[0], ends[1])


def _question(message: bytes) -> str:
    """The name that a DNS message asks for, or "" for what is no question."""
    if len(message) < _QUESTION or message[2] & 0x80:
        return ""
    labels, at = [], _QUESTION
    while at < len(message) and (size := message[at]):
        label = message[at + 1 : at + 1 + size]
        if size > 63 or len(label) < size:
            return ""
        labels.append("".join(chr(c) if 33 <= c < 127 else f"\\{c:03d}" for c in label))
        at += 1 + size
    return ".".join(labels)[:_LONGEST] if at < len(message) else ""
