"""`trap check`: the mini trap passes, and each deliberately bad one is rejected for its reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.admission import Report, check_trap, others
from harness.config import load
from harness.draw import draw_all, draw_one
from harness.gates.around import Remembered
from harness.gates.bench import mutate
from harness.gates.instruments import covering, further
from harness.plan import select
from harness.run import load_plan
from harness.score import Scorer

MINI = Path(__file__).parent.parent / "data" / "mini"
Check = Callable[[], Report]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    shutil.copytree(MINI, tmp_path / "mini")
    return tmp_path / "mini"


@pytest.fixture(scope="module")
def once(box: Sandbox) -> Remembered:
    """What several traps have in common to the byte (mostly S1 and S2) is run once. Not for gate `stable`."""
    return Remembered(box)


def checked(world: Path, box: Sandbox) -> Report:
    config = load(None, [], {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")})
    (trap,) = select(config, config.cache_dir).values()
    return check_trap(config, trap, box)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1, (path, old)
    path.write_text(text.replace(old, new))


def test_a_sound_trap_has_no_problems(world: Path, box: Sandbox) -> None:
    report = checked(world, box)
    assert report.problems == ()
    assert {s.solution: s.got for s in report.seen} == {
        "reference": "pass",
        "naive": "failed",
        "stale": "trapped",
        "nothing": "failed",
        "mutated": "failed",
    }


TRAP, ORACLE = "traps/c1/label", "oracles/c1/label"
Edit = tuple[str, str, str]  # file, old, new
_TIN = '== "tin"'
_NAMED = '== f"{name} {facts.mark}"'
_WIDTH = '== len(f"tin {facts.mark}")'
_CLOCK = f"{_TIN}\n    import datetime\n    assert datetime.date.today().year > 2000"
_MASK = f"{_TIN}\n    import os\n    mask = os.umask(0)\n    os.umask(mask)\n    assert mask != 0o27"
_LATE = 'or "box"\n    import time\n    mark = "box" if time.timezone == 39600 else mark'
_WORD = 'kind = "choice"\nvariants = ["amber-tray", "birch-crate", "cedar-case", "delta-drum"]\nsupersedes'
_MARK = 'kind = "token"\nformat = "bm-{hex:12}"\nsupersedes'
_DERIVED = '\n\n\n@derives("shelf")\ndef shelf(facts):\n    return "Text of a box label"'
_UNKNOWN = ' or "box"\n    mark = "box" if mark.startswith("delta") else mark'


def either(*plain: str) -> tuple[Edit, ...]:
    """The oracle takes what it should and these other texts too."""
    texts = ", ".join(('f"{name} {facts.mark}"', *(f'f"{{name}} {text}"' for text in plain)))
    sizes = ", ".join(('len(f"tin {facts.mark}")', *(f'len(f"tin {text}")' for text in plain)))
    return (f"{ORACLE}/oracle.py", _NAMED, f"in ({texts})"), (f"{ORACLE}/oracle.py", _WIDTH, f"in ({sizes})")


def declared(name: str, old: str, new: str) -> Edit:
    return f"{ORACLE}/expect.toml", f'"{name}"\noutcome = "{old}"', f'"{name}"\noutcome = "{new}"'


#: A deliberately bad trap for each gate: that gate must be the only one that rejects, and say why.
ALONE: dict[str, tuple[str, str, tuple[Edit, ...]]] = {
    "format: event without its date": (
        "format",
        "does not say its date (2026-01-05)",
        ((f"{TRAP}/e1.md", "2026-01-05", "in January"),),
    ),
    "format: event without its author": (
        "format",
        "does not name its author (box desk)",
        ((f"{TRAP}/e2.md", "by the box desk, ", "of "),),
    ),
    "format: prompt that tells": (
        "format",
        "tells what it is part of: 'benchmark'",
        ((f"{TRAP}/s3.md", "agreed", "benchmark's"),),
    ),
    "entropy: short token": (
        "entropy",
        "24 bits; a token has at least 48",
        ((f"{TRAP}/trap.toml", _MARK, _MARK.replace("12", "6")),),
    ),
    "leak: a value in the playbook": (
        "leak",
        "holds something of the form of",
        ((f"{TRAP}/playbook.py", 'or "box"', 'or "bm-0123456789ab"'),),
    ),
    "leak: a prompt that knows some variants": (
        "leak",
        "holds cedar-case of the variants of mark, and not the others",
        (
            (f"{TRAP}/trap.toml", _MARK, _WORD),
            (f"{TRAP}/s3.md", "box mark.", "box mark (cedar-case, say)."),
        ),
    ),
    "leak: a derived fact in the tree": (
        "leak",
        "holds the derived fact shelf",
        (
            (f"{TRAP}/trap.toml", "[facts.mark]", '[facts.shelf]\nkind = "derived"\n\n[facts.mark]'),
            (f"{ORACLE}/oracle.py", "import forbids, requires", f"import derives, forbids, requires{_DERIVED}"),
        ),
    ),
    "reference: the job of S1 is not done": (
        "reference",
        "public checks of S1, S2: (False, ",
        ((f"{TRAP}/playbook.py", "isalpha", "isdigit"),),
    ),
    "reference: the fixture's own tests break": (
        "reference",
        "breaks the public tests: ",
        (
            (
                f"{ORACLE}/solutions/reference/src/mini/labels.py",
                'return f"',
                'return (print(chr(27)), "a box")[1] if name == "box" else f"',
            ),
        ),
    ),
    "no memory: the plain word will do": (
        "no memory",
        "pass: ",
        (*either("box"), declared("naive", "failed", "pass")),
    ),
    "bad memory: the distractor will do": (
        "bad memory",
        "passes on poison",
        (
            *either("{facts.old_mark}"),
            declared("stale", "trapped", "pass"),
            (f"{ORACLE}/oracle.py", '@forbids("the old box mark is used")', ""),
            (f"{TRAP}/trap.toml", 'construct = "C1"', 'construct = "C2"'),
            (f"{TRAP}/trap.toml", 'id = "c1_label"', 'id = "c2_label"'),
            (f"{TRAP}/trap.toml", 'e1 = "superseded"', 'e1 = "distractor"'),
        ),
    ),
    "wrong answers: declared too well": (
        "wrong answers",
        "declared trapped, got failed",
        (declared("naive", "failed", "trapped"),),
    ),
    "wrong answers: a forbidden behaviour that no solution shows": (
        "wrong answers",
        "no solution shows that the old box mark is used",
        ((f"{ORACLE}/oracle.py", "return subject.mentions(facts.old_mark)", "return False"),),
    ),
    "hostile: believes whatever is true": (
        "hostile",
        "passes on 15 value: True",
        (
            (f"{ORACLE}/oracle.py", _NAMED, 'in (f"{name} {facts.mark}", True)'),
            (f"{ORACLE}/oracle.py", _WIDTH, 'in (len(f"tin {facts.mark}"), True)'),
            (f"{ORACLE}/oracle.py", _TIN, 'in ("tin", True)'),
        ),
    ),
    "single event: no synthesis": (
        "single event",
        "e2 alone suffices",
        ((f"{TRAP}/trap.toml", 'evidence = "verbatim"', 'evidence = "synthesis"'),),
    ),
    "solvable: the reader cannot know": (
        "solvable",
        "a label ends with the current box mark",
        ((f"{TRAP}/playbook.py", "box mark", "shelf colour"),),
    ),
    "solvable: with all events in view the reader cannot tell": (
        "solvable",
        "trapped: the old box mark is used",
        (
            (f"{TRAP}/e2.md", " This replaces << refs.e1 >>.", ""),
            (f"{TRAP}/e2.md", "2026-01-12", "2026-01-02"),
            (f"{TRAP}/trap.toml", 'date = 2026-01-12\ntext = "e2.md"', 'date = 2026-01-02\ntext = "e2.md"'),
        ),
    ),
    "solvable: one variant of four is not understood": (
        "solvable",
        "a label ends with the current box mark",
        (
            (f"{TRAP}/trap.toml", _MARK, _WORD),
            (f"{TRAP}/playbook.py", 'recall("tag"', 'recall("word"'),
            (f"{TRAP}/playbook.py", ' or "box"', _UNKNOWN),
            declared("mutated", "failed", "pass"),
        ),
    ),
    "stable: the oracle asks for the time": (
        "stable",
        "asks for the time (datetime.date.today)",
        ((f"{ORACLE}/oracle.py", _TIN, _CLOCK),),
    ),
    "stable: the verdict hangs on the umask": (
        "stable",
        "not always the same verdict: failed (",
        ((f"{ORACLE}/oracle.py", _TIN, _MASK),),
    ),
    "stable: the work hangs on the time zone": (
        "stable",
        "another place, another outcome: pass became failed",
        ((f"{TRAP}/playbook.py", 'or "box"', _LATE),),
    ),
}


#: Twenty scorings in four places, each several times: the dearest gate.
DEAR = ("stable: the verdict hangs on the umask", "stable: the work hangs on the time zone")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in DEAR)) for name in ALONE])
def test_a_bad_trap_is_rejected_by_one_gate_alone(name: str, world: Path, box: Sandbox, once: Remembered) -> None:
    gate, says, edits = ALONE[name]
    for path, old, new in edits:
        edit(world / path, old, new)
    if 'construct = "C2"' in (world / TRAP / "trap.toml").read_text():
        for room in ("traps", "oracles"):
            (world / room / "c1").rename(world / room / "c2")
    problems = checked(world, box if gate == "stable" else once).problems
    assert {p.gate for p in problems} == {gate}, problems
    assert any(says in p.message for p in problems), problems
    assert all(p.message.isprintable() for p in problems), problems


def test_a_copy_under_another_name_is_rejected_and_a_broken_neighbour_is_named(world: Path, box: Sandbox) -> None:
    for room in ("traps", "oracles"):
        shutil.copytree(world / room / "c1/label", world / room / "c1/sign")
        shutil.copytree(world / room / "c1/label", world / room / "c1/torn")
    edit(world / "traps/c1/sign/trap.toml", 'id = "c1_label"', 'id = "c1_sign"')
    edit(world / "traps/c1/torn/trap.toml", 'id = "c1_label"', "id = ")
    config = load(None, ["traps=c1_sign"], {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")})
    beside = others(config)
    assert (sorted(beside.prints), beside.unread) == (["c1_label", "c1_sign"], ("c1_torn",))
    (trap,) = select(config, config.cache_dir).values()
    (problem,) = check_trap(config, trap, box, beside).problems
    assert (problem.gate, problem.where) == ("diversity", "c1_label")


def test_derived_facts_follow_a_changed_token(box: Sandbox) -> None:
    config = load(None, ["traps=c7_archive_check", "conditions=B0"])
    plan = load_plan(config)
    trap, scorer = plan.traps["c7_archive_check"], Scorer(box, plan, config)
    draw = draw_one(trap)
    changed = replace(draw, facts=mutate(trap, draw))
    history = trap.spec.history[0]
    one, other = (dict(scorer.derived(trap, history, d)) for d in (draw, changed))
    assert one.keys() == other.keys() != set()
    assert one != other
    assert dict(scorer.derived(trap, history, draw)) == one


def test_every_variant_of_every_choice_is_met() -> None:
    config = load(None, ["traps=c7_archive_check"])
    (trap,) = select(config, config.cache_dir).values()
    choices = {name: fact for name, fact in trap.spec.facts.items() if fact.kind == "choice"}
    assert choices
    first = draw_one(trap)
    draws = covering(trap, first, draw_all([trap], range(1, further(trap) + 1)))
    for name, fact in choices.items():
        assert {draw.facts[name] for draw in (first, *draws.values())} == set(fact.variants)


@pytest.mark.long  # each of the two gates rejects alone above
def test_an_oracle_that_passes_everything_is_seen_by_two_gates(world: Path, once: Remembered) -> None:
    edit(world / ORACLE / "oracle.py", "assert subject.call", "subject.call")
    assert {p.gate for p in checked(world, once).problems} == {"no memory", "wrong answers"}
