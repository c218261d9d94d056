"""What a page of the documentation says is printed, against what is printed."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

from harness.cli.main import cli
from harness.outcome import UsageFault

FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
_STATUS = "; echo $?"


def shown(page: str) -> Iterator[tuple[str, list[str]]]:
    """Every command of a page with the lines that it is said to print, in order."""
    for language, _, text in FENCE.findall(page):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
                command, *lines = part.splitlines()
                yield command, lines


def printed(command: str) -> list[str]:
    """What a command of ours prints on standard output; an error is raised."""
    program, *words = shlex.split(command)
    assert program == "dreambench"
    return CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False).stdout.splitlines()


def on_terminal(command: str, here: Path) -> list[str]:
    """What a person sees of a command: also its refusal, and with `; echo $?` behind it its exit code."""
    bare = command.removesuffix(_STATUS)
    if not bare.startswith("dreambench "):
        done = subprocess.run(["sh", "-c", bare], cwd=here, capture_output=True, text=True, check=False)
        lines, code = (done.stdout + done.stderr).splitlines(), done.returncode
    else:
        try:
            done_here = CliRunner().invoke(cli, shlex.split(bare)[1:], standalone_mode=False, catch_exceptions=False)
            lines, code = done_here.stdout.splitlines(), done_here.return_value
        except UsageFault as error:
            lines, code = f"dreambench: {error}".splitlines(), error.exit_code
    return [*lines, str(code)] if bare != command else lines


def agree(said: list[str], real: list[str]) -> bool:
    """Whether a page shows what was printed; a line `…` stands for any number of lines, `…` in one for any text."""
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else _line(line) for line in said)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in real)) is not None


def _line(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…")) + "\n"
