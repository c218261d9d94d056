"""Check a trap: the static gates, then everything that has to be run to be believed.

Invariant: a gate reports what it saw and never mends or guesses; every run happens in a sandbox, on a draw of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from containers.sandbox import Sandbox, SandboxError
from harness.config import RunConfig
from harness.gates.answers import Seen, hostile_problems, judged, missing_problems
from harness.gates.around import Remembered
from harness.gates.bench import Bench, narrowed, ran, starts
from harness.gates.instruments import (
    EVERY,
    covering,
    further,
    instrument_problems,
    instruments,
    sufficient,
)
from harness.gates.stable import PLACES, SCORINGS, Elsewhere, clock_problems, scoring_problems
from harness.gates.trees import leak_problems, suite_problems
from harness.outcome import Fault, Outcome
from harness.records import ArmRecord
from harness.run import Prepared, prepare
from harness.score import Scorer
from oracles.solutions import SolutionError
from traps.diversity import Print, diversity_problems, fingerprint, nearest
from traps.gates import Problem, static_problems
from traps.hosted import HostedError
from traps.load import Trap, discover, load_trap
from traps.schema import TrapError

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Report:
    """The problems of a trap, the solutions as seen, and what was looked at: one line a gate.

    `alone` are events that suffice by themselves (what the published rule rejects for every construct but C1);
    `seconds` is what the check took.
    """

    trap: str
    problems: tuple[Problem, ...]
    seen: tuple[Seen, ...]
    evidence: tuple[str, ...]
    alone: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Others:
    """The prints of every trap that there is, by id, and the names of folders that cannot be read."""

    prints: Mapping[str, Print] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def others(config: RunConfig) -> Others:
    """What a trap is compared with: all traps of the folder. One that is broken hinders no other's check."""
    prints: dict[str, Print] = {}
    unread = []
    root, oracles = Path(config.traps_dir), Path(config.oracles_dir)
    for folder in discover(root):
        name = f"{folder.parent.name}_{folder.name}"
        try:
            # what it has to stand up to itself is for its own check: here its texts are compared
            trap = load_trap(folder, root / "fixtures", config.cache_dir, checked=False)
            prints[name] = fingerprint(trap, _source(oracles / folder.parent.name / folder.name))
        except (TrapError, HostedError, OSError):
            unread.append(name)
    return Others(prints, tuple(unread))


def _print(config: RunConfig, trap: Trap) -> Print:
    return fingerprint(trap, _source(Path(config.oracles_dir) / trap.folder.parent.name / trap.folder.name))


def _source(folder: Path) -> str:
    return (folder / "oracle.py").read_text("utf-8", "replace")


