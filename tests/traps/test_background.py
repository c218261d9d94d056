"""The background of every fixture: it is ordinary, plentiful, and never speaks for or against a trap of the fixture."""

from __future__ import annotations

import ast
import datetime as dt
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from harness import items
from harness.config import ROOT, load
from harness.draw import draw_one
from memory_probe.protocol import View, ViewItem
from memory_probe.render import render
from traps import facts
from traps.background import Mention, Told, draw, episodes
from traps.background_file import Background, load_background, topical
from traps.fixtures import load_fixture
from traps.hosted import HostedError
from traps.load import CANARY, Trap, discover, load_trap
from traps.reader.notes import Notes, parse
from traps.reader.shapes import SHAPES, all_values, values
from traps.schema import Event, Poison, TrapError

pytestmark = pytest.mark.slow  # every fixture with its traps

FIXTURES = ROOT / "traps" / "fixtures"
NAMES = sorted(p.parent.name for p in FIXTURES.glob("*/fixture.toml"))
TODAY = dt.date(2026, 12, 31)
_GIVES_AWAY = re.compile(r"\b(dreambench|benchmark|traps?|oracles?|haystack|tokens?|secrets?|passwords?|keys?)\b", re.I)
_REPLACES = re.compile(
    r"replac|supersed|instead of|in place of|no longer use|retire|disprov|withdraw|retract|\b(is|was|are|were) wrong",
    re.I,
)


@cache
def background(name: str) -> Background:
    return load_background(FIXTURES, name)


@cache
def traps_of(name: str) -> tuple[Trap, ...]:
    """The traps that live in a fixture; skips where a hosted library cannot be had."""
    folders = [f for f in discover(ROOT / "traps") if f'\nfixture = "{name}"' in (f / "trap.toml").read_text("utf-8")]
    try:
        return tuple(load_trap(f, FIXTURES, load(None).cache_dir) for f in folders)
    except TrapError as error:
        cause = error.__cause__
        if isinstance(cause, HostedError) and cause.offline:
            pytest.skip(str(error))
        raise


@cache
def sayings(name: str) -> tuple[tuple[Told, str], ...]:
    """Every template by every carrier with every alternative, said for the first time and anew; and its number."""
    spec, found = background(name).spec, []
    for t, template in enumerate(spec.template):
        for c in spec.carriers(template.kind):
            for s in range(len(template.some) or 1):
                found += _said(name, t, c, s)
    return tuple(found)


def _said(name: str, t: int, c: int, s: int) -> list[tuple[Told, str]]:
    template, carrier = background(name).spec.template[t], background(name).spec.carrier[c]
    one, two = (
        Mention(e, t, c, e % len(carrier.authors), s, facts.draw_token(carrier.ref), _value(name, t), e - 1)
        for e in (0, 1)
    )
    mentions = (one, two) if template.update else (one,)
    told = [event for past in episodes(background(name), 2, mentions) for event in past.events]
    return [(event, m.ref) for event, m in zip(told, mentions, strict=True)]


def _value(name: str, t: int) -> str:
    value = background(name).spec.template[t].value
    return value.draw() if value else ""


