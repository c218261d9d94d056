"""The command line without the start of an interpreter: a server that has loaded it forks a process for each call.

Started as a program this is the server: it reads one job a line from stdin, {"words", "env", "cwd", "out", "err"}, and
answers with the exit code. Invariant: a call is a process of its own, with its own words, environment, working
directory, output files and exit, and runs what the installed command runs, `harness.cli.main.main`. The environment
is set after the imports; where that matters, and once a room, `installed` starts the program itself.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

PROGRAM = str(Path(sys.executable).with_name("dreambench"))


def dreambench(
    *words: str | Path, env: Mapping[str, str] | None = None, cwd: str | Path = "/"
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, in a fork of the server. `env` comes on top of this process's environment."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        argv = [PROGRAM, *map(str, words)]
        job = {"words": argv, "env": {**os.environ, **(env or {})}, "cwd": str(cwd), "out": str(out), "err": str(err)}
        server.stdin.write(json.dumps(job) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(argv, code, out.read_text("utf-8"), err.read_text("utf-8"))


def installed(
    *words: str | Path, env: Mapping[str, str] | None = None, cwd: str | Path = "/"
) -> subprocess.CompletedProcess[str]:
    """As `dreambench`, by the installed program from its first instruction on."""
    return subprocess.run(
        [PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=200,
        check=False,
    )


@functools.cache
def _server() -> subprocess.Popen[str]:
    """The one server of this process; it ends with it, when its pipe does."""
    command = [sys.executable, "-P", __file__]  # not this folder: it has a `harness` too
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _serve() -> bool:
    """Answer jobs until there are no more. True in a child, which has become the call."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _become(json.loads(line))
            return True
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return False


def _become(job: dict[str, object]) -> None:
    files = [("/dev/null", os.O_RDONLY)]
    files += [(str(job[name]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for name in ("out", "err")]
    for number, (path, flags) in enumerate(files):
        os.dup2(os.open(path, flags, 0o600), number)
    os.closerange(3, 64)
    os.chdir(str(job["cwd"]))
    os.environ.clear()
    env = job["env"]
    assert isinstance(env, dict)
    os.environ.update(env)
    words = job["words"]
    assert isinstance(words, list)
    sys.argv = words


if __name__ == "__main__":
    from harness.cli.main import main

    if _serve():
        main()
