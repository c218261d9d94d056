"""The floor: the same commands as bare processes, without sandbox and without harness.

Trees are unpacked into a fresh folder, commands run with the toolchain's interpreter, and that is all. Invariant: the
floor runs only programs of ours (it has no isolation), and every program that the harness makes a sandbox run.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from containers.toolchain import Toolchain


class Floor:
    """Runs commands bare, with /tools replaced by the toolchain's folder."""

    def __init__(self, toolchain: Toolchain) -> None:
        self._tools = str(toolchain.directory)

    def run(self, command: tuple[str, ...], tree: bytes = b"", stdin: bytes = b"") -> int:
        """Unpack, run, remove. The exit status."""
        with tempfile.TemporaryDirectory() as folder:
            if tree:
                with tarfile.open(fileobj=io.BytesIO(tree)) as tar:
                    tar.extractall(folder, filter="tar")
            words = [w.replace("/tools/", f"{self._tools}/") for w in command]
            env = {
                "PATH": f"{self._tools}/bin:{os.defpath}",
                "HOME": folder,
                "LANG": "C.UTF-8",
                "TZ": "UTC",
                "PYTHONHOME": self._tools,
                "LD_LIBRARY_PATH": f"{self._tools}/lib",
            }
            return subprocess.run(words, cwd=Path(folder), env=env, input=stdin, capture_output=True).returncode
