"""The glossary: one source, no word claimed twice, every heading of a report explained, nothing explained in vain."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from analysis.glossary import Glossary, GlossaryError, as_markdown, load, parse
from analysis.hygiene import METRICS
from harness.reporting import report as make_report
from harness.rundir import RunDir

from ..blindness.blindness_runs import Real

ROOT = Path(__file__).parents[2]
CONDITIONS = ("B0", "B5", "ALL", "EVIDENCE", "POISON")

#: Headings that say what everybody takes them for.
ORDINARY = frozenset(
    ["kind", "needs a model", "note", "of", "parts", "status", "title", "value", "version", "what", "which"]
)


@pytest.fixture(scope="module")
def glossary() -> Glossary:
    return load()


def term(**keys: str) -> str:
    return "[[term]]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


def test_the_page_is_the_generated_text(glossary: Glossary) -> None:
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == as_markdown(glossary)


def test_the_module_prints_the_page() -> None:
    done = subprocess.run([sys.executable, "-m", "analysis.glossary"], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == (ROOT / "docs" / "glossary.md").read_bytes()


def test_a_term_is_found_by_each_of_its_spellings_in_any_case(glossary: Glossary) -> None:
    for known in glossary.terms:
        for spelling in (known.name, *known.also):
            assert glossary.find(spelling) is known
            assert len(spelling) == 1 or glossary.find(spelling.upper()) is known
    assert glossary.find("b") is not glossary.find("B")  # cells of one condition, and a run
    assert glossary.find("Holm p (careful reader)") is glossary.find("Holm p")
    assert glossary.find("Pass@1 ") is None
    assert glossary.find("(Pass@1)") is None
    assert glossary.find("no such word") is None


def test_terms_are_sorted_by_name_with_numbers_by_value(glossary: Glossary) -> None:
    names = [known.name for known in glossary.terms]
    assert names[names.index("C1") : names.index("C1") + 10] == [f"C{n}" for n in range(1, 11)]
    assert names.index("arm") < names.index("cell") < names.index("trap")


def test_every_hygiene_metric_is_a_term_with_its_formula(glossary: Glossary) -> None:
    for metric in METRICS:
        known = glossary.find(metric.name)
        assert known is not None, metric.name
        assert " / " in known.formula
        assert known.says.endswith("More is better." if metric.direction == "up" else "Less is better.")
        assert glossary.find(metric.name.removesuffix("_traced")) is known


def test_sources_within_the_repository_are_there(glossary: Glossary) -> None:
    files = [known.source for known in glossary.terms if "/" in known.source]
    assert files
    assert [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (term(id='"a"', name='"a"', says='"x"') + term(id='"a"', name='"b"', says='"x"'), "the id 'a'"),
        (
            term(id='"a"', name='"Arm"', says='"x"') + term(id='"b"', name='"arm"', says='"x"'),
            "'arm' of 'b'",
        ),
        (
            term(id='"a"', name='"a"', also='["P1"]', says='"x"') + term(id='"b"', name='"p1"', says='"x"'),
            "'p1' of 'b' is claimed by 'a'",
        ),
        (term(id='"a"', name='"arm"', also='["ARM"]', says='"x"'), "'a' has a spelling twice"),
        (term(id='"a"', name='"a"', says='" "'), "term.0.says"),
        (term(id='"a"', name='"a"'), "term.0.says: Field required"),
        (term(id='"A b"', name='"a"', says='"x"'), "term.0.id"),
        (term(id='"a"', name='"a"', says='"x"', colour='"red"'), "term.0.colour"),
        ("", "term: Field required"),
        ("[[term", "Expected"),
    ],
)
def test_a_bad_glossary_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(GlossaryError, match=re.escape(said)) as caught:
        parse(text, "words.toml")
    assert str(caught.value).startswith("words.toml: ")


def test_markdown_escapes_what_markdown_would_take(glossary: Glossary) -> None:
    page = as_markdown(parse(term(id='"a"', name='"a*b"', says='"<i> & _c_"', formula='"1 <= n"')))
    assert "### a\\*b\n\n&lt;i&gt; &amp; \\_c\\_\n\n    1 <= n\n" in page
    assert "<" not in re.sub(r"^    .*$", "", as_markdown(glossary), flags=re.MULTILINE)


@pytest.fixture(scope="module")
def report(real: Real) -> str:
    """The Markdown report of the real fold."""
    return make_report(RunDir.open(real.out), real.records).markdown


def headings(report: str) -> set[str]:
    """The header cells of every table of a Markdown report, as they were before escaping."""
    lines = report.splitlines()
    heads = [line for line, rule in pairwise(lines) if re.fullmatch(r"\|( -{3}:? \|)+", rule)]
    assert len(heads) > 10
    cells = {cell.strip() for head in heads for cell in re.split(r"(?<!\\)\|", head)[1:-1]}
    return {re.sub(r"\\(.)", r"\1", cell).replace("&lt;", "<").replace("&gt;", ">") for cell in cells}


def test_every_heading_of_the_report_is_explained(report: str, glossary: Glossary) -> None:
    found = {re.sub(r"^seed \d+ b:c$", "per seed", word) for word in headings(report) - set(CONDITIONS)}
    assert {"Pass@1", "D", "owed"} <= found
    assert {word for word in found if glossary.find(word) is None} - ORDINARY == set()
    assert {word for word in ORDINARY if glossary.find(word)} == set()


def test_every_term_is_used_somewhere(report: str, glossary: Glossary) -> None:
    """In the report, in what the report can print, or in the documentation."""
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name != "glossary.md"]
    rooms = {"analysis/report": "*.py", "analysis/families": "*.toml", "analysis": "*_tables.py"}
    printers = [file for room, names in rooms.items() for file in (ROOT / room).glob(names)]
    texts = [report, *(file.read_text(encoding="utf-8") for file in (ROOT / "README.md", *pages, *printers))]
    everything = re.sub(r"\\(.)", r"\1", "\n".join(texts))

    def used(spelling: str) -> bool:
        before = r"(?<!\w)" if spelling[0].isalnum() else ""
        return bool(re.search(rf"{before}{re.escape(spelling)}(?!\w)", everything, re.IGNORECASE))

    assert [known.name for known in glossary.terms if not any(map(used, (known.name, *known.also)))] == []