def check_traps(config: RunConfig, traps: Iterable[Trap], sandbox: Sandbox) -> Iterator[tuple[Trap, Report]]:
    """Each trap with its report, in the order given, as soon as it is there.

    Several traps are checked side by side, one worker each: parts of a check are serial, so one trap alone cannot use
    every core. Raises as `check_trap`; what has not begun by then is not begun.
    """
    todo, beside = list(traps), others(config)
    side_by_side = min(config.workers, len(todo))
    inner = config.model_copy(update={"jobs": max(config.workers // max(side_by_side, 1), 1)})
    with ThreadPoolExecutor(max(side_by_side, 1)) as pool:
        running = [pool.submit(_timed, inner, trap, sandbox, beside) for trap in todo]
        try:
            for trap, report in zip(todo, running, strict=True):
                yield trap, report.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _timed(config: RunConfig, trap: Trap, sandbox: Sandbox, beside: Others) -> Report:
    begun = time.perf_counter()
    report = check_trap(config, trap, sandbox, beside)
    return replace(report, seconds=time.perf_counter() - begun)


def check_trap(config: RunConfig, trap: Trap, sandbox: Sandbox, beside: Others | None = None) -> Report:
    """Run every gate on one trap, `beside` other traps. Raises UsageFault only for what keeps the check from running.

    Gates go from cheap to dear: a trap whose files are not right is not run, and only one without any other problem is
    looked at for `hostile` and `stable`. The evidence says what was not looked at.
    """
    beside = beside or Others()
    own = _print(config, trap)
    if static := [*static_problems(trap), *diversity_problems(own, beside.prints)]:
        return Report(trap.id, tuple(static), (), ("nothing was run: the files come first",))
    problems: list[Problem] = []
    seen: list[Seen] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ready, records, scorer = _instruments(config, trap, sandbox, folder)
        problems += instrument_problems(trap, records)
        bench = Bench(trap, ready, sandbox, scorer, starts(ready, records))
        try:
            seen, suites = _beside(lambda: judged(bench, config.workers), lambda: list(suite_problems(bench)))
            problems += [problem for found in seen if (problem := found.problem)]
            problems += [*missing_problems(bench, seen), *leak_problems(bench), *suites]
            looked = not problems
            if looked:
                problems += _last_problems(bench, records, seen, folder)
        except (Fault, SandboxError, SolutionError, TrapError) as error:
            problems.append(Problem("wrong answers", "oracle", str(error)))
            looked = False
    alone = sufficient(records)
    evidence = (*_evidence(seen, records, alone, looked), *_compared(own, beside))
    return Report(trap.id, tuple(problems), tuple(seen), evidence, alone)


def _beside(one: Callable[[], S], other: Callable[[], T]) -> tuple[S, T]:
    """Two looks at the same time: each is serial in parts, which would leave a core idle. Raises what they raise."""
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(other)
        return one(), second.result()


def _compared(own: Print, beside: Others) -> Iterator[str]:
    name, share = nearest(own, beside.prints)
    if name:
        yield f"nearest: {name} ({share:.2f})"
    if unread := [other for other in beside.unread if other != own.trap]:
        yield f"not compared with {', '.join(unread)}, which cannot be read"


def _last_problems(bench: Bench, records: Sequence[ArmRecord], seen: Sequence[Seen], folder: Path) -> Iterator[Problem]:
    """From the cheapest look to the dearest; the first that finds something ends it."""
    programs = {"oracle.py": bench.oracle.source.decode("utf-8"), "playbook.py": bench.trap.playbook.decode("utf-8")}
    moved: list[ArmRecord] = []

    def elsewhere() -> Iterator[Problem]:
        moved.extend(_elsewhere(bench.ready.config, bench.trap, bench.sandbox, folder))
        return _moved_problems(records, moved)

    def hostile_and_elsewhere() -> Iterator[Problem]:
        answers, places = _beside(lambda: list(hostile_problems(bench)), lambda: list(elsewhere()))
        yield from answers or places

    looks: tuple[Callable[[], Iterator[Problem]], ...] = (
        lambda: clock_problems(programs),
        hostile_and_elsewhere,
        lambda: scoring_problems(bench, seen, len(moved) + _varied(bench, records), bench.ready.config.workers),
    )
    for look in looks:
        if found := list(look()):
            yield from found
            return


def _varied(bench: Bench, records: Sequence[ArmRecord]) -> int:
    """Scorings of the reference on other draws: gate `solvable` asked that each say the same."""
    return sum(record.condition == "EVIDENCE" for record in records) - len(bench.trap.spec.history)


def _evidence(seen: Sequence[Seen], records: Sequence[ArmRecord], alone: Sequence[str], looked: bool) -> Iterator[str]:
    right = sum(s.declared == s.got for s in seen)
    yield f"{right} of {len(seen)} solutions as declared"
    yield f"{len(records)} instrument arms"
    yield f"events that suffice alone: {', '.join(alone) or 'none'}"
    yield f"{SCORINGS} scorings, two other places" if looked else "hostile and stable wait until the rest holds"


def _instruments(
    config: RunConfig, trap: Trap, sandbox: Sandbox, folder: Path
) -> tuple[Prepared, list[ArmRecord], Scorer]:
    """All instruments on one draw; with choices, also the two that must pass on draws that meet every variant.

    The scorer comes back because a stored solution may be what an arm did, to the byte, and is then judged already.
    """
    known, once = instruments(trap), Remembered(sandbox)
    ready = prepare(narrowed(config, trap, tuple(known), 1), folder / "run", known)
    scorer = Scorer(sandbox, ready.plan, ready.config)
    if not (needed := further(trap)):
        return ready, ran(ready, once, scorer), scorer
    more = prepare(narrowed(config, trap, ("EVIDENCE", EVERY), needed), folder / "variants", known)
    more.draws = covering(trap, ready.draws[trap.id, ready.plan.seeds[0]], more.draws)
    first, others = _beside(lambda: ran(ready, once, scorer), lambda: ran(more, once))
    return ready, first + others, scorer


def _elsewhere(config: RunConfig, trap: Trap, sandbox: Sandbox, folder: Path) -> list[ArmRecord]:
    """The instruments of the fold, on the same facts, in two other places."""
    codes, known = ("B0", "EVIDENCE"), instruments(trap)
    again = narrowed(config, trap, codes, 1).model_copy(update={"facts_from": str(folder / "run")})

    def at(number: int) -> list[ArmRecord]:
        moved = Elsewhere(sandbox, PLACES[number])
        return ran(prepare(again, folder / f"place-{number}", known), moved, checked=())

    one, other = _beside(lambda: at(1), lambda: at(2))
    return one + other


def _moved_problems(records: Sequence[ArmRecord], elsewhere: Sequence[ArmRecord]) -> Iterator[Problem]:
    at_home: dict[str, list[tuple[Outcome, str]]] = {}
    for record in records:  # the first draw comes first; a later one of the same name has other variants
        at_home.setdefault(record.arm, [(e.outcome, e.cause) for e in record.endings])
    for record in elsewhere:
        ended = [(e.outcome, e.cause) for e in record.endings]
        if ended != at_home.get(record.arm):
            where = f"{record.condition}/{record.history}"
            yield Problem("stable", where, f"another place, another outcome: {_says(at_home.get(record.arm))} became "
                          f"{_says(ended)}")  # fmt: skip


def _says(ended: object) -> str:
    return "; ".join(f"{outcome.value} {cause}".strip() for outcome, cause in ended) if isinstance(ended, list) else "-"
