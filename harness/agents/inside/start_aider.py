"""Start aider with the files that a task names: sources to edit, tests to read.

    python3 start_aider.py PROMPT HEADING PROGRAM WORD...      (in the tree)

Invariant: this process becomes the program; the files are those of `named`, whatever the program would find by itself.
"""

from __future__ import annotations

import os
from pathlib import Path

from .named import is_test, named_files, task_of


def main(arguments: list[str]) -> None:
    """Does not return."""
    prompt, heading, program, *words = arguments
    task = task_of(Path(prompt).read_bytes().decode("utf-8"), heading)
    for path in named_files(task, Path.cwd()):
        words += ["--read" if is_test(path) else "--file", path]
    print("files:", *words[len(arguments) - 3 :], flush=True)
    os.execv(program, [os.path.basename(program), *words])
