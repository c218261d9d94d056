"""Probes: the byte pipe to a living sandbox (`talk`)."""

from __future__ import annotations

import hashlib
import threading
import time
from contextlib import suppress

from containers.probes_base import LIMITS, Bench, Probe, ended, unless
from containers.sandbox import MIB, Channel, Limits, Mount, Spec


def _open(bench: Bench, *command: str, limits: Limits = LIMITS, exports: tuple[str, ...] = ()) -> Channel:
    mounts = {"/work": Mount(writable=True)}
    return bench.sandbox.talk(Spec(command=command, mounts=mounts, limits=limits, exports=exports))


def _all(channel: Channel, size: int, timeout: float = 10.0) -> bytes:
    """`size` bytes, or what came before the end of the stream."""
    got = bytearray()
    while len(got) < size and (part := channel.receive(size - len(got), timeout)):
        got += part
    return bytes(got)


def _echo(bench: Bench) -> str | None:
    with _open(bench, "cat") as channel:
        for line in (b"one\n", b"\x00\xff\n", b"three\n"):
            channel.send(line)
            if (got := _all(channel, len(line))) != line:
                return f"sent {line!r}, got {got!r}"
    return None


def _large(bench: Bench) -> str | None:
    data = hashlib.sha256(b"x").digest() * (8 * MIB // 32)
    with _open(bench, "cat") as channel:
        sender = threading.Thread(target=channel.send, args=(data,), daemon=True)
        sender.start()
        got = _all(channel, len(data), 20)
        sender.join(5)
    return unless(got == data, f"{len(got)} of {len(data)} bytes came back")


def _end(bench: Bench) -> str | None:
    with _open(bench, "sh", "-c", "echo last; exit 7") as channel:
        got = _all(channel, 100)
        result = channel.close()
    return unless(got == b"last\n" and result.exit == 7, f"{got!r} {ended(result)}")


def _gone(bench: Bench) -> str | None:
    with _open(bench, "true") as channel:
        _all(channel, 1)
        try:
            for _ in range(50):
                channel.send(b"x" * 65536)
                time.sleep(0.02)
        except BrokenPipeError:
            return None
    return "sending to a dead sandbox raised nothing"


def _silent(bench: Bench) -> str | None:
    with _open(bench, "sleep", "30") as channel:
        began = time.monotonic()
        try:
            return f"received {channel.receive(1, 0.3)!r}"
        except TimeoutError:
            took = time.monotonic() - began
            return unless(0.2 < took < 2, f"the time-out of 0.3 s took {took:.1f} s")


def _close_kills(bench: Bench) -> str | None:
    began = time.monotonic()
    with _open(bench, "sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done") as channel:
        _all(channel, 3)
        result = channel.close()
        again = channel.close()
    took = time.monotonic() - began
    fine = result.exit is None and took < 5 and again == result
    return unless(fine, f"{took:.1f} s, {ended(result)}")


def _close_early(bench: Bench) -> str | None:
    """Closing at any moment of the start kills as well as later."""
    began = time.monotonic()
    for turn in range(12):
        with _open(bench, "sleep", "60", limits=LIMITS.but(wall=5)) as channel:
            time.sleep(turn % 4 * 0.005)
            result = channel.close()
        if result.exit is not None or result.timed_out:
            return ended(result)
    took = time.monotonic() - began
    return unless(took < 15, f"{took:.1f} s for 12")


def _stderr(bench: Bench) -> str | None:
    code = "import os\nfor _ in range(160): os.write(2, b'e' * 65536)\nos.write(1, b'done')"
    with _open(bench, "python3", "-c", code) as channel:
        got = _all(channel, 4)
    return unless(got == b"done", f"got {got!r}")


def _wall(bench: Bench) -> str | None:
    began = time.monotonic()
    with _open(bench, "sleep", "60", limits=LIMITS.but(wall=1.0)) as channel:
        with suppress(TimeoutError):
            channel.receive(1, 8)
        result = channel.close()
    took = time.monotonic() - began
    return unless(result.timed_out and took < 6, f"{took:.1f} s, {ended(result)}")


def _exports(bench: Bench) -> str | None:
    with _open(bench, "sh", "-c", "echo kept > file; echo up; sleep 60", exports=("/work",)) as channel:
        _all(channel, 3)
        result = channel.close()
    return unless(b"kept\n" in result.exports.get("/work", b""), ended(result))


def _unread(bench: Bench) -> str | None:
    began = time.monotonic()
    with _open(bench, "sh", "-c", "yes") as channel:
        channel.receive(10, 5)
    took = time.monotonic() - began
    return unless(took < 6, f"closing over unread output took {took:.1f} s")


def _failing_block(bench: Bench) -> str | None:
    channel = _open(bench, "sleep", "60")
    with suppress(LookupError), channel:
        raise LookupError
    result = channel.close()
    return unless(result.exit is None, ended(result))


PROBES = (
    Probe("talk-echo", "bytes go both ways, in turn", _echo),
    Probe("talk-large", "8 MiB go both ways at once", _large),
    Probe("talk-end", "the end of output is seen, and the exit status kept", _end),
    Probe("talk-gone", "sending to a command that ended is a broken pipe", _gone),
    Probe("talk-silent", "waiting for a silent command times out", _silent),
    Probe("talk-close", "closing kills, and can be done twice", _close_kills),
    Probe("talk-close-early", "closing in the middle of the start kills too", _close_early),
    Probe("talk-stderr", "a flood of errors does not block the answer", _stderr),
    Probe("talk-wall", "the wall limit holds for a channel", _wall),
    Probe("talk-export", "trees come out of a channel", _exports),
    Probe("talk-unread", "output that nobody reads does not block closing", _unread),
    Probe("talk-raise", "an error in the block closes the channel", _failing_block),
)
