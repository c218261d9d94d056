"""Gates `leak` and `reference` on trees: what stands in that of S3 beforehand, and whether the fixture's own
suite still passes over the reference.

Invariant: a derived fact is looked for as the oracle computes it, so that one cannot be read off a tree; the suite runs
in a sandbox, on the tree as the reference leaves it, tests included.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.report.layout import clean
from harness.gates.bench import Bench
from harness.session import CheckMemo, session_limits
from traps.gates import Problem

#: A derived text shorter than this is found anywhere by chance.
SHORTEST = 6
_SHOWN = 300  # characters of a failed suite's output


def leak_problems(bench: Bench) -> Iterator[Problem]:
    """Derived facts that stand in an S3 start tree, in the playbook or in the prompt of S3."""
    trap = bench.trap
    public = {
        "playbook.py": trap.playbook,
        trap.spec.session[2].prompt: trap.texts[trap.spec.session[2].prompt].encode(),
    }
    for history in trap.spec.history:
        derived = bench.scorer.derived(trap, history, bench.draw)
        files = {path.decode("utf-8", "replace"): entry.data for path, entry in bench.start(history).items()}
        for name, value in derived.items():
            if not isinstance(value, str) or len(value) < SHORTEST:
                continue
            for path, data in {**files, **public}.items():
                if value.encode() in data:
                    yield Problem("leak", f"{path} ({history.name})", f"holds the derived fact {name}")


def suite_problems(bench: Bench) -> Iterator[Problem]:
    """S3's public check and the fixture's whole suite over the reference of each history."""
    trap, checks = bench.trap, CheckMemo()
    limits = session_limits(bench.ready.config)
    asked = {
        "fails the public check of S3": trap.spec.session[2].check,
        "breaks the public tests": trap.fixture.spec.tests,
    }
    for history in trap.spec.history:
        tree = bench.tree(history, bench.oracle.reference(history.name))
        for what, command in asked.items():
            found = checks.run(bench.sandbox, tree, command, limits)
            if not found.passed:
                says = clean(found.output[-_SHOWN:])  # a program wrote it, and it goes to a terminal
                yield Problem("reference", f"solutions/reference ({history.name})", f"{what}: {says}")
