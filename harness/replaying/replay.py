"""Replay: every recorded S3 change is scored once more with the run's oracles, and compared with what was recorded.

A change is taken from the trees of its session, never from a verdict; the tree it starts from must be the one that the
trap and the sessions before lead to. Invariant: the run is read and never written; each recorded ending is scored
again, kept for a reason that is counted, or a difference that is named; what breaks on one arm costs that arm alone.

Sessions, public checks and views are not repeated here.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis.report.layout import Document, Section, Table, as_text
from containers.sandbox import Sandbox, Spec
from harness.arm import as_fault
from harness.bundle.opened import Opened
from harness.outcome import Fault, Outcome, UsageFault
from harness.plan import Plan
from harness.records import ArmRecord, Ending, stopped_by
from harness.replaying.comparison import Difference, compared, shortened
from harness.replaying.copied import write_run
from harness.replaying.recorded import Recorded, kept
from harness.replaying.slots import fill_strictly
from harness.rundir import RunDir
from harness.score import Scorer

Tell = Callable[[ArmRecord], None]


@dataclass(frozen=True)
class Replayed:
    """What a replay found.

    records    the arms that were looked at, in the order of the plan, with their endings as they are now
    of         how many arms the run has
    scored     endings that were scored again; `shared` of them repeat a verdict on the same tree, change and draw
    kept       reason -> endings that no scoring made, taken over as they were
    broken     endings that could not be scored here (each is a difference)
    recorded   seconds that judging took in the run, as recorded; 0 where that was not recorded
    judging    seconds that judging took here, all workers together; `wall` is the time that passed
    """

    records: tuple[ArmRecord, ...]
    of: int
    differences: tuple[Difference, ...]
    scored: int
    shared: int
    kept: Mapping[str, int]
    broken: int
    recorded: float
    judging: float
    wall: float

    @property
    def same(self) -> bool:
        """Whether everything that was looked at is as recorded."""
        return not self.differences

    @property
    def endings(self) -> int:
        return self.scored + self.broken + sum(self.kept.values())

    def plain(self) -> dict[str, Any]:
        """As JSON takes it, without the records."""
        told = {name: value for name, value in vars(self).items() if name not in ("records", "differences")}
        rows = [asdict(difference) for difference in self.differences]
        return {"arms": len(self.records), "endings": self.endings, **told, "same": self.same, "differences": rows}


@dataclass(frozen=True)
class _One:
    """One arm after its replay: the endings, and for each "scored", "broken" or the reason why it was kept."""

    record: ArmRecord
    differences: tuple[Difference, ...]
    how: tuple[tuple[str, str], ...]


def replay(
    run: Opened, sandbox: Sandbox, jobs: int, chosen: Sequence[ArmRecord] | None = None, tell: Tell = lambda _: None
) -> Replayed:
    """Score the recorded changes of `chosen` (default: all) arms again, `jobs` at a time, in fresh sandboxes.

    `tell` hears each arm as it ends, in this thread. Raises UsageFault for a run without its facts.
    """
    return score_again(run, run.scoring_plan(), sandbox, jobs, run.records if chosen is None else chosen, tell)


def sampled(records: Sequence[ArmRecord], n: int, seed: int) -> list[ArmRecord]:
    """`n` arms at random, in the order of `records`: the same for the same arms, number and seed. Raises UsageFault."""
    if n < 1:
        raise UsageFault(f"a sample of {n} arms: at least one")
    arms = sorted(record.arm for record in records)
    drawn = set(arms if n >= len(arms) else random.Random(seed).sample(arms, n))
    return [record for record in records if record.arm in drawn]


def score_again(
    run: Opened, plan: Plan, sandbox: Sandbox, jobs: int, records: Sequence[ArmRecord], tell: Tell
) -> Replayed:
    """As `replay`, with the oracles of `plan`."""
    if not run.revealed:
        raise UsageFault(f"{run.folder.path}: the facts are not here, and without them nothing can be scored")
    _warm(sandbox, jobs)
    begun = time.perf_counter()
    # slots of stored solutions are filled here, not in a sandbox, and the oracles may be anybody's
    scorer = Scorer(sandbox, plan, run.config, fill_strictly)
    recorded = Recorded(run)
    found: dict[str, _One] = {}
    pool = ThreadPoolExecutor(max(jobs, 1), thread_name_prefix="replay")
    try:
        for done in as_completed([pool.submit(_arm, recorded, scorer, record) for record in records]):
            one = done.result()
            found[one.record.arm] = one
            tell(one.record)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return _summed(run, records, [found[r.arm] for r in records], time.perf_counter() - begun)


def _warm(sandbox: Sandbox, jobs: int) -> None:
    """Start what a sandbox starts once for each worker: in a run that was there before anything was scored."""
    idle = Spec(command=("sleep", "0.2"), cwd="/")  # long enough that each worker has one of its own
    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        list(pool.map(sandbox.run, [idle] * max(jobs, 1)))


def _arm(recorded: Recorded, scorer: Scorer, record: ArmRecord) -> _One:
    told: list[Difference] = []
    try:
        told += recorded.told(record)
    except Exception as error:  # of a hostile run: any part of it may be nonsense
        told.append(Difference(record.arm, "-", "record", "an arm", shortened(f"cannot be read: {_why(error)}")))
    endings: list[Ending] = []
    how: list[tuple[str, str]] = []
    for old in record.endings:
        new, word, reason = _ending(recorded, scorer, record, old)
        endings.append(new)
        how.append((word, reason))
        if word == "broken":
            told.append(Difference(record.arm, old.reader, "scoring", old.outcome.value, shortened(reason)))
        elif word == "scored":
            told += compared(record.arm, old, new)
    return _One(record.model_copy(update={"endings": tuple(endings)}), tuple(told), tuple(how))


def _ending(recorded: Recorded, scorer: Scorer, record: ArmRecord, old: Ending) -> tuple[Ending, str, str]:
    """The ending as it is now, and ("scored", ""), ("kept", reason) or ("broken", why)."""
    try:
        if reason := kept(old, recorded.run.sessions(record)):
            return old, "kept", reason
        case = recorded.case(record, old)
        stopped = stopped_by(case.session)
        new = scorer.end(case.trap, case.history, case.draw, old.reader, case.start, case.delta, stopped)
        return case.traced(old, new), "scored", ""
    except Exception as error:  # whatever it is, it is this arm's and no reason to stop
        why = f"could not be scored: {_why(error)}"
        boundary = as_fault(error).boundary
        return Ending(reader=old.reader, outcome=Outcome.INVALID, cause=why, boundary=boundary), "broken", why


def _why(error: Exception) -> str:
    return error.reason if isinstance(error, Fault) else as_fault(error).reason


def _summed(run: Opened, records: Sequence[ArmRecord], ones: Sequence[_One], wall: float) -> Replayed:
    how = Counter(pair for one in ones for pair in one.how)
    now = [e for one in ones for e, (word, _) in zip(one.record.endings, one.how, strict=True) if word == "scored"]
    return Replayed(
        records=tuple(one.record for one in ones),
        of=len(run.records),
        differences=tuple(d for one in ones for d in one.differences),
        scored=len(now),
        shared=sum(e.shared for e in now),
        kept={reason: n for (word, reason), n in sorted(how.items()) if word == "kept"},
        broken=sum(n for (word, _), n in how.items() if word == "broken"),
        recorded=round(sum(e.judging for r in records for e in r.endings), 3),
        judging=round(sum(e.judging for e in now), 3),
        wall=round(wall, 3),
    )


def write_replayed(run: Opened, replayed: Replayed, out: Path) -> RunDir:
    """A new run directory with the endings as they are now; report and analysis are made from it as from any run.

    Arms that were not looked at are owed in it. Raises UsageFault when `out` is not empty or lies in the run.
    """
    told = {"plan_digest": run.stored.plan_digest, "draw_digest": run.stored.draw_digest}
    planned = {name: run.folder.path / name for name in ("plan.json", "amendments.json")}
    return write_run(run, replayed.records, out, {"replay_of": told}, planned)


HEADS = ("arm", "reader", "what", "recorded", "now")


def replayed_text(replayed: Replayed, title: str = "Replay") -> str:
    """What was done, and every difference as a row."""
    rows = tuple((d.arm, d.reader, d.field, d.recorded, d.replayed) for d in replayed.differences)
    tables = (Table("Differences", HEADS, rows),) if rows else ()
    return as_text(Document(title, tuple(_sentences(replayed)), (Section("Verdicts", (), tables),) if rows else ()))


def _sentences(done: Replayed) -> list[str]:
    kept_ = "; ".join(f"{number} {reason}" for reason, number in done.kept.items())
    past = f"{done.recorded:.1f} s in the run" if done.recorded else "not recorded in the run"
    return [
        f"{len(done.records)} of {done.of} arms with {done.endings} endings were looked at: {done.scored} were scored "
        f"again ({done.shared} of them share the verdict of another), {sum(done.kept.values())} were not made by "
        f"scoring and are kept{f' ({kept_})' if kept_ else ''}, {done.broken} could not be scored here.",
        f"Judging took {done.judging:.1f} s here, all workers together ({done.wall:.1f} s passed), and {past}.",
        "Everything is as recorded." if done.same else f"{len(done.differences)} differences.",
    ]
