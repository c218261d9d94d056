"""Scaffolds: the files of a new trap and its oracle, which pass the static gates and cannot be admitted as they are.

What a construct needs is data (`traps.blueprint`). Invariant: every sentence that the author owes bears the mark of
`traps.unwritten`; nothing is written unless all of it is.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from traps import facts
from traps.background_file import load_background
from traps.blueprint import Common, Note, Plan, PlannedFact, Solution, Wanted, common, plan
from traps.fixtures import Fixture
from traps.load import CANARY
from traps.schema import TrapError

CANARY_LINE = f"<!-- dreambench canary {CANARY} -->\n"
_FIRST = dt.date(2026, 3, 2)  # a Monday, for fixtures without a background
_PREFIXES = ("mark", "item", "entry")
_NOT_NAMED = re.compile(r"token|secret|password|passwd|credential|key")
Files = dict[str, str]


def scaffold(wanted: Wanted, fixture: Fixture, begins: dt.date) -> tuple[Files, Files]:
    """The texts of the trap folder and of the oracle folder by path; session 1 is on `begins`."""
    place = wanted.place or _largest(fixture)
    return _Scaffold(wanted, plan(wanted.construct), common(), fixture, begins, place).files()


def begin(fixtures: Path, name: str) -> dt.date:
    """The first Monday two weeks after the fixture's background has ended."""
    if not (fixtures / name / "background.toml").is_file():
        return _FIRST
    day = load_background(fixtures, name).spec.ends + dt.timedelta(days=14)
    return day + dt.timedelta(days=-day.weekday() % 7)


def stage(root: Path, part: Path, files: Mapping[str, str]) -> Path:
    """Write files below a hidden folder of `root`, in `part` (cN/slug); the hidden folder."""
    hidden = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    try:
        for path, text in files.items():
            target = hidden / part / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode("utf-8"))
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    return hidden


def place_both(moves: Sequence[tuple[Path, Path]]) -> None:
    """Move each staged folder to its place; when one fails, the ones before it are taken away again."""
    done: list[Path] = []
    try:
        for source, target in moves:
            target.parent.mkdir(exist_ok=True)
            source.rename(target)
            done.append(target)
    except OSError:
        for target in done:
            shutil.rmtree(target, ignore_errors=True)
        for _, target in moves:
            if target.parent.is_dir() and not any(target.parent.iterdir()):
                target.parent.rmdir()
        raise


