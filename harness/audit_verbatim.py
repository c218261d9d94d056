"""`audit --verbatim`: does an event hold what session 3 needs, is there work beyond it, and would pasting be enough.

The facts that a trap is about are those in the slots of its reference solution; the lines of the reference change that
have a slot hold facts, all others are further work. Pasting is tried, not argued: changes that hold nothing but the
event or the facts go to the oracle, from a note at the end of every file that the reference touches to the reference's
own lines with facts, put exactly where they belong. Invariant: a trap that could not be looked at is told with the
reason and is in no total.
"""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from jinja2 import meta

from containers.sandbox import Sandbox, SandboxError
from harness.config import RunConfig
from harness.delta import Change, changes, glob
from harness.gates.bench import Bench, ran, starts
from harness.outcome import Fault
from harness.run import prepare
from harness.score import Scorer
from harness.snapshot import Entry, overlay
from memory_probe.ladder import conditions
from oracles.folder import OracleFolder
from oracles.solutions import Expectation, SolutionError
from traps.facts import environment
from traps.fixtures import File, Tree
from traps.load import note_text
from traps.schema import History, TrapError

_HASHED = {".py", ".toml", ".cfg", ".ini", ".yml", ".yaml", ".sh", ".txt", ""}
#: Pastes, from the clumsiest to the one that knows where each fact belongs.
PASTES = ("note as a comment", "note as text", "facts as values", "fact lines added", "fact lines in place")


@dataclass(frozen=True)
class Looked:
    """One history of a trap in which the evidence is to be used.

    facts    names that the reference solution has slots for
    held     those whose value stands in an event of the history word for word
    lines    lines that the reference adds or changes, without empty ones and generated files
    bearing  those of them that hold a fact
    removed  lines, and whole files, that the reference takes out
    files    files that it changes
    pasted   outcome of each paste
    """

    trap: str
    construct: str
    history: str
    facts: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    lines: int = 0
    bearing: int = 0
    removed: int = 0
    files: int = 0
    pasted: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""

    @property
    def contract(self) -> str:
        """Whether prior events hold the facts: all, some, none, or "-" when there are none."""
        if not self.facts:
            return "-"
        return "all" if len(self.held) == len(self.facts) else "some" if self.held else "none"

    @property
    def further(self) -> int:
        """Lines of work that no fact is in."""
        return self.lines - self.bearing + self.removed

    @property
    def enough(self) -> tuple[str, ...]:
        """Pastes that pass: there must be none."""
        return tuple(name for name, outcome in self.pasted.items() if outcome == "pass")


def look(config: RunConfig, sandbox: Sandbox) -> list[Looked]:
    """Every trap of the configuration, in its order. Raises UsageFault for what a person can mend."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = {"conditions": ("EVIDENCE",), "seeds": 1, "first_seed": 1, "readers": ("careful",), "facts_from": "",
                  "haystack": 0, "family": ""}  # fmt: skip
        known = {"EVIDENCE": conditions()["EVIDENCE"]}
        ready = prepare(config.model_copy(update=wanted), Path(folder) / "run", known)
        records = ran(ready, sandbox)
        scorer = Scorer(sandbox, ready.plan, ready.config)
        benches = [
            Bench(trap, ready, sandbox, scorer, starts(ready, [r for r in records if r.trap == name]))
            for name, trap in ready.plan.traps.items()
        ]
        jobs = [(b, history) for b in benches for history in b.trap.spec.history if history.expect == "use"]
        with ThreadPoolExecutor(config.workers) as pool:
            return list(pool.map(lambda job: _looked(*job), jobs))


def _looked(bench: Bench, history: History) -> Looked:
    trap = bench.trap
    try:
        row = bench.oracle.reference(history.name)
        change = bench.change(history, row).production
        values = {**bench.draw.facts, **bench.scorer.derived(trap, history, bench.draw)}
        names = tuple(n for n in slots(bench.oracle, row) if n in values)
        told = [
            note_text(trap, e, bench.draw.facts, bench.draw.refs) for n in (1, 2) for e in trap.events(history.name, n)
        ]
        held = tuple(name for name in names if any(str(values[name]) in text for text in told))
        work = [Work.of(c, bearing(bench.oracle, row, c, [str(values[n]) for n in names])) for c in change]
        pasted = {name: _tried(bench, history, tree) for name, tree in _pastes(bench, history, work, values, names)}
    except (Fault, SandboxError, SolutionError, TrapError) as error:
        return Looked(trap.id, trap.construct, history.name, stopped=str(error))
    generated = [glob(pattern) for pattern in trap.spec.artifacts]
    by_hand = [w for w in work if not any(rule.fullmatch(w.path) for rule in generated)]
    return Looked(
        trap.id,
        trap.construct,
        history.name,
        facts=names,
        held=held,
        lines=sum(w.added for w in by_hand),
        bearing=sum(w.with_fact for w in by_hand),
        removed=sum(w.removed for w in by_hand),
        files=len(by_hand),
        pasted=pasted,
    )


def slots(oracle: OracleFolder, row: Expectation) -> tuple[str, ...]:
    """Names in the slots of a solution's files, sorted."""
    found: set[str] = set()
    for file in oracle.overlays.get(row.name, {}).values():
        text = _text(file.data)
        if text is not None and "<<" in text:
            found |= meta.find_undeclared_variables(environment().parse(text))
    return tuple(sorted(found))


