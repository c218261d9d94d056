"""`trap new`: ask what a new trap is about and write its scaffold; `check` and `admit` name what is left of one.

Invariant: a word that is missing is asked for on a terminal and an error without one; nothing that exists is written
over, and what is written passes the static gates but for what the author owes.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import get_args

import click

from harness.admission import Report
from harness.cli.places import placed, places
from harness.config import RunConfig, load
from harness.mending import mend_all
from harness.outcome import COMPLETE, UsageFault
from oracles.folder import load_oracle
from oracles.solutions import SolutionError
from traps import scaffolding
from traps.blueprint import Wanted, plan
from traps.diversity import MOST
from traps.fixtures import load_fixture
from traps.gates import static_problems, unwritten
from traps.hosted import HostedError
from traps.load import Trap, discover, load_trap
from traps.schema import Construct, Family, FixtureFile, TrapError, TrapFile, read_toml
from traps.unwritten import left_in

_EVIDENCE = get_args(TrapFile.model_fields["evidence"].annotation)
_SLUG, _SKELETON = r"[a-z][a-z0-9_]*", r"[a-z0-9]+(-[a-z0-9]+)*"


@dataclass(frozen=True)
class _Question:
    """One thing to ask: the option's name, the words, what may be chosen with a remark to each ({} = anything)."""

    name: str
    text: str
    choices: dict[str, str]
    default: str | None = None


@click.command("new")
@click.option("--construct", help="C1 to C10.")
@click.option("--fixture", help="The repository that the trap lives in.")
@click.option("--skeleton", help=f"Structural template; at most {MOST} traps share one.")
@click.option("--slug", help="Name of the folder; the id is the construct and the slug.")
@click.option("--title", help="One line on what the trap is about.")
@click.option("--family", help=", ".join(get_args(Family)) + ".")
@click.option("--evidence", help=", ".join(_EVIDENCE) + ".")
@click.option("--author", default="human", help="human, or a model family (default: human).")
@click.option("--place", default="", help="The file that session 3 changes (default: the fixture's largest module).")
@places
def new(traps_dir: Path | None, oracles_dir: Path | None, author: str, place: str, **words: str | None) -> int:
    """Write the scaffold of a new trap, and say what is left to write."""
    config = placed(traps_dir, oracles_dir)
    root = Path(config.traps_dir)
    if not root.is_dir():
        raise UsageFault(f"{root}: no such traps folder")
    given = _answers(root, words)
    wanted = Wanted(**given, author=author, place=place)
    _check(root, wanted)
    folders = _write(config, wanted)
    _tell(wanted, folders)
    return COMPLETE


def with_oracle(config: RunConfig, trap: Trap, report: Report) -> Report:
    """The report of a trap with what is still to be written on the oracle's side."""
    folder = Path(config.oracles_dir) / trap.folder.parent.name / trap.folder.name
    return replace(report, problems=(*report.problems, *unwritten(folder)))


def tell_mended(config: RunConfig, quiet: bool) -> None:
    """Mend what is derivable, one line a change (to standard error when the output is `quiet`)."""
    for change in mend_all(config):
        click.echo(f"fixed {_short(change.path)}: {change.what}", err=quiet)


def _answers(root: Path, words: dict[str, str | None]) -> dict[str, str]:
    """What was given as options, and the answers to what was not. Raises UsageFault without a terminal."""
    terminal = sys.stdin.isatty()
    if not terminal and (missing := [f"--{name}" for name, value in words.items() if value is None]):
        raise UsageFault(f"trap new: nobody is there to be asked; missing {', '.join(missing)}")
    found: dict[str, str] = {}
    for name, value in words.items():
        question = _question(root, name, found.get("construct"))
        if value is None:
            value = _ask(question)
        elif question.choices and name != "skeleton" and value not in question.choices:
            raise UsageFault(f"--{name}: unknown {value!r} (there are: {', '.join(question.choices)})")
        found[name] = value
    return found


def _question(root: Path, name: str, construct: str | None) -> _Question:
    match name:
        case "construct":
            return _Question(name, "Construct", {code: plan(code).about for code in get_args(Construct)})
        case "fixture":
            return _Question(name, "Fixture", _fixtures(root))
        case "skeleton":
            held = {s: f"{len(ids)} of {MOST}" for s, ids in sorted(_skeletons(root).items())}
            return _Question(name, "Skeleton (one of these, or a new name)", held)
        case "family":
            chosen = plan(construct).family if construct else None
            return _Question(name, "Family", dict.fromkeys(get_args(Family), ""), chosen)
        case "evidence":
            chosen = plan(construct).evidence if construct else None
            return _Question(name, "Evidence", dict.fromkeys(_EVIDENCE, ""), chosen)
        case "slug":
            return _Question(name, "Slug (the folder's name, as in `late_alerts`)", {})
    return _Question(name, "Title (one line)", {})


def _ask(question: _Question) -> str:
    for choice, remark in question.choices.items():
        click.echo(f"  {choice:<24}{remark}".rstrip())
    free = not question.choices or question.name == "skeleton"
    kind = None if free else click.Choice(list(question.choices))
    answer: str = click.prompt(question.text, type=kind, default=question.default, show_choices=False)
    return answer


