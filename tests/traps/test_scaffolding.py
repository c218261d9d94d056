"""Scaffolds: for every construct, on an own and a hosted fixture, sound for the static gates and not admissible."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

from harness.config import ROOT, load
from oracles.contract import collect
from oracles.folder import load_oracle
from traps.blueprint import Wanted, plan
from traps.diversity import diversity_problems, fingerprint
from traps.fixtures import Fixture, load_fixture
from traps.gates import static_problems
from traps.load import CANARY, Trap, load_trap
from traps.scaffolding import begin, place_both, scaffold, stage
from traps.schema import Construct
from traps.unwritten import left_in

CONSTRUCTS = get_args(Construct)
FIXTURES = ROOT / "traps" / "fixtures"
#: From the contract: the roles by history of each construct, and whether POISON has notes of its own.
SHAPE: Mapping[str, tuple[dict[str, dict[str, int]], int]] = {
    "C1": ({"given": {"governing": 1, "decoy": 1}}, 0),
    "C2": ({"given": {"governing": 1, "distractor": 8}}, 0),
    "C3": ({"given": {"superseded": 3, "governing": 1}}, 0),
    "C4": ({"given": {"superseded": 1, "governing": 1}}, 0),
    "C5": ({"given": {"governing": 1, "decoy": 1}}, 1),
    "C6": ({"given": {"governing": 1, "superseded": 1, "rule": 1, "decoy": 1}}, 0),
    "C7": ({"given": {"rule": 1, "parameter": 1}}, 0),
    "C8": ({"given": {"governing": 1, "decoy": 1}}, 1),
    "C9": (
        {
            "confirmed": {"governing": 1, "confirming": 1},
            "disconfirmed": {"spurious": 1, "disconfirming": 1},
        },
        1,
    ),
    "C10": ({"given": {"governing": 1, "decoy": 2}, "absent": {"decoy": 2}}, 1),
}


@pytest.fixture(scope="module")
def fixtures() -> Mapping[str, Fixture]:
    """One of our own and a hosted one."""
    cache = load(None).cache_dir
    return {name: load_fixture(FIXTURES, name, cache) for name in ("parcels", "tabulate")}


def wanted(construct: str, fixture: str, **more: str) -> Wanted:
    known = plan(construct)
    said = {"slug": f"shelf_{fixture}", "skeleton": "shelf-tag", "title": "A tag for “shelves”", **more}
    return Wanted(construct=construct, fixture=fixture, family=known.family, evidence=known.evidence, **said)


def written(root: Path, what: Wanted, fixture: Fixture) -> tuple[Path, Path]:
    """A scaffold on disk: trap folder, oracle folder."""
    folders = []
    for room, files in zip(("traps", "oracles"), scaffold(what, fixture, begin(FIXTURES, what.fixture)), strict=True):
        folder = root / room / what.construct.lower() / what.slug
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode())
        folders.append(folder)
    return folders[0], folders[1]


def loaded(root: Path, what: Wanted, fixture: Fixture) -> tuple[Trap, Path]:
    trap, oracle = written(root, what, fixture)
    return load_trap(trap, FIXTURES, load(None).cache_dir), oracle


@pytest.mark.parametrize("fixture", ["parcels", "tabulate"])
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_scaffold_passes_the_static_gates_and_cannot_be_admitted(
    construct: str, fixture: str, tmp_path: Path, fixtures: Mapping[str, Fixture]
) -> None:
    trap, oracle = loaded(tmp_path, wanted(construct, fixture), fixtures[fixture])
    found = static_problems(trap)
    assert {problem.gate for problem in found} == {"unwritten"}
    files = {problem.where.partition(":")[0] for problem in found}
    assert files == {p.name for p in trap.folder.iterdir()}, "something is owed in every file"
    histories, notes = SHAPE[construct]
    roles = {h.name: list(h.roles.values()) for h in trap.spec.history}
    assert {name: {r: told.count(r) for r in told} for name, told in roles.items()} == histories
    assert len(trap.spec.poison) == notes
    canary = f"<!-- dreambench canary {CANARY} -->\n"
    assert all((trap.folder / name).read_text().startswith(canary) for name in trap.texts)
    namespace: dict[str, object] = {}
    exec(compile((oracle / "oracle.py").read_text(), "oracle.py", "exec"), namespace)
    rules = collect(namespace)
    assert (len(rules.checks) >= 3, {check.kind for check in rules.checks}) == (True, {"requires", "forbids"})
    assert all(len(rules.applicable(history.expect)) >= 2 for history in trap.spec.history)
    for check in rules.checks:  # whatever the change is, no check of a scaffold can hold
        with pytest.raises(NotImplementedError):
            check.function(None, None)
    declared = load_oracle(oracle)
    for history in trap.spec.history:
        assert declared.reference(history.name).outcome == "pass"
    assert {row.name for row in declared.expectations} >= {"reference", "nothing", "mutated"}
    assert all(trap.spec.allow[0].split("/")[0] == path.split("/")[0] for o in declared.overlays.values() for path in o)


def test_scaffolds_of_different_constructs_are_not_the_same_trap(
    tmp_path: Path, fixtures: Mapping[str, Fixture]
) -> None:
    prints = {}
    for construct in CONSTRUCTS:
        what = wanted(construct, "parcels", skeleton=f"shelf-{construct.lower()}")
        trap, oracle = loaded(tmp_path, what, fixtures["parcels"])
        prints[trap.id] = fingerprint(trap, (oracle / "oracle.py").read_text())
    ours = load(None).cache_dir, ROOT / "traps" / "c3" / "late_alerts"
    other = load_trap(ours[1], FIXTURES, ours[0])
    prints[other.id] = fingerprint(other, (ROOT / "oracles/c3/late_alerts/oracle.py").read_text())
    assert [p for one in prints.values() for p in diversity_problems(one, prints)] == []


def test_a_value_is_named_after_the_slug_unless_that_looks_like_a_credential(fixtures: Mapping[str, Fixture]) -> None:
    def fact(slug: str, fixture: Fixture) -> str:
        text = scaffold(wanted("C1", "parcels", slug=slug), fixture, begin(FIXTURES, "parcels"))[0]["trap.toml"]
        return str(tomllib.loads(text)["facts"]["mark"]["format"])

    plain = fixtures["parcels"]
    assert fact("till_roll", plain) == "till-{hex:12}"
    assert fact("secrets_of_x", plain) == "mark-{hex:12}"
    held = dict(plain.tree) | {"src/parcels/x.py": type(plain.tree["README.md"])(b"X = 'till-0123456789ab'\n")}
    assert fact("till_roll", Fixture(plain.spec, held, "d")) == "mark-{hex:12}"


def test_session_3_changes_the_largest_module_unless_another_is_named(fixtures: Mapping[str, Fixture]) -> None:
    def place(fixture: str, **more: str) -> tuple[str, str]:
        text = scaffold(wanted("C1", fixture, **more), fixtures[fixture], begin(FIXTURES, fixture))[0]["trap.toml"]
        told = tomllib.loads(text)
        return told["session"][2]["paths"][0], told["allow"][0]

    assert place("parcels") == ("src/parcels/store.py", "src/**")
    assert place("tabulate") == ("tabulate/__init__.py", "tabulate/**")
    assert place("tabulate", place="tabulate/checked.py") == ("tabulate/checked.py", "tabulate/**")


def test_sessions_begin_after_the_background_on_a_monday() -> None:
    ends = tomllib.loads((FIXTURES / "parcels" / "background.toml").read_text())["ends"]
    day = begin(FIXTURES, "parcels")
    assert (day.weekday(), 14 <= (day - ends).days < 21) == (0, True)
    assert str(begin(FIXTURES, "there-is-none")) == "2026-03-02"


def test_programs_of_a_scaffold_parse_for_any_title(fixtures: Mapping[str, Fixture]) -> None:
    title = 'He said "10 \\ 2" in «Malmö»'
    trap, oracle = scaffold(wanted("C10", "parcels", title=title), fixtures["parcels"], begin(FIXTURES, "parcels"))
    assert tomllib.loads(trap["trap.toml"])["title"] == title
    for source in (trap["playbook.py"], oracle["oracle.py"]):
        ast.parse(source)


def test_marks_are_listed_in_the_order_of_writing(tmp_path: Path) -> None:
    for path, text in {
        "solutions/naive/a.py": "# [write: n]\n",
        "solutions/reference/a.py": "# [write: r]\n",
        "playbook.py": "x = 1\ny = '[write: p]'\n",
        "e10.md": "[write: ten]",
        "e2.md": "one\n[write: two\n  lines] and [write: more]",
        "s1.md": "[write: s]",
        "done.md": "nothing [write] to do",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert [(left.where, left.text) for left in left_in(tmp_path)] == [
        ("s1.md:1", "s"),
        ("e2.md:2", "two lines"),
        ("e2.md:3", "more"),
        ("e10.md:1", "ten"),
        ("playbook.py:2", "p"),
        ("solutions/reference/a.py:1", "r"),
        ("solutions/naive/a.py:1", "n"),
    ]


def test_when_the_second_folder_cannot_be_placed_the_first_is_taken_away(tmp_path: Path) -> None:
    part = Path("c1") / "x"
    roots = [tmp_path / "traps", tmp_path / "oracles"]
    for root in roots:
        root.mkdir()
    staged = [stage(root, part, {"a": "text\n"}) for root in roots]
    (roots[1] / part).mkdir(parents=True)
    (roots[1] / part / "mine").write_text("was here")
    with pytest.raises(OSError):
        place_both([(hidden / part, root / part) for hidden, root in zip(staged, roots, strict=True)])
    assert not (roots[0] / "c1").exists()
    assert (roots[1] / part / "mine").read_text() == "was here"