def recalls(trap: Trap) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(shape, about, paths) of every recall in the playbook; a computed path stands for all paths of S3."""
    tree = ast.parse(trap.playbook)
    named = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def text(node: ast.expr | None) -> str | None:
        if isinstance(node, ast.Constant):
            return str(node.value)
        return str(named[node.id]) if isinstance(node, ast.Name) and node.id in named else None

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "recall":
            given = dict(zip(("shape", "about", "path"), node.args, strict=False)) | {
                str(k.arg): k.value for k in node.keywords
            }
            shape, about, path = (text(given.get(n)) for n in ("shape", "about", "path"))
            assert shape is not None, f"{trap.id}: a recall whose shape cannot be read from its playbook"
            assert about is not None, f"{trap.id}: a recall whose topic cannot be read from its playbook"
            yield shape, about, (path,) if path else trap.spec.session[2].paths


def covers(scope: str, path: str) -> bool:
    return scope == path or (path.startswith(scope.removesuffix("**")) and scope.endswith(("/", "/**")))


def notes(told: list[ViewItem]) -> Notes:
    return Notes(render(View(tuple(told)), TODAY), "careful")


@pytest.mark.parametrize("name", NAMES)
def test_there_is_plenty_and_the_file_is_marked(name: str) -> None:
    spec = background(name).spec
    assert len(spec.template) >= 40
    assert len({t.topic for t in spec.template}) == len(spec.template)
    for kind in ("human_feedback", "contradiction", "failure_diagnosis", "staleness"):
        assert any(t.kind == kind for t in spec.template)
        assert len(spec.carriers(kind)) >= 6
    assert sum(bool(t.update) for t in spec.template) >= 10
    assert sum(bool(t.days) for t in spec.template) >= 2
    assert CANARY in (FIXTURES / name / "background.toml").read_text("utf-8").splitlines()[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_event_says_who_when_where_and_its_number(name: str) -> None:
    told = sayings(name)
    _, read = parse(render(View(tuple(ViewItem(t.text) for t, _ in told)), TODAY))
    assert len(read) == len(told)
    for item, (event, ref) in zip(read, told, strict=True):
        assert item.author == event.author.lower(), event.text
        assert item.written == event.date.isoformat(), event.text
        assert item.refs == {ref}, event.text
        assert all(f"`{place}`" in event.text for place in (*event.scope.files, *event.scope.symbols)), event.text
        assert "<<" not in event.text
        assert "outrank" not in event.text.lower()
        assert not _GIVES_AWAY.search(event.text), event.text


@pytest.mark.parametrize("name", NAMES)
def test_what_it_replaces_is_its_own(name: str) -> None:
    for template in background(name).spec.template:
        assert not _REPLACES.search(template.text), template.topic
        assert not template.update or _REPLACES.search(template.update), template.topic
        literal = [q for q in re.findall(r"`([^`]*)`", template.update) if not re.fullmatch(r"<< (value|old) >>", q)]
        assert not literal, f"{template.topic}: an update would retire {literal}"
        for sentence in re.split(r"(?<=[.!?])\s+|;\s", template.update):
            cue = _REPLACES.search(sentence)
            assert not cue or "<< value >>" not in sentence[cue.end() :], f"{template.topic}: retires its own value"


@pytest.mark.parametrize("name", NAMES)
def test_it_speaks_of_files_and_symbols_that_are_there(name: str) -> None:
    traps_of(name)  # skips where the library cannot be had
    tree = load_fixture(FIXTURES, name, load(None).cache_dir).tree
    for template in background(name).spec.template:
        missing = [f for f in template.scope.files if f not in tree]
        assert not missing, f"{template.topic}: no such file: {missing}"
        text = "".join(tree[f].data.decode() for f in template.scope.files)
        gone = [s for s in template.scope.symbols if s.rpartition(".")[2] not in text]
        assert not gone, f"{template.topic}: no such symbol: {gone}"


@pytest.mark.parametrize("name", NAMES)
def test_half_of_the_values_have_a_shape_of_the_traps(name: str) -> None:
    drawn = [v for trap in traps_of(name) for v in facts.draw(trap.spec.facts).values()]
    shapes = {s for s in SHAPES for v in drawn if v in [found for _, found in values(s, f"`{v}`")]}
    valued = [t.value.shape for t in background(name).spec.template if t.value]
    assert 2 * sum(s in shapes for s in valued) >= len(valued), (shapes, Counter(valued))


@pytest.mark.parametrize("name", NAMES)
def test_no_event_answers_what_a_playbook_asks(name: str) -> None:
    told = [t for t, _ in sayings(name)]
    reader = notes([ViewItem(t.text) for t in told])
    for trap in traps_of(name):
        for shape, about, paths in recalls(trap):
            assert any(topical(about, topic) for topic in background(name).spec.excluded.topics), (
                f"{name}/background.toml: excluded.topics should name what {trap.id} asks for: {about!r}"
            )
            on_topic = [t for t in told if topical(about, t.text)]
            for path in paths:
                there = [t.text for t in on_topic if any(covers(f, path) for f in t.scope.files)]
                assert not there, f"{trap.id} asks for {about!r} in {path}; the background speaks of it:\n{there[0]}"
                assert reader.recall(shape, about, path) is None


@pytest.mark.parametrize("name", NAMES)
def test_some_events_share_words_with_what_a_trap_asks(name: str) -> None:
    asked = [about for trap in traps_of(name) for _, about, _ in recalls(trap)]
    near = [t for t, _ in sayings(name) if any(set(a.lower().split()) & set(t.text.lower().split()) for a in asked)]
    assert near


@pytest.mark.parametrize("name", NAMES)
def test_recalls_of_the_evidence_stay_the_same_amid_background(name: str) -> None:
    events = [e for past in episodes(background(name), 150, draw(background(name), 150)) for e in past.events]
    around = [ViewItem(e.text, e.date, e.kind) for e in events]
    for trap in traps_of(name):
        shown = draw_one(trap)
        for history in trap.spec.history:
            evidence = list(items.items(trap, trap.evidence(history.name), shown))
            alone, amid = notes(evidence), notes([*around[::2], *evidence, *around[1::2]])
            for shape, about, paths in recalls(trap):
                for path in paths:
                    assert amid.recall(shape, about, path) == alone.recall(shape, about, path), (trap.id, about)


@pytest.mark.parametrize("name", NAMES)
def test_no_value_is_or_resembles_a_fact_or_number_of_a_trap(name: str) -> None:
    mentions = draw(background(name), 300)
    mine = {m.value for m in mentions} - {""}
    spoken: set[str] = set()
    prefixes: set[str] = set()
    for trap in traps_of(name):
        given = draw_one(trap)
        spoken |= set(given.facts.values())
        every: list[Event | Poison] = [*trap.spec.event, *trap.spec.poison]
        for note in every:
            prefixes.add(note.ref.partition("{")[0])
            spoken |= {v for _, v in all_values(items.note(trap, note, given).text)}
        spoken |= {v for f in trap.spec.facts.values() for v in f.variants}
    close = [(a, b) for a in map(facts.fold, mine) for b in map(facts.fold, spoken) if _near(a, b)]
    assert not close
    assert not {c.ref.partition("{")[0] for c in background(name).spec.carrier} & prefixes


def _near(a: str, b: str) -> bool:
    """Within edit distance 2."""
    if abs(len(a) - len(b)) > 2 or sum(((Counter(a) - Counter(b)) + (Counter(b) - Counter(a))).values()) > 4:
        return False
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, right in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (left != right))
    return row[-1] <= 2


@pytest.mark.parametrize("name", NAMES)
def test_episodes_are_before_every_trap_and_ascend(name: str) -> None:
    mentions = draw(background(name), 200)
    past = episodes(background(name), 200, mentions)
    first = min(trap.spec.session[0].date for trap in traps_of(name))
    dates = [p.date for p in past]
    assert dates == sorted(dates)
    assert dates[-1] < first
    assert [p.number for p in past] == list(range(1, 201))
    assert all(1 <= len(p.events) <= 3 for p in past)
    assert len({m.ref for m in mentions}) == len(mentions)
    replaced = [(m, mentions[m.replaces]) for m in mentions if m.replaces >= 0]
    assert len(replaced) >= 20
    assert all(old.episode < new.episode and old.template == new.template for new, old in replaced)
    standing = [(m.template, m.some) for m in mentions if background(name).spec.template[m.template].update]
    assert len(standing) - len(set(standing)) == len(replaced), "a subject is spoken of anew only by replacing"
    assert len(replaced) < len(mentions) / 2, "most of it still stands"
    tokens = [m.value for m in mentions if any(c in m.value for c in "0123456789")]
    assert len(set(tokens)) == len(tokens)
    assert all(p.prompt and p.steps.startswith("{") and p.delta.startswith("diff --git") for p in past)
    assert episodes(background(name), 200, mentions) == past


def test_a_second_saying_replaces_the_first_and_only_that() -> None:
    told = [t for t, _ in _said("tempo", 0, 0, 0)]
    new = background("tempo").spec.template[0].value
    assert new
    first, second = ([v for _, v in values(new.shape, t.text)] for t in told)
    assert second[1:] == first
    reader = notes([ViewItem(t.text) for t in told])
    assert reader.recall(new.shape, "calendar personnel office holidays") == second[0]
