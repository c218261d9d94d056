"""First process of a docker sandbox: unpack trees, run one command, kill everything, send the trees back.

Started as `python3 -I -S`; the harness talks to it over the attached standard streams. Why a program inside and
not the engine's archive calls: only a tmpfs gives a quota on bytes and inodes here, and the engine can neither
fill a tmpfs before the start nor read it after the end.

Invariant: a tree is read only when no other process of the container is alive. This process has the uid of the
command, but cannot be killed from inside (it is process 1 of its namespace), traced or opened (it is not
dumpable). End of its input means that the harness died, and ends the container at once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from typing import Any

from containers.box import frames, kernel, trees

PENDING = 1 << 18  # bytes that may wait on either side before reading stops
HARNESS_GONE = 3


def send(data: bytes) -> None:
    frames.write_all(1, data)


class Input:
    """Frames from the harness."""

    def __init__(self) -> None:
        self.frames = frames.Frames(1 << 30)

    def feed(self) -> None:
        """Read once; the end of the input is the end of everything."""
        chunk = os.read(0, frames.BLOCK)
        if not chunk:
            os._exit(HARNESS_GONE)
        self.frames.feed(chunk)

    def wait(self) -> tuple[bytes, bytes]:
        """The next frame."""
        while (frame := self.frames.take()) is None:
            self.feed()
        return frame


class Run:
    """One command with its three pipes, until it ended, its time is over or the harness says stop."""

    def __init__(self, spec: dict[str, Any], source: Input) -> None:
        self.spec = spec
        self.source = source
        self.counts = {frames.STDOUT: 0, frames.STDERR: 0}
        self.out = bytearray()
        self.stdin = bytearray()
        self.stdin_ended = False
        self.status: int | None = None
        self.timed_out = False
        self.stop = False

    def start(self) -> None:
        """Fork the command."""
        self._signals()
        into, self.into = os.pipe()
        self.outs: dict[int, bytes] = {}
        ends = [into]
        for kind in (frames.STDOUT, frames.STDERR):
            reader, writer = os.pipe()
            self.outs[reader] = kind
            ends.append(writer)
        self.main = os.fork()
        if self.main == 0:
            become(self.spec, ends)
        for fd in ends:
            os.close(fd)
        for fd in (self.into, *self.outs):
            os.set_blocking(fd, False)
        self.began = time.monotonic()

    def _signals(self) -> None:
        self.woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._on_stop)
        # Process 1 ignores what it does not handle, so nobody inside can interrupt it.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def _on_stop(self, *_: object) -> None:
        self.stop = True

    def loop(self) -> None:
        """Carry bytes until the run is over."""
        deadline = self.began + self.spec["wall"]
        os.set_blocking(1, False)
        self._input()  # what came together with the request
        while self.status is None and not self.stop:
            left = deadline - time.monotonic()
            if left <= 0:
                self.timed_out = True
                return
            for fd, what in self._poll().poll(min(left, 60) * 1000):
                self._ready(fd, what)

    def _poll(self) -> select.poll:
        poll = select.poll()
        poll.register(self.woken, select.POLLIN)
        poll.register(0, select.POLLIN if len(self.stdin) < PENDING else 0)
        if self.out:
            poll.register(1, select.POLLOUT)
        if self.stdin and self.into >= 0:
            poll.register(self.into, select.POLLOUT)
        for fd, kind in self.outs.items():
            # What is kept of stderr is bounded, so it never has to wait: a flood of it cannot stall stdout.
            if kind == frames.STDERR or len(self.out) < PENDING:
                poll.register(fd, select.POLLIN)
        return poll

    def _ready(self, fd: int, what: int) -> None:
        if fd == self.woken:
            os.read(fd, frames.BLOCK)
            self._reap()
        elif fd == 0:
            if not what & select.POLLIN:
                os._exit(HARNESS_GONE)
            self.source.feed()
            self._input()
        elif fd == 1:
            del self.out[: os.write(1, self.out[: frames.BLOCK])]
        elif fd == self.into:
            self._give()
        elif fd in self.outs:
            self.pull(fd)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.main:
                self.status = status

    def _input(self) -> None:
        while (frame := self.source.frames.take()) is not None:
            if frame[0] == frames.STDIN and self.into >= 0:
                self.stdin += frame[1]
            elif frame[0] == frames.STDIN_END:
                self.stdin_ended = True
        self._give()

    def _give(self) -> None:
        if self.into < 0:
            return
        try:
            if self.stdin:
                del self.stdin[: os.write(self.into, self.stdin[: frames.BLOCK])]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.stdin.clear()
            self.stdin_ended = True
        if self.stdin_ended and not self.stdin:
            os.close(self.into)
            self.into = -1

    def pull(self, fd: int) -> bool:
        """Read once from an output pipe; false when there is nothing now."""
        kind = self.outs[fd]
        try:
            data = os.read(fd, frames.BLOCK)
        except BlockingIOError:
            return False
        if not data:
            os.close(fd)
            del self.outs[fd]
            return False
        kept = data
        if kind == frames.STDERR or not self.spec["talk"]:
            kept = data[: max(0, self.spec["output"] - self.counts[kind])]
        self.counts[kind] += len(data)
        if kept:
            self.out += frames.pack(kind, kept)
        return True

    def finish(self) -> dict[str, Any]:
        """Kill all, pass on what they had written, and say how it ended."""
        seconds = time.monotonic() - self.began
        kill_all(self)
        os.set_blocking(1, True)
        for fd in list(self.outs):
            while self.pull(fd):
                pass
        send(bytes(self.out))
        code = os.waitstatus_to_exitcode(signal.SIGKILL if self.status is None else self.status)
        return {
            "exit": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "timed_out": self.timed_out,
            "stdout_bytes": self.counts[frames.STDOUT],
            "stderr_bytes": self.counts[frames.STDERR],
            "seconds": seconds,
            "hit": sorted(kernel.limits_hit(self.spec["mounts"])),
        }


def become(spec: dict[str, Any], fds: list[int]) -> None:
    """In the child: clean process state, then the command. Never returns."""
    code = 126
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        for target, fd in enumerate(fds):
            os.dup2(fd, target)
        os.closerange(3, 1024)
        # The kernel should kill the command before process 1 when memory runs out.
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
        os.umask(0o022)
        os.chdir(spec["cwd"])
        os.execvpe(spec["command"][0], spec["command"], spec["env"])
    except OSError as error:
        code = 127 if isinstance(error, FileNotFoundError) else 126
        os.write(2, os.fsencode(f"{spec['command'][0]}: {os.strerror(error.errno or 0)}\n"))
    finally:
        os._exit(code)


def kill_all(run: Run) -> None:
    """Kill every other process of the namespace and reap it; nothing else is alive when this returns."""
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == run.main and run.status is None:
            run.status = status
        if pid == 0:
            time.sleep(0.001)


def main() -> None:
    """The whole life of the container."""
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    os.umask(0)
    source = Input()
    spec = json.loads(source.wait()[1])
    unpacker = trees.Unpacker(spec["mtime"])
    try:
        while (frame := source.wait())[0] != frames.GO:
            unpacker.frame(*frame)
        unpacker.finish()
    except OSError as error:
        send(frames.pack(frames.BROKEN, f"cannot unpack a tree: {error.strerror}".encode()))
        return
    run = Run(spec, source)
    run.start()
    send(frames.pack(frames.STARTED))
    run.loop()
    send(frames.pack(frames.EXIT, json.dumps(run.finish()).encode()))
    exporter = trees.Exporter(spec["caps"], send)
    try:
        for path in spec["exports"]:
            exporter.tree(path)
    except trees.Full:
        pass
    send(frames.pack(frames.END))
