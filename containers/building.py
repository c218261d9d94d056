"""What building a read-only tree for sandboxes takes: running an installer, compiling, one look for every file.

Invariant: no variable of the harness' own interpreter reaches a tool that is run here, and a tree that went through
`normalise` does not tell when, by whom or under which umask it was made.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from containers.sandbox import SandboxError

EPOCH = 1_735_689_600  # the time of every file: a .pyc stays valid as long as its source is not touched
BUILD_SECONDS = 1800.0

_COMPILE = """
import compileall, py_compile, sys
compileall.compile_dir(
    sys.argv[1], stripdir=sys.argv[2], prependdir=sys.argv[3], quiet=2, workers=0, maxlevels=64,
    invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
"""
_NOISE = ("complete log", "Log files were not written")  # how npm ends whatever went wrong


def run_tool(command: list[str], what: str, cwd: str = "/", env: Mapping[str, str] | None = None) -> str:
    """Standard output of `command`, run with the environment of the harness and `env`.

    Raises SandboxError with `what` and the last line that the tool had to say.
    """
    full = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=full | dict(env or {}),
            cwd=cwd,
            timeout=BUILD_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise SandboxError(f"{what} took longer than {BUILD_SECONDS:.0f} s", "check the package registry") from None
    if done.returncode != 0:
        text = (done.stderr or done.stdout).decode("utf-8", "backslashreplace")
        lines = [line for line in text.strip().splitlines() if not any(word in line for word in _NOISE)]
        raise SandboxError(f"{what} failed: {lines[-1].strip() if lines else 'no message'}")
    return done.stdout.decode("utf-8", "backslashreplace")


def pip_command() -> list[str]:
    """How pip is started: that of the harness' interpreter or of the one below it. Raises SandboxError for none."""
    base = str(getattr(sys, "_base_executable", sys.executable))
    for python in (sys.executable, base):
        probe = subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False)
        if probe.returncode == 0:
            return [python, "-m", "pip"]
    raise SandboxError("pip is needed to install what sandboxes offer", f"{sys.executable} -m ensurepip")


def compile_tree(directory: Path, top: Path, inside: str) -> None:
    """Compile what can be compiled below `directory`, for a sandbox that shows `top` at `inside`.

    By this interpreter's base, which must have the minor version of the one inside. Needs the times of the files to
    be final.
    """
    base = str(getattr(sys, "_base_executable", sys.executable))
    run_tool([base, "-I", "-S", "-c", _COMPILE, str(directory), str(top), inside], "compiling")


def walk(tree: Path) -> Iterator[Path]:
    """Every entry below `tree` and `tree` itself, what is in a directory before the directory; links not followed."""
    for directory, names, files in os.walk(tree, topdown=False):
        for name in (*files, *(name for name in names if os.path.islink(os.path.join(directory, name)))):
            yield Path(directory, name)
        yield Path(directory)


def normalise(tree: Path) -> None:
    """Modes 644/755 and one time for everything, directories last so that they keep it."""
    for path in walk(tree):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if executable else 0o644)
        os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)


def tree_digest(tree: Path) -> str:
    """sha256 over sorted (path, kind, executable, content) of a tree that was built, compiled files left out."""
    total = hashlib.sha256()
    for path in sorted(walk(tree), key=os.fsencode):
        if path.suffix == ".pyc" or path.name == "__pycache__" or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            kind, content = "l", hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()
        else:
            kind = "x" if path.stat().st_mode & stat.S_IXUSR else "f"
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
        total.update(json.dumps([str(path.relative_to(tree)), kind, content]).encode() + b"\n")
    return total.hexdigest()
