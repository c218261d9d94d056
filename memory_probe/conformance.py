"""The conformance suite: what a condition must do before it may be scored.

Each probe opens the condition in folders of its own and looks only through the protocol. A condition is judged by what
its card claims: `selective` lets it leave text out if a receipt names it, `rewrites` lets it hold its own words if each
receipt names those, `no-k` lets it overrun k, `keeps-nothing` (an ablation) lets it hold nothing; a field that an item
shows must be claimed: `dates`, `types`, `scopes`, `tasks`, `state`, `successor`, `provenance`. Invariant: a probe never
passes for want of something to see; a memory that keeps nothing, and says so, is `not applicable`.

A condition that needs a model asks the one that it is given: about forty calls, which cost what they cost. Two runs of
it may differ, and its calls may take longer.

What cannot be probed from outside (a missing package, key or server) is probed by damaging the store: the memory must
raise MemoryFault, not answer from nothing.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memory_probe.conformance_bench import Bench, Failed, NotApplicable
from memory_probe.conformance_probes import PROBES, Probe
from memory_probe.model import Model, ModelFault
from memory_probe.opening import Condition, equipped

Verdict = Literal["passed", "failed", "not applicable"]
SLOW_SECONDS = 30.0
SLOW_WITH_MODEL = 600.0


@dataclass(frozen=True)
class ProbeResult:
    """How a probe ended and what it saw. `seconds` is its whole time; `figures` are its measurements."""

    probe: str
    verdict: Verdict
    evidence: str
    seconds: float
    figures: dict[str, float] = field(default_factory=dict)


def run_conformance(condition: Condition, slow: float | None = None, model: Model | None = None) -> list[ProbeResult]:
    """Run every probe. A call that takes longer than `slow` seconds (None: by whether there is a model behind it) fails
    the probe `measured`. Raises ModelFault when the model gives no answer, which says nothing of the condition; nothing
    else is raised."""
    if slow is None:
        slow = SLOW_WITH_MODEL if condition.card.needs_model else SLOW_SECONDS
    return [_run(name, probe, equipped(condition, model), slow) for name, probe in PROBES]


def failures(results: Sequence[ProbeResult]) -> list[ProbeResult]:
    """Those that make the condition unavailable."""
    return [result for result in results if result.verdict == "failed"]


def _run(name: str, probe: Probe, condition: Condition, slow: float) -> ProbeResult:
    begun = time.perf_counter()
    verdict: Verdict = "passed"
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        bench = Bench(condition, Path(folder), slow)
        try:
            with _closing(bench):
                evidence = probe(bench)
        except NotApplicable as error:
            verdict, evidence = "not applicable", str(error)
        except Failed as error:
            verdict, evidence = "failed", str(error)
        except ModelFault:
            raise
        except Exception as error:  # whatever a condition raises is its failure, and is shown
            verdict, evidence = "failed", f"{type(error).__name__}: {error}"
    return ProbeResult(name, verdict, evidence, time.perf_counter() - begun, bench.figures)


@contextmanager
def _closing(bench: Bench) -> Iterator[None]:
    try:
        yield
    finally:
        for memory in bench.opened:
            memory.close()
