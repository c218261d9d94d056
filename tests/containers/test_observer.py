"""The observer sees every name and address that a program tries, and opens nothing by looking."""

from __future__ import annotations

import os
import socket
import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from containers.observer import Attempt, Observer, waiting
from containers.observer_packets import Seen, filter_program, read_packet
from containers.relay import Quota, Relay
from containers.sandbox import Result, Sandbox, SandboxError, Spec

from .relay_kit import EAGER, PROGRAM, Model, answer, chat_upstream, said, shown

TRY = """
import struct
def call(host, port, family=socket.AF_INET):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(5)
        try: s.connect((host, port)); return "answered"
        except OSError as error: return type(error).__name__
def name(text, server="127.0.0.1"):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in text.split(".")) + b"\\0"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(0.2); s.connect((server, 53))
        s.send(struct.pack(">6H", 7, 256, 1, 0, 0, 0) + labels + struct.pack(">2H", 1, 1))
        try: s.recv(512); return "answered"
        except OSError as error: return type(error).__name__
def send(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: s.sendto(b"out", (host, port))
"""


def observe(box: Sandbox, folder: Path, code: str) -> tuple[Result, tuple[Attempt, ...]]:
    with Model(answer(said())) as model, Relay(chat_upstream(model), EAGER) as relay:
        observer = Observer(relay.open(Quota(), folder / "exchange.jsonl"))
        spec = waiting(Spec(("python3", "-c", PROGRAM + TRY + code), cwd="/tmp"))
        result = box.run(replace(spec, endpoint=observer))
        return result, observer.attempts()


CODE = """
show(call("192.0.2.7", 443), call("8.8.8.8", 53), call("192.0.2.7", 443), call("127.0.0.1", 4142))
show(name("telemetry.example.com"), name("telemetry.example.com"), name("updates.example.org", "10.0.0.2"))
send("203.0.113.9", 514)
with socket.create_server(("127.0.0.1", 8080)): show(call("127.0.0.1", 8080))
show(ask()[0], ask()[0])
"""
TRIED = (
    Attempt("tcp", "192.0.2.7:443", 2),
    Attempt("tcp", "8.8.8.8:53", 1),
    Attempt("tcp", "127.0.0.1:4142", 1),
    Attempt("name", "telemetry.example.com", 2),
    Attempt("name", "updates.example.org", 1),
    Attempt("udp", "203.0.113.9:514", 1),
    Attempt("tcp", "127.0.0.1:8080", 1, answered=True),
)
SAID = [["ConnectionRefusedError"] * 4, ["ConnectionRefusedError"] * 3, ["answered"], [200, 200]]


def test_what_is_tried_is_seen_and_nothing_answers(bubblewrap_box: Sandbox, tmp_path: Path) -> None:
    result, attempts = observe(bubblewrap_box, tmp_path, CODE)
    assert shown(result) == SAID
    assert attempts == TRIED


def test_version_six(bubblewrap_box: Sandbox, tmp_path: Path) -> None:
    result, attempts = observe(bubblewrap_box, tmp_path, 'show(call("2001:db8::7", 443, socket.AF_INET6))')
    assert shown(result) == [["ConnectionRefusedError"]]
    assert attempts == (Attempt("tcp", "[2001:db8::7]:443", 1),)


def test_nothing_is_tried(bubblewrap_box: Sandbox, tmp_path: Path) -> None:
    threads = threading.active_count()
    result, attempts = observe(bubblewrap_box, tmp_path, "show(ask()[0])")
    assert (shown(result), attempts) == ([[200]], ())
    assert threading.active_count() == threads


