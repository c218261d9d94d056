"""Probes: how a run begins and ends, what goes in and comes out of its standard streams."""

from __future__ import annotations

import hashlib
import resource
import time

from containers.probes_base import LIMITS, Bench, Probe, ended, first, inside, python, run, unless
from containers.sandbox import MIB


def _exit_codes(bench: Bench) -> str | None:
    for code in (0, 1, 42, 255):
        result = run(bench, "sh", "-c", f"exit {code}")
        if result.exit != code or result.signal is not None:
            return f"exit {code}: {ended(result)}"
    return None


def _signal(bench: Bench) -> str | None:
    for name, number in (("KILL", 9), ("TERM", 15), ("SEGV", 11)):
        result = run(bench, "sh", "-c", f"kill -{name} $$")
        if result.exit is not None or result.signal != number or result.timed_out:
            return f"kill -{name} $$: {ended(result)}"
    return None


def _missing(bench: Bench) -> str | None:
    result = run(bench, "no-such-command")
    return unless(result.exit == 127, ended(result))


def _not_executable(bench: Bench) -> str | None:
    result = run(bench, "/etc/passwd")
    return unless(result.exit == 126, ended(result))


def _arguments(bench: Bench) -> str | None:
    wanted = ("a b", "", "$HOME", "*", "\n", "-n", "'\"", "ü\u202e")
    code = "import os,sys; os.write(1, b'\\0'.join(map(os.fsencode, sys.argv[1:])))"
    result = python(bench, code, *wanted)
    return unless(result.stdout == "\0".join(wanted).encode(), ended(result))


def _stdin(bench: Bench) -> str | None:
    result = run(bench, "cat", stdin=b"line\n\x00\xff")
    return unless(result.stdout == b"line\n\x00\xff" and result.exit == 0, ended(result))


