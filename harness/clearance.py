"""Which conditions may be scored: the conformance suite, run once for each before the first session of a run.

Invariant: a condition that fails is `unavailable` in every arm, with the failed probes as evidence; it is neither a
pass nor a loss, and nothing is asked of it. What was found is kept in conformance.json, so that a resumed run does not
judge anew. Instruments are filled by the harness and are not probed.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.judge import Judge
from harness.outcome import UsageFault
from harness.rundir import RunDir
from memory_probe.conformance import ProbeResult, failures, run_conformance
from memory_probe.opening import Condition
from traps.schema import explain

FILE = "conformance.json"


class Clearance(BaseModel):
    """What the suite said about one version of a condition; `failed` are probes with what they saw."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    version: str
    passed: int
    not_applicable: int
    failed: dict[str, str]

    @property
    def why(self) -> str:
        """The cause of an unavailable arm; empty for a condition that may be scored."""
        return "conformance: " + "; ".join(f"{name}: {saw}" for name, saw in self.failed.items()) if self.failed else ""


def cleared(
    folder: RunDir, conditions: Mapping[str, Condition], jobs: int, judge: Judge | None = None
) -> dict[str, Clearance]:
    """The clearance of every condition that is no instrument, from the file or newly found and stored.

    Those that ask a model ask the `judge`. A memory that the agent keeps itself has nothing that could be probed.
    Raises UsageFault for a damaged file, ModelFault when the model gives no answer.
    """
    known = _stored(folder)
    wanted = {code: c for code, c in conditions.items() if not (c.card.instrument or c.kept_by_agent)}
    fresh = [c for code, c in wanted.items() if code not in known or known[code].version != c.card.version]
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        found = list(pool.map(lambda condition: _probed(condition, judge or Judge()), fresh))
    known |= {c.card.code: _judged(c, results) for c, results in zip(fresh, found, strict=True)}
    if fresh:
        folder.write_json(FILE, {"conditions": {code: known[code].model_dump() for code in sorted(known)}})
    return {code: known[code] for code in wanted}


def refused(clearances: Mapping[str, Clearance]) -> dict[str, str]:
    """Condition -> why it is unavailable."""
    return {code: clearance.why for code, clearance in clearances.items() if clearance.failed}


def _probed(condition: Condition, judge: Judge) -> list[ProbeResult]:
    if not condition.card.needs_model:
        return run_conformance(condition)
    sitting = judge.sit(f"conformance of {condition.card.code}")
    try:
        return run_conformance(condition, model=sitting.model)
    finally:
        sitting.leave()


def _judged(condition: Condition, results: list[ProbeResult]) -> Clearance:
    failed = {result.probe: result.evidence[:300] for result in failures(results)}
    count = {verdict: sum(r.verdict == verdict for r in results) for verdict in ("passed", "not applicable")}
    return Clearance(
        version=condition.card.version,
        passed=count["passed"],
        not_applicable=count["not applicable"],
        failed=failed,
    )


def _stored(folder: RunDir) -> dict[str, Clearance]:
    if not (folder.path / FILE).exists():
        return {}
    data = folder.read_json(FILE).get("conditions")
    try:
        if not isinstance(data, dict):
            raise UsageFault(f"{folder.path / FILE}: damaged: conditions is missing")
        return {code: Clearance.model_validate(each) for code, each in data.items()}
    except ValidationError as error:
        raise UsageFault(f"{folder.path / FILE}: damaged: {explain(error)}") from error
