"""What a sandbox costs: no-op sessions, sessions with git and pytest, two workers, docker against bare containers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from bench.floor import Floor
from bench.measure import Figure, in_turn, note, ratio, seconds
from containers.sandbox import WORK, Mount, Sandbox, Spec
from harness.objects import ObjectStore
from harness.snapshot import of_tree
from traps.fixtures import Fixture

NOOP = ("python3", "-c", "pass")
WORKED = ("sh", "-c", "git add -A && git commit -qm work --allow-empty && python3 -m pytest -q -p no:cacheprovider")


def figures(box: Sandbox, floor: Floor, fixture: Fixture, store: ObjectStore) -> Iterator[Figure]:
    """Ratios of the embedded sandbox to the floor."""
    inside, bare = in_turn(lambda: box.run(Spec(NOOP)), lambda: floor.run(NOOP), 60)
    yield Figure("no-op session, p50 over a bare python -c pass", ratio(inside, bare), 3.0, note=note(inside, bare))
    tree = store.session_tar(of_tree(fixture.tree))
    spec = Spec(WORKED, mounts={WORK: Mount(tree, writable=True)}, exports=(WORK,))
    inside, bare = in_turn(lambda: box.run(spec), lambda: floor.run(WORKED, tree), 9)
    yield Figure("session with git and pytest over the floor", ratio(inside, bare), 1.6, note=note(inside, bare))
    one, two = in_turn(lambda: _many(box, 1, 40), lambda: _many(box, 2, 40), 7)
    # A guard, not the promise about two jobs (bench.folds has that, on whole arms): making and ending namespaces takes
    # locks of the kernel, and on two cores the rate of empty sessions was seen between 1.3 and 1.85 within one minute.
    yield Figure(
        "no-op sessions: two workers over one (rate)", ratio(one, two), 1.2, at_least=True, note=note(one, two)
    )


def _many(box: Sandbox, workers: int, count: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda _: box.run(Spec(NOOP)), range(count)))


def docker_figures(
    box: Sandbox, bare: Callable[[bytes], object], fixture: Fixture, store: ObjectStore
) -> Iterator[Figure]:
    """Ratio of the docker sandbox to a bare loop of the same container life cycle with copy in and out."""
    tree = store.session_tar(of_tree(fixture.tree))
    spec = Spec(NOOP, mounts={WORK: Mount(tree, writable=True)}, exports=(WORK,))
    ours, theirs = in_turn(lambda: box.run(spec), lambda: bare(tree), 9)
    yield Figure("docker session over a bare container life cycle", ratio(ours, theirs), 1.3, note=note(ours, theirs))


def rate(box: Sandbox, count: int, workers: int) -> float:
    """No-op sessions a second."""
    return count / seconds(lambda: _many(box, workers, count))