def bearing(oracle: OracleFolder, row: Expectation, change: Change, values: Sequence[str]) -> frozenset[int]:
    """Numbers (from 0) of the lines of a changed file that hold a fact: those with a slot in the solution's template.

    A template whose lines are not those of the filled file is judged by the values themselves.
    """
    new = _lines(change.new)
    file = oracle.overlays.get(row.name, {}).get(change.path.decode("utf-8", "surrogateescape"))
    template = (_text(file.data) or "").splitlines(keepends=True) if file else []
    if len(template) == len(new):
        return frozenset(number for number, line in enumerate(template) if "<<" in line)
    return frozenset(number for number, line in enumerate(new) if any(value in line for value in values))


@dataclass(frozen=True)
class Work:
    """One file of the reference change. `added` counts lines that are not empty, `with_fact` those with a fact."""

    path: bytes
    old: tuple[str, ...]
    new: tuple[str, ...]
    facts: frozenset[int]
    blocks: tuple[tuple[str, int, int, int, int], ...]

    @staticmethod
    def of(change: Change, facts: frozenset[int]) -> Work:
        old, new = _lines(change.old), _lines(change.new)
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return Work(change.path, tuple(old), tuple(new), facts, tuple(blocks))

    @property
    def added(self) -> int:
        return sum(bool(self.new[n].strip()) for n in self._fresh())

    @property
    def with_fact(self) -> int:
        return sum(bool(self.new[n].strip()) and n in self.facts for n in self._fresh())

    @property
    def removed(self) -> int:
        return sum(bool(self.old[n].strip()) for tag, a, b, _, _ in self.blocks if tag == "delete" for n in range(a, b))

    def only_facts(self, in_place: bool) -> str:
        """The old file with the new lines that hold facts: beside the lines they replace, or instead of them."""
        out: list[str] = []
        for tag, a, b, c, d in self.blocks:
            before, lines = self.old[a:b], [self.new[n] for n in range(c, d) if n in self.facts]
            if tag == "equal" or not lines:
                out += before
            elif in_place and b - a == d - c:
                out += [self.new[c + n] if c + n in self.facts else self.old[a + n] for n in range(b - a)]
            else:
                out += lines if in_place else [*before, *lines]
        return "".join(out)

    def _fresh(self) -> Iterator[int]:
        return (n for tag, _, _, c, d in self.blocks if tag in ("insert", "replace") for n in range(c, d))


def _pastes(
    bench: Bench, history: History, work: Sequence[Work], values: Mapping[str, object], names: Sequence[str]
) -> Iterator[tuple[str, Tree]]:
    """Each paste as files to lay over the start tree; those that the reference deletes stay as they are."""
    trap, draw = bench.trap, bench.draw
    notes = "\n".join(note_text(trap, note, draw.facts, draw.refs) for note in trap.evidence(history.name))
    told = [str(values[name]) for name in names]

    def everywhere(add: Callable[[str], str]) -> Tree:
        return _tree(bench, history, {w.path: _ended("".join(w.old)) + add(_suffix(w.path)) for w in work if w.new})

    yield PASTES[0], everywhere(lambda suffix: _comment(suffix, notes))
    yield PASTES[1], everywhere(lambda suffix: f"NOTES = {notes!r}\n" if suffix == ".py" else _ended(notes))
    yield (
        PASTES[2],
        everywhere(
            lambda suffix: "".join(
                f"FACT_{n} = {value!r}\n" if suffix == ".py" else f"{value}\n" for n, value in enumerate(told, 1)
            )
        ),
    )
    for name, in_place in ((PASTES[3], False), (PASTES[4], True)):
        yield name, _tree(bench, history, {w.path: w.only_facts(in_place) for w in work if w.new and w.facts})


def _tree(bench: Bench, history: History, files: Mapping[bytes, str]) -> Tree:
    """Files to lay over the start tree; what is a program there stays one."""
    start = bench.start(history)
    found: Tree = {}
    for path, text in files.items():
        executable = path in start and start[path].mode == "100755"
        found[path.decode("utf-8", "surrogateescape")] = File(text.encode("utf-8", "surrogateescape"), executable)
    return found


def _tried(bench: Bench, history: History, files: Tree) -> str:
    """The outcome of a change. Raises Fault, SandboxError when our side broke."""
    start = bench.start(history)
    delta = bench.sorted(changes(start, overlay(start, files)))
    return bench.scorer.end(bench.trap, history, bench.draw, "-", start, delta).outcome.value


def _comment(suffix: str, text: str) -> str:
    mark = "# " if suffix in _HASHED else "-- " if suffix == ".sql" else ""
    return "".join(f"{mark}{line}".rstrip() + "\n" for line in text.splitlines())


def _suffix(path: bytes) -> str:
    return PurePosixPath(path.decode("utf-8", "replace")).suffix


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _lines(entry: Entry | None) -> list[str]:
    """Lines with their ends; bytes that are not UTF-8 travel through as surrogates."""
    return entry.data.decode("utf-8", "surrogateescape").splitlines(keepends=True) if entry else []


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