def _large_stdin(bench: Bench) -> str | None:
    data = bytes(range(256)) * (16 * MIB // 256)
    code = "import sys,hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    result = python(bench, code, stdin=data)
    return unless(result.stdout.decode().strip() == hashlib.sha256(data).hexdigest(), ended(result))


def _unread_stdin(bench: Bench) -> str | None:
    began = time.monotonic()
    result = run(bench, "true", stdin=b"x" * (8 * MIB))
    took = time.monotonic() - began
    return unless(result.exit == 0 and took < 5, f"{took:.1f} s, {ended(result)}")


def _stdin_end(bench: Bench) -> str | None:
    result = run(bench, "sh", "-c", "read line && echo got; echo end")
    return unless(result.stdout == b"end\n", ended(result))


def _stderr_apart(bench: Bench) -> str | None:
    result = run(bench, "sh", "-c", "echo out; echo err >&2")
    return unless((result.stdout, result.stderr) == (b"out\n", b"err\n"), ended(result))


def _raw_bytes(bench: Bench) -> str | None:
    result = python(bench, "import os; os.write(1, bytes(range(256))); os.write(2, b'\\xff\\xfe\\x00')")
    return unless(result.stdout == bytes(range(256)) and result.stderr == b"\xff\xfe\x00", ended(result))


def _flood(bench: Bench) -> str | None:
    code = "block = 'x' * 1000000\nfor _ in range(200): print(end=block)"
    limits = LIMITS.but(output=100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = python(bench, code, limits=limits)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # KiB
    kept, counted = len(result.stdout), result.stdout_bytes
    fine = kept == 100_000 and counted == 200_000_000 and "output" in result.hit and result.exit == 0
    return unless(fine and grown < 50_000, f"kept {kept}, counted {counted}, grew {grown} KiB, {ended(result)[:200]}")


def _both_floods(bench: Bench) -> str | None:
    code = "import os\nfor _ in range(64):\n    os.write(2, b'e' * 65536)\n    os.write(1, b'o' * 65536)"
    result = python(bench, code, limits=LIMITS.but(output=1000))
    counts = (len(result.stdout), len(result.stderr), result.stdout_bytes >> 16, result.stderr_bytes >> 16)
    return unless(counts == (1000, 1000, 64, 64), f"{counts} {ended(result)[:200]}")


_STUBBORN = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
for kind in range(3):
    if os.fork() == 0:
        if kind > 0: os.setsid()
        if kind > 1 and os.fork(): os._exit(0)
        while True: time.sleep(60)
print('up', flush=True)
while True: time.sleep(60)
"""


def _timeout(bench: Bench) -> str | None:
    began = time.monotonic()
    result = python(bench, _STUBBORN, limits=LIMITS.but(wall=1.0))
    took = time.monotonic() - began
    fine = result.timed_out and result.exit is None and "wall" in result.hit and took < 5
    return unless(fine and result.stdout == b"up\n", f"{took:.1f} s, {ended(result)}")


def _timeout_early(bench: Bench) -> str | None:
    began = time.monotonic()
    for turn in range(8):
        result = run(bench, "sleep", "60", limits=LIMITS.but(wall=0.001 + turn * 0.004))
        if not result.timed_out or result.exit is not None:
            return ended(result)
    took = time.monotonic() - began
    return unless(took < 15, f"{took:.1f} s for 8")


def _timeout_exports(bench: Bench) -> str | None:
    result = run(bench, "sh", "-c", "echo done > kept; sleep 60", limits=LIMITS.but(wall=1.0), exports=("/work",))
    return unless(result.timed_out and b"done\n" in result.exports.get("/work", b""), ended(result))


def _background(bench: Bench) -> str | None:
    began = time.monotonic()
    result = run(bench, "sh", "-c", "sleep 60 & echo started")
    took = time.monotonic() - began
    return unless(result.exit == 0 and result.stdout == b"started\n" and took < 5, f"{took:.1f} s, {ended(result)}")


_ORPHANS = """
import os, time
for _ in range(300):
    for attempt in range(2000):
        try:
            if os.fork() == 0:
                if os.fork() == 0: os._exit(0)
                os._exit(0)
            break
        except BlockingIOError:
            time.sleep(0.005)
    else:
        print('no process left after 10 s'); break
    try: os.wait()
    except ChildProcessError: pass
time.sleep(0.3)
states = []
for pid in filter(str.isdigit, os.listdir('/proc')):
    try: states.append(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0])
    except OSError: pass
if states.count('Z') > 5: print(states.count('Z'), 'zombies')
"""


def _orphans(bench: Bench) -> str | None:
    return inside(bench, _ORPHANS)


def _kill_everything(bench: Bench) -> str | None:
    def shot(command: str) -> str | None:
        began = time.monotonic()
        result = run(bench, "sh", "-c", command, limits=LIMITS.but(wall=3))
        took = time.monotonic() - began
        return unless(took < 8, f"{command}: {took:.1f} s, {ended(result)}")

    return first(*(shot(f"kill -{number} {target}; sleep 0.2") for number in (9, 15) for target in ("1", "-1")))


def _first_process(bench: Bench) -> str | None:
    """Nothing of a finished run may depend on the command being process 1."""
    return inside(bench, "import os\nif os.getpid() == 1: print('the command is process 1')")


def _umask(bench: Bench) -> str | None:
    return inside(bench, "import os\nold = os.umask(0)\nif old != 0o022: print(oct(old))")


def _signals_default(bench: Bench) -> str | None:
    result = run(bench, "sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status")
    masks = [int(line.split()[1], 16) for line in result.stdout.decode().splitlines()]
    return unless(masks == [0, 0], ended(result))


def _descriptors(bench: Bench) -> str | None:
    code = """
import os
for fd in range(3, 64):
    try: print('descriptor', fd, os.fstat(fd).st_mode)
    except OSError: pass
"""
    return inside(bench, code)


PROBES = (
    Probe("exit-code", "the exit status of the command is reported", _exit_codes),
    Probe("signal", "a command that dies of a signal is reported by its number", _signal),
    Probe("missing-command", "a command that does not exist ends with 127", _missing),
    Probe("not-executable", "a command that may not be executed ends with 126", _not_executable),
    Probe("arguments", "arguments arrive unchanged, without a shell", _arguments),
    Probe("stdin", "standard input arrives byte by byte", _stdin),
    Probe("stdin-large", "16 MiB of input arrive whole", _large_stdin),
    Probe("stdin-unread", "input that nobody reads stops nothing", _unread_stdin),
    Probe("stdin-end", "input ends; nothing waits for a person", _stdin_end),
    Probe("stderr-apart", "standard error is kept apart from output", _stderr_apart),
    Probe("raw-bytes", "output that is no text arrives unchanged", _raw_bytes),
    Probe("output-flood", "200 MB in one line are counted and not kept", _flood),
    Probe("two-floods", "floods on both outputs do not block each other", _both_floods),
    Probe(
        "timeout",
        "the wall limit kills what ignores signals, leaves its session or forks twice",
        _timeout,
        harmful=True,
    ),
    Probe("timeout-early", "a wall limit that ends during the start kills too", _timeout_early),
    Probe("timeout-export", "a tree still comes out after the wall limit", _timeout_exports),
    Probe("background", "a run is over when its command is, whatever it left behind", _background),
    Probe("orphans", "300 orphans under a limit of processes leave no zombies", _orphans, harmful=True),
    Probe("kill-everything", "killing process 1 or everybody ends in a Result", _kill_everything, harmful=True),
    Probe("not-first", "the command is not process 1", _first_process),
    Probe("umask", "new files are 0644", _umask),
    Probe("signals-default", "no signal is ignored or blocked at the start", _signals_default),
    Probe("descriptors", "only the three standard descriptors are open", _descriptors),
)
