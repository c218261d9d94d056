"""Runs on the host, in a process of its own: mini-swe-agent, whose commands are carried out at the end of a bridge.

    python3 mini_swe.py HOME SITE MODEL_SOCKET LINK WORD...      (the prompt is HOME/prompt.md)

It is the program of its package, with an environment of ours: `execute` sends the command over the bridge (see
`serve_commands`, which answers). The model's address is led to the socket.

Invariant: nothing is started on this host and nothing is reached but the socket: both are refused by an audit hook,
which cannot be taken away, and told on the standard error. When the standard input ends (the harness is gone), so does
this process, and its folder HOME with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from importlib import import_module
from typing import Any, NoReturn

MODEL = ("127.0.0.1", 4141)
LONGEST = 1 << 20  # characters of a command
_REFUSED = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"),
    *("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto"),
)


def main(arguments: list[str]) -> None:
    """Does not return: the program exits with its status."""
    home, site, model, link, *words = arguments
    _end_with_stdin(home)
    sys.path.insert(0, site)
    _guard(model)
    with open(f"{home}/prompt.md", encoding="utf-8", newline="") as file:
        task = file.read()
    sys.argv = ["mini", "--task=" + task, *words, "--environment-class", "__main__.Commands"]
    sys.argv += ["--config", f"environment.link={link}"]
    import_module("minisweagent.run.mini").app()


class Commands:
    """The program's environment: that of its package but for where a command is run. `link` is a descriptor."""

    def __init__(self, link: int, **settings: Any) -> None:
        local = import_module("minisweagent.environments.local")
        self._local = local.LocalEnvironment(**settings)
        self.config = self._local.config
        os.set_inheritable(link, False)
        self._stream = socket.socket(fileno=link).makefile("rwb")
        self._system = self._heard()

    def execute(self, action: dict[str, Any], cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        """As of its package: {"output", "returncode", "exception_info"}; raises when the program is to submit."""
        command, seconds = action.get("command", ""), timeout or self.config.timeout
        output = self._asked(command, cwd or self.config.cwd, seconds)
        self._local._check_finished(output)
        return output

    def get_template_vars(self, **values: Any) -> dict[str, Any]:
        """The settings and the system, which is that of the sandbox."""
        return {**self.config.model_dump(), **self._system, **values}

    def serialize(self) -> dict[str, Any]:
        """For the trajectory."""
        found: dict[str, Any] = self._local.serialize()
        return found

    def _asked(self, command: str, cwd: str, seconds: int) -> dict[str, Any]:
        if len(command) > LONGEST:
            return _failed("", OSError(f"a command has at most {LONGEST} characters"))
        request = {"command": command, "cwd": cwd, "env": self.config.env, "seconds": seconds}
        self._stream.write(json.dumps(request).encode() + b"\n")
        self._stream.flush()
        answer = self._heard()
        if answer["end"] == "late":
            return _failed(answer["output"], subprocess.TimeoutExpired(command, seconds))
        if answer["end"] == "failed":
            return _failed("", OSError(answer["output"]))
        return {"output": answer["output"], "returncode": answer["status"], "exception_info": ""}

    def _heard(self) -> dict[str, Any]:
        if not (line := self._stream.readline()):
            raise ConnectionError("commands are not answered any more")
        found: dict[str, Any] = json.loads(line)
        return found


def _failed(output: str, error: Exception) -> dict[str, Any]:
    return {
        "output": output,
        "returncode": -1,
        "exception_info": f"An error occurred while executing the command: {error}",
        "extra": {"exception_type": type(error).__name__, "exception": str(error)},
    }


class _Way(socket.socket):
    """A connection to the socket of the model, as what would be one to its address."""

    def setsockopt(self, level: int, *rest: Any) -> None:
        """What is of TCP is left out."""
        if level != socket.IPPROTO_TCP:
            super().setsockopt(level, *rest)


def _guard(model: str) -> None:
    """From here on `MODEL` is the socket at path `model`, and there is no other way out."""

    def refuse(event: str, what: object) -> NoReturn:
        print(f"refused: {event} {what!r}", file=sys.stderr, flush=True)
        raise PermissionError(f"{event} is not for this process")

    def hook(event: str, values: tuple[Any, ...]) -> None:
        if event in _REFUSED or (event == "socket.connect" and values[1] != model):
            refuse(event, values)

    def connect(address: tuple[str, int], timeout: object = None, *_: object, **__: object) -> socket.socket:
        if tuple(address[:2]) != MODEL:
            refuse("socket.create_connection", address)
        way = _Way(socket.AF_UNIX)
        if isinstance(timeout, int | float):
            way.settimeout(timeout)
        way.connect(model)
        return way

    sys.addaudithook(hook)
    socket.create_connection = connect  # type: ignore[assignment]


def _end_with_stdin(home: str) -> None:
    """Remove `home` and exit when nobody holds the other end of the standard input any more."""
    held = os.dup(0)
    with open(os.devnull, "rb") as null:
        os.dup2(null.fileno(), 0)

    def wait() -> NoReturn:
        with contextlib.suppress(OSError):
            while os.read(held, 1):
                pass
        shutil.rmtree(home, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1:])
