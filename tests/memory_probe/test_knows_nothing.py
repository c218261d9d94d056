"""No memory knows the benchmark: neither its traps and fixtures, nor how facts look, nor how a reader reads."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from traps.reader import notes, shapes

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for path in (ROOT / "memory_probe").rglob("*.py"))
TRAPS = sorted((ROOT / "traps").glob("c*/*/trap.toml"))
#: What a pattern for drawn values would need: a class of hexadecimal digits, or a run of twelve.
FORMATS = (r"\[[^\]\n]*(?:0-9a-f|a-f0-9|0-9A-F|A-F0-9)[^\]\n]*\]", r"\{12[,}]", r"\{(?:hex|HEX|digit|letter)[:}]")


def word(text: str) -> str:
    return rf"(?<![\w-]){re.escape(text)}(?![\w-])"


def traps() -> Iterator[tuple[str, str]]:
    """(what, pattern) for every name that the traps and fixtures have of their own."""
    for path in TRAPS:
        spec = tomllib.loads(path.read_text(encoding="utf-8"))
        for field in ("id", "skeleton", "family"):
            yield f"{field} of a trap", word(spec[field])
        yield "folder of a trap", word(path.parent.name)
        for event in spec.get("event", []):
            yield "author of an event", word(event["author"])
        for fact in spec.get("facts", {}).values():
            head = str(fact.get("format", "")).partition("{")[0]
            if head:
                yield "format of a fact", rf"(?<![\w-]){re.escape(head)}(?:\{{|\[|[0-9a-fA-F]{{6}})"
            for variant in fact.get("variants", []):
                yield "choice of a fact", rf"[\"'`]{re.escape(variant)}[\"'`]"
    for folder in (ROOT / "traps" / "fixtures").iterdir():
        if folder.is_dir() and not folder.name.startswith("_"):
            yield "fixture", word(folder.name)
    for number in range(1, 11):
        yield "construct", rf"(?<![\w.-])C{number}(?![\w.-])"


def reader() -> Iterator[tuple[str, str]]:
    """(what, pattern) for the shapes that a reader asks for and the phrases that it looks for."""
    for name, pattern in shapes.SHAPES.items():
        yield "shape", rf"shape\W{{1,6}}{name}\b"
        yield "pattern of a shape", re.escape(pattern.pattern)
    for value in vars(notes).values():
        if isinstance(value, re.Pattern):
            yield "pattern of the reader", re.escape(value.pattern)
    yield from (("format of a fact", pattern) for pattern in FORMATS)


PATTERNS = sorted({*traps(), *reader()})


def known(text: str) -> list[tuple[str, str]]:
    """What a source text gives away: (what, the words)."""
    found = [(what, re.search(pattern, text, re.I if what == "fixture" else 0)) for what, pattern in PATTERNS]
    return [(what, hit.group()) for what, hit in found if hit]


def imports(text: str) -> set[str]:
    """The top-level packages that a source imports."""
    nodes = list(ast.walk(ast.parse(text)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_source_of_a_memory_knows_a_trap_a_fixture_a_fact_or_a_reader(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert known(text) == []
    assert imports(text) & {"traps", "harness", "oracles", "containers", "analysis"} == set()


@pytest.mark.parametrize(
    "text",
    [
        "if repository == 'parcels':",
        "# as in c1_return_form",
        'AUTHORS = ["sorting hall"]',
        're.compile(r"ln-[0-9a-f]{12}")',
        "token = re.compile('[a-z]+-[0-9a-f]+')",
        'prefix = "RF_{HEX:12}"',
        "if construct == 'C3':",
        'value = recall(shape="tag")',
    ],
)
def test_the_search_finds_what_is_planted(text: str) -> None:
    assert known(text)


def test_the_search_has_something_to_look_for() -> None:
    assert len(TRAPS) >= 10
    assert {"fixture", "id of a trap", "format of a fact", "author of an event"} <= {what for what, _ in PATTERNS}
    assert any("parcels" in pattern for _, pattern in PATTERNS)
    assert imports("from traps.reader import notes\nimport harness.arm") == {"traps", "harness"}