def test_many_at_once_are_all_counted(bubblewrap_box: Sandbox, tmp_path: Path) -> None:
    code = "for number in range(6000): send('192.0.2.7', 1000 + number % 3)"
    result, attempts = observe(bubblewrap_box, tmp_path, code)
    assert result.exit == 0
    assert attempts == tuple(Attempt("udp", f"192.0.2.7:{port}", 2000) for port in (1000, 1001, 1002))


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.skipif(os.geteuid() != 0, reason="the namespaces of containers are root's")
def test_in_docker(docker_box: Sandbox, tmp_path: Path) -> None:
    """There the C library asks for names."""
    look = CODE + "try: socket.getaddrinfo('names.example.net', 80)\nexcept OSError: pass\n"
    result, attempts = observe(docker_box, tmp_path, look)
    assert shown(result) == SAID
    assert attempts[: len(TRIED)] == TRIED
    assert {(a.kind, a.where) for a in attempts[len(TRIED) :]} == {("name", "names.example.net")}


def test_what_was_never_started_was_not_observed(tmp_path: Path) -> None:

    with Model(answer(said())) as model, Relay(chat_upstream(model), EAGER) as relay:
        observer = Observer(relay.open(Quota(), tmp_path / "exchange.jsonl"))
        observer.release()
        with pytest.raises(SandboxError, match="never started"):
            observer.attempts()


def packet(protocol: int, rest: bytes, six: bool = False) -> bytes:
    if six:
        return struct.pack(">IHBB16s16s", 6 << 28, len(rest), protocol, 64, *(socket.inet_pton(10, "::1"),) * 2) + rest
    ends = (socket.inet_aton("127.0.0.1"), socket.inet_aton("192.0.2.7"))
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(rest), 0, 0, 64, protocol, 0, *ends) + rest


def kept(data: bytes) -> int:
    """What the filter returns for a packet, by the rules of the kernel's machine."""
    code = [struct.unpack_from("<HBBI", filter_program(), at) for at in range(0, len(filter_program()), 8)]
    at = value = index = 0
    while True:
        opcode, yes, no, k = code[at]
        at += 1
        if opcode == 0x06:
            return int(k)
        place = k + index if opcode == 0x50 else k
        if opcode in (0x30, 0x50, 0xB1) and place >= len(data):
            return 0
        if opcode in (0x30, 0x50):
            value = data[place]
        elif opcode == 0xB1:
            index = (data[k] & 15) * 4
        elif opcode == 0x74:
            value >>= k
        else:
            at += yes if (value == k if opcode == 0x15 else value & k) else no


@pytest.mark.parametrize("six", [False, True])
@given(flags=st.integers(0, 255), protocol=st.integers(0, 255))
def test_the_filter_keeps_what_opens_a_connection(six: bool, flags: int, protocol: int) -> None:
    data = packet(protocol, b"\0\1\0\2" + b"\0" * 8 + bytes([0x50, flags]) + b"\0" * 6, six)
    wanted = bool(flags & 2) if protocol == 6 else protocol not in (1, 58)
    assert (kept(data) > 0) == wanted
    if wanted:
        found = read_packet(data)
        assert found is not None
        assert found.kind == {6: "tcp", 17: "udp"}.get(protocol, f"protocol {protocol}")


@given(st.binary(max_size=80))
def test_any_bytes_are_read(data: bytes) -> None:
    assert read_packet(data) is None or isinstance(read_packet(data), Seen)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        (b"\3www\7example\0", Seen("name", "127.0.0.1:9", "www.example")),
        (b"\3a\0b\1\xff\0", Seen("name", "127.0.0.1:9", r"a\000b.\255")),
        (b"\0", Seen("udp", "127.0.0.1:9", "192.0.2.7:53")),
        (b"\3www\7exam", Seen("udp", "127.0.0.1:9", "192.0.2.7:53")),
        (b"\xc0\x0c\0", Seen("udp", "127.0.0.1:9", "192.0.2.7:53")),
        (b"", Seen("udp", "127.0.0.1:9", "192.0.2.7:53")),
    ],
)
def test_a_question_for_a_name(question: bytes, found: Seen) -> None:
    message = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + question
    assert read_packet(packet(17, struct.pack(">4H", 9, 53, 8 + len(message), 0) + message)) == found