def _fixtures(root: Path) -> dict[str, str]:
    """Fixtures by name with their titles; what cannot be read is no choice."""
    found = {}
    for path in sorted(root.glob("fixtures/*/fixture.toml")):
        try:
            found[path.parent.name] = read_toml(path, FixtureFile).title
        except TrapError:
            continue
    return found or {"none": ""}


def _skeletons(root: Path) -> dict[str, list[str]]:
    """The ids of the traps of each skeleton."""
    found: dict[str, list[str]] = {}
    for folder in discover(root):
        try:
            spec = read_toml(folder / "trap.toml", TrapFile)
        except TrapError:
            continue
        found.setdefault(spec.skeleton, []).append(spec.id)
    return found


def _check(root: Path, wanted: Wanted) -> None:
    """Raises UsageFault for a word that is not what it has to be, and for a skeleton that is full."""
    if not re.fullmatch(_SLUG, wanted.slug):
        raise UsageFault(f"--slug: {wanted.slug!r} is not lower-case letters, digits and _, a letter first")
    if not re.fullmatch(_SKELETON, wanted.skeleton):
        raise UsageFault(f"--skeleton: {wanted.skeleton!r} is not lower-case words joined by -")
    for name, text in (("title", wanted.title), ("author", wanted.author)):
        if not text.strip() or not text.isprintable():
            raise UsageFault(f"--{name}: one line of text is needed")
    path = PurePosixPath(wanted.place)
    if wanted.place and (path.is_absolute() or ".." in path.parts or str(path) != wanted.place or not path.name):
        raise UsageFault(f"--place: {wanted.place!r} is no path inside the fixture")
    if len(held := _skeletons(root).get(wanted.skeleton, [])) >= MOST:
        raise UsageFault(f"--skeleton: {wanted.skeleton!r} is full: {', '.join(sorted(held))} have it")


def _write(config: RunConfig, wanted: Wanted) -> tuple[Path, Path]:
    """Both folders, or neither. Raises UsageFault."""
    roots = Path(config.traps_dir), Path(config.oracles_dir)
    part = Path(wanted.construct.lower()) / wanted.slug
    for root in roots:
        if (root / part).exists():
            raise UsageFault(f"{root / part}: is there already; nothing was written")
    staged: list[Path] = []
    try:
        fixtures = roots[0] / "fixtures"
        fixture = load_fixture(fixtures, wanted.fixture, config.cache_dir)
        files = scaffolding.scaffold(wanted, fixture, scaffolding.begin(fixtures, wanted.fixture))
        for root, texts in zip(roots, files, strict=True):
            root.mkdir(parents=True, exist_ok=True)
            staged.append(scaffolding.stage(root, part, texts))
        _sound(staged[0] / part, staged[1] / part, fixtures, config.cache_dir)
        scaffolding.place_both([(hidden / part, root / part) for hidden, root in zip(staged, roots, strict=True)])
    except OSError as error:
        raise UsageFault(f"{error.filename}: {error.strerror}; nothing was written") from error
    except (TrapError, HostedError, SolutionError) as error:
        raise UsageFault(f"{error}; nothing was written") from error
    finally:
        for hidden in staged:
            shutil.rmtree(hidden, ignore_errors=True)
    return roots[0] / part, roots[1] / part


def _sound(trap: Path, oracle: Path, fixtures: Path, cache: Path) -> None:
    """Raises TrapError when a scaffold would not pass the static gates, SolutionError for its oracle."""
    load_oracle(oracle)
    for problem in static_problems(load_trap(trap, fixtures, cache)):
        if problem.gate != "unwritten":
            raise TrapError(f"{problem.gate}: {problem.where}: {problem.message}")


def _tell(wanted: Wanted, folders: Sequence[Path]) -> None:
    for folder in folders:
        click.echo(f"written: {_short(folder)}")
    click.echo("\nleft to write, in this order:")
    for folder in folders:
        _list(folder)
    places = "" if not _elsewhere(folders) else f" {' '.join(_elsewhere(folders))}"
    click.echo(f"\n`dreambench trap check {wanted.id}{places}` names what is left.")


def _list(folder: Path) -> None:
    lefts = list(left_in(folder))
    counts = Counter(left.path for left in lefts)
    for path in dict.fromkeys(left.path for left in lefts):
        click.echo(f"{_short(folder / path)} ({counts[path]})")
        for left in lefts:
            if left.path == path:
                click.echo(f"{left.line:>6}  {left.text}")


def _elsewhere(folders: Iterable[Path]) -> list[str]:
    """The options that name folders which are not ours."""
    ours = load(None)
    found = []
    for option, folder, own in zip(("--traps", "--oracles"), folders, (ours.traps_dir, ours.oracles_dir), strict=True):
        if (root := folder.parents[1]).resolve() != Path(own).resolve():
            found += [option, _short(root)]
    return found


def _short(path: Path) -> str:
    """Relative to the working directory where that is shorter."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else str(path)