@dataclass(frozen=True)
class _Scaffold:
    wanted: Wanted
    plan: Plan
    common: Common
    fixture: Fixture
    begins: dt.date
    place: str

    def files(self) -> tuple[Files, Files]:
        trap = {"trap.toml": "\n".join(self._toml())}
        trap |= {f"s{n}.md": self._text(t) for n, t in ((1, self.common.s1), (2, self.common.s2), (3, self.plan.s3))}
        for note, day in self._dated():
            trap[f"{note.id}.md"] = self._text(note.text, author=note.author, date=day.isoformat())
        trap["playbook.py"] = self._playbook()
        oracle = {"oracle.py": self._oracle(), "expect.toml": self._expect()}
        for name, hint in self._solutions().items():
            told = self.common.solution % (name, hint)
            oracle[f"solutions/{name}/{self.place}"] = f"# {told}\n" if self.place.endswith(".py") else f"{told}\n"
        return trap, oracle

    def _text(self, text: str, **more: str) -> str:
        return CANARY_LINE + _filled(text, {"place": self.place, **more})

    def _sessions(self) -> tuple[dt.date, dt.date, dt.date]:
        return self.begins, self.begins + dt.timedelta(days=7), self.begins + dt.timedelta(days=21)

    def _dated(self) -> Iterator[tuple[Note, dt.date]]:
        """Every note with its day: one a day after its session, poison notes last."""
        days = self._sessions()
        told = {1: 0, 2: 0}
        for note in (*self.plan.event, *self.plan.poison):
            after = note.after or 2
            told[after] += 1
            yield note, days[after - 1] + dt.timedelta(days=told[after])

    def _toml(self) -> Iterator[str]:
        wanted, common = self.wanted, self.common
        yield "schema = 1"
        named = {"id": wanted.id, "construct": wanted.construct, "family": wanted.family, "skeleton": wanted.skeleton}
        yield from _pairs({**named, "authors": [wanted.author], "title": wanted.title, "reason": common.reason})
        yield from _pairs({"fixture": wanted.fixture, "evidence": wanted.evidence})
        yield "clean_start = false"
        yield f"allow = {_value([self._allow()])}  # {common.allow}"
        yield from _pairs({name: list(getattr(self.plan, name)) for name in ("sources", "artifacts", "generator")})
        for name, fact in self.plan.facts.items():
            yield f"\n[facts.{name}]"
            yield from _pairs(self._fact(fact))
        for number, day in enumerate(self._sessions(), 1):
            yield f"\n[[session]]  # {common.sessions[number - 1]}"
            yield f"date = {day}"
            yield from _pairs({"prompt": f"s{number}.md", "paths": [self.place], "symbols": [], "task":
                               common.about % number, "check": list(self.fixture.spec.tests)})  # fmt: skip
        for note, day in self._dated():
            yield from self._note(note, day)
        for history, expect in self.plan.histories.items():
            roles = {e.id: e.roles[history] for e in self.plan.event if history in e.roles}
            yield "\n[[history]]"
            yield from _pairs({"name": history, "expect": expect})
            yield f"roles = {{ {', '.join(f'{name} = {_value(role)}' for name, role in roles.items())} }}"
        yield ""

    def _note(self, note: Note, day: dt.date) -> Iterator[str]:
        yield f"\n[[{'event' if note.after else 'poison'}]]"
        yield from _pairs({"id": note.id})
        if note.after:
            yield f"after = {note.after}"
        yield from _pairs({"kind": note.kind, "author": note.author})
        yield f"authority = {note.authority}"
        yield f"date = {day}"
        yield from _pairs({"text": f"{note.id}.md"})
        yield f"scope = {{ files = {_value([self.place])}, symbols = [], task = {_value(self.common.topic)} }}"
        yield from _pairs({"carries": list(note.carries), "ref": "".join(w[0] for w in re.findall(r"\w+", note.author))
                           .upper() + "-{digit:6}"})  # fmt: skip
        if note.histories:
            yield from _pairs({"histories": list(note.histories)})

    def _fact(self, fact: PlannedFact) -> dict[str, object]:
        told: dict[str, object] = {"kind": fact.kind}
        if fact.format:
            told["format"] = _filled(fact.format, {"prefix": self._prefix(fact.format)})
        if fact.variants:
            told["variants"] = list(fact.variants)
        if fact.supersedes:
            told["supersedes"] = fact.supersedes
        return told

    def _prefix(self, template: str) -> str:
        """The first word of the slug, unless it looks like a credential's or the tree holds such values already."""
        word = re.sub(r"[^a-z]", "", self.wanted.slug.split("_")[0])[:14]
        named = [word] if len(word) > 1 and not _NOT_NAMED.search(word) else []
        trees = [f.data.decode("utf-8", "replace") for f in self.fixture.tree.values()]
        for prefix in (*named, *_PREFIXES):
            pattern = re.compile(facts.pattern(_filled(template, {"prefix": prefix})))
            if not any(pattern.search(text) for text in trees):
                return prefix
        raise TrapError(f"{self.wanted.fixture}: its tree holds values of every form that a scaffold knows")

    def _allow(self) -> str:
        """Everything below the import root, or below the package, of the place."""
        root, *rest = Path(self.place).parts
        return f"{root}/**" if rest else self.place

    def _playbook(self) -> str:
        lines = [f'"""{self.common.docstring}"""', ""]
        for number, job in enumerate(self.common.jobs, 1):
            lines += ["", f"def s{number}(work, notes):"]
            if number == 3:
                about = "[write: what the note is about, in its words]"
                lines += [f'    {r.name} = notes.recall("{r.shape}", about="{about}", path="{self.place}")'
                          for r in self.plan.recall]  # fmt: skip
            lines += [f'    raise NotImplementedError("[write: {job}]")', ""]
        return "\n".join(lines)

    def _oracle(self) -> str:
        lines = [f'"""{self.common.checked}"""', "", "from oracles.contract import forbids, requires", ""]
        for check in sorted((*self.plan.check, *self.common.check), key=lambda c: c.kind, reverse=True):
            when = f', when="{check.when}"' if check.when else ""
            lines += ["", f'@{check.kind}("{check.text}"{when})', f"def {check.name}(subject, facts):"]
            lines += [f'    raise NotImplementedError("{check.body}")', ""]
        return "\n".join(lines)

    def _solutions(self) -> dict[str, str]:
        """Every stored solution with what it is."""
        first = {} if any(s.name == "reference" for s in self.plan.solution) else {"reference": "the finished work"}
        return first | {s.name: s.hint for s in self.plan.solution if s.hint}

    def _expect(self) -> str:
        rows = list(self.plan.solution)
        if not any(row.name == "reference" for row in rows):
            rows.insert(0, Solution(name="reference", outcome="pass"))
        use = [name for name, expect in self.plan.histories.items() if expect == "use"]
        only = use[0] if len(use) < len(self.plan.histories) else ""
        rows += [Solution(name="nothing", outcome="failed")]
        rows += [Solution(name="mutated", outcome=self.plan.mutated, history=only)]
        told = [_pairs({"name": r.name} | ({"history": r.history} if r.history else {}) | {"outcome": r.outcome})
                for r in rows]  # fmt: skip
        return "schema = 1\n" + "".join("\n[[solution]]\n" + "".join(f"{line}\n" for line in row) for row in told)


def _largest(fixture: Fixture) -> str:
    """The largest module below the import roots that is neither a test nor the build's."""
    roots = [root.rstrip("/") + "/" for root in fixture.spec.roots if root != "."]
    found = [
        (len(file.data), path)
        for path, file in fixture.tree.items()
        if path.endswith(".py") and not re.search(r"(^|/)(tests?/|test_|conftest|setup\.py|docs/)", path)
        if not roots or path.startswith(tuple(roots))
    ]
    plain = [(size, path) for size, path in found if not re.match(r"_[^_]|__main__", Path(path).name)]
    return max(plain or found or [(0, min(fixture.tree))])[1]


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], text)


def _pairs(values: Mapping[str, object]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in values.items()]


def _value(value: object) -> str:
    """A TOML string or list of strings."""
    return json.dumps(value, ensure_ascii=False)
