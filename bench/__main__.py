"""`make bench`: all figures, each beside its bound; exit 3 when one is broken."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import folds, memory, peers, relay, replaying, report, sandboxes, statistics
from bench.containers import bare_container
from bench.floor import Floor
from bench.measure import Figure
from containers.bubblewrap import BubblewrapSandbox
from containers.toolchain import build_toolchain
from harness.boxes import open_sandbox
from harness.config import load
from harness.objects import ObjectStore
from harness.outcome import REJECTED
from traps.fixtures import load_fixture

MINI = Path(__file__).resolve().parent.parent / "tests" / "data" / "mini"


def figures() -> Iterator[Figure]:
    """Every figure, as it is measured."""
    yield from statistics.figures()
    yield from report.figures()
    yield from relay.figures()
    config = load(None)
    toolchain = build_toolchain(config.cache_dir)
    floor = Floor(toolchain)
    fixture = load_fixture(MINI / "traps" / "fixtures", "mini", config.cache_dir)
    with tempfile.TemporaryDirectory() as folder, BubblewrapSandbox(toolchain) as box:
        store = ObjectStore(Path(folder) / "objects.git")
        yield from sandboxes.figures(box, floor, fixture, store)
        yield from folds.figures(box, floor, MINI)
        yield from replaying.figures(box)
        yield from memory.figures(box, MINI)
        yield from peers.figures(box)
        from containers.docker import check

        if problem := check():
            print(f"docker is not measured: {problem}")
            return
        with open_sandbox(load(None, ["sandbox=docker"]), "bench") as box_in_docker, bare_container(config) as bare:
            yield from sandboxes.docker_figures(box_in_docker, bare, fixture, store)


def main() -> int:
    """Print figures as they come."""
    broken = 0
    for figure in figures():
        print(figure.line(), flush=True)
        broken += not figure.holds
    return REJECTED if broken else 0


if __name__ == "__main__":
    sys.exit(main())
