"""Rating sheets: the sample, what raters may not see, what a spreadsheet may not run; and what the answers come to."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections import Counter
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.report.layout import as_text
from harness.audit import (
    CONSTRUCTS,
    KEY,
    QUESTIONS,
    Case,
    Key,
    construct_file,
    deep_file,
    load_key,
    masked,
    plain_cell,
    sample,
    shown,
    table,
    write_sheets,
)
from harness.audit_score import CONSTRUCT, Ratings, constructs, kappas, read_ratings, read_sheet
from harness.audit_tables import score_document
from harness.cli.main import cli
from harness.config import load
from harness.outcome import UsageFault
from harness.plan import select
from traps.load import Trap

MINI = Path(__file__).parent.parent / "data" / "mini"
QUOTAS = dict(zip(CONSTRUCTS, (14, 6, 7, 3, 6, 5, 7, 4, 4, 4), strict=True))
SIXTY = {f"{c.lower()}_t{n}": c for c, quota in QUOTAS.items() for n in range(quota)}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """The mini trap twice, once under a name of C3."""
    shutil.copytree(MINI, tmp_path / "mini")
    for side in ("traps", "oracles"):
        shutil.copytree(MINI / side / "c1/label", tmp_path / "mini" / side / "c3/label")
    spec = tmp_path / "mini/traps/c3/label/trap.toml"
    spec.write_text(spec.read_text().replace("c1_label", "c3_label").replace('"C1"', '"C3"'))
    return tmp_path / "mini"


def traps_of(world: Path) -> dict[str, Trap]:
    config = load(None, [], {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")})
    return select(config, config.cache_dir)


def call(world: Path, *words: str) -> Result:
    places = ["--traps", str(world / "traps"), "--oracles", str(world / "oracles")]
    return CliRunner().invoke(cli, ["trap", "audit", *words, *places], standalone_mode=False)


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))


def fill(path: Path, answers: dict[str, dict[str, str]]) -> None:
    """Put answers (by case, then by column) into a sheet."""
    head, *body = rows(path)
    for row in body:
        for column, answer in answers.get(row[0], {}).items():
            row[head.index(column)] = answer
    path.write_text(table([head, *body]), encoding="utf-8")


# -- the sample ------------------------------------------------------------------------------------------------


def test_eighteen_of_sixty_by_largest_remainder() -> None:
    found = sample(SIXTY, 7)
    assert Counter(SIXTY[trap] for trap in found) == dict(zip(CONSTRUCTS, (4, 2, 2, 1, 2, 2, 2, 1, 1, 1), strict=True))
    assert sample(SIXTY, 7) == found
    assert sample(dict(reversed(SIXTY.items())), 7) == found
    assert sample(SIXTY, 8) != found


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=4), st.sampled_from(CONSTRUCTS), max_size=40), st.integers())
def test_every_construct_is_in_the_sample(of: dict[str, str], seed: int) -> None:
    found = sample(of, seed)
    floors = sum(max(3 * quota // 10, 1) for quota in Counter(of.values()).values())
    assert len(found) == len(set(found)) == max(ceil(Fraction(3, 10) * len(of)), floors)
    assert {of[trap] for trap in found} == set(of.values())


# -- what raters get -------------------------------------------------------------------------------------------


def test_a_blind_sheet_tells_texts_and_nothing_else(world: Path, tmp_path: Path) -> None:
    done = call(world, "sheets", "--out", str(tmp_path / "audit"), "--seed", "7", "--rater", "ann", "--rater", "bo")
    assert "2 traps, 2 of them deep; raters ann, bo" in done.stdout
    text = (tmp_path / "audit" / construct_file("ann")).read_text("utf-8-sig")
    for word in (
        'label"',
        "c1_",
        "c3_",
        "C1",
        "C3",
        "mark>",
        "old_mark",
        "superseded",
        "governing",
        "verbatim",
        'mini"',
    ):
        assert word not in text, word
    head, *body = rows(tmp_path / "audit" / construct_file("ann"))
    assert head == ["case", "construct", "remarks", "session 1", "session 2", "session 3", "notes"]
    assert {row[0] for row in body} == {masked("c1_label", 7), masked("c3_label", 7)}
    assert all(row[1:3] == ["", ""] for row in body)
    assert body[0][4].startswith("Add `full(name) -> bool` to `src/mini/boxes.py`")
    assert "[note 2, after session 2]\nReview note N-" in body[0][6]
    deep = rows(tmp_path / "audit" / deep_file("bo"))
    assert deep[0][4:9] == list(QUESTIONS)
    assert {(row[0], row[1]) for row in deep[1:]} == {("c1_label", "C1"), ("c3_label", "C3")}
    assert (tmp_path / "audit" / KEY).stat().st_mode & 0o077 == 0
    assert "C10: Abstention" in (tmp_path / "audit/guide.md").read_text()


def test_names_order_and_values_follow_from_the_seed(world: Path, tmp_path: Path) -> None:
    traps = traps_of(world)
    digests = dict.fromkeys(traps, "d")
    one, again, other = (tmp_path / name for name in ("one", "again", "other"))
    write_sheets(one, traps, digests, ("a", "b"), 7)
    write_sheets(again, traps, digests, ("a", "b"), 7)
    write_sheets(other, traps, digests, ("a", "b"), 8)
    for name in (construct_file("a"), construct_file("b"), deep_file("a")):
        assert (one / name).read_bytes() == (again / name).read_bytes()
    assert {r[0] for r in rows(one / construct_file("a"))} & {r[0] for r in rows(other / construct_file("a"))} == {
        "case"
    }
    orders = {tuple(r[0] for r in rows(write_order(traps, digests, tmp_path / f"s{n}", n))) for n in range(8)}
    assert len(orders) > 1
    with pytest.raises(UsageFault, match="there is an audit"):
        write_sheets(one, traps, digests, ("a", "b"), 7)


def write_order(traps: dict[str, Trap], digests: dict[str, str], folder: Path, number: int) -> Path:
    """The sheet of a rater of this number: the order is the rater's own."""
    write_sheets(folder, traps, digests, (f"r{number}", "other"), 7)
    return folder / construct_file(f"r{number}")


def test_two_courses_are_told_without_their_names(world: Path) -> None:
    spec = world / "traps/c1/label/trap.toml"
    spec.write_text(spec.read_text() + '\n[[history]]\nname = "absent"\nroles = { e1 = "decoy" }\nexpect = "abstain"\n')
    told = shown(traps_of(world)["c1_label"], 7)[3]
    assert told.startswith("(Not all notes are there each time. Course 1: notes 1, 2; course 2: notes 1.)\n")
    assert "absent" not in told


@settings(max_examples=200, deadline=None)
@given(st.text("=+-@\t\r\n '|%\"ab,;\uff1d", max_size=12))
def test_no_cell_is_a_formula(text: str) -> None:
    cell = plain_cell(text)
    assert cell in (text, f"'{text}")
    assert not cell.lstrip()[:1] or cell.lstrip()[0] not in "=+-@\t\r|%\uff1d"
    assert list(csv.reader(io.StringIO(table([[text, "x"]]), newline=""))) == [[cell, "x"]]


def test_formulas_of_a_trap_are_data(world: Path, tmp_path: Path) -> None:
    prompt = world / "traps/c1/label/s2.md"
    canary, _ = prompt.read_text().split("\n", 1)
    prompt.write_text(f'{canary}\n=HYPERLINK("http://x.example","y")\n')
    write_sheets(tmp_path / "audit", traps_of(world), dict.fromkeys(("c1_label", "c3_label"), "d"), ("a", "b"), 7)
    cells = [row[4] for row in rows(tmp_path / "audit" / construct_file("a"))]
    assert '\'=HYPERLINK("http://x.example","y")\n' in cells


@pytest.mark.parametrize("raters", [("a",), ("a", "a"), ("a", "../b"), ("a", "B")])
def test_raters_have_names_of_their_own(world: Path, tmp_path: Path, raters: tuple[str, ...]) -> None:
    with pytest.raises(UsageFault, match="raters: "):
        write_sheets(tmp_path / "audit", traps_of(world), dict.fromkeys(("c1_label", "c3_label"), "d"), raters, 7)
    assert not (tmp_path / "audit").exists()


# -- what is made of the answers -------------------------------------------------------------------------------


def key_of(traps: dict[str, str], deep: tuple[str, ...]) -> Key:
    cases = {masked(t, 1): Case(trap=t, construct=c, digest="d") for t, c in traps.items()}
    return Key(schema=1, seed=1, raters=("a", "b"), at="2026-01-05T10:00:00Z", version="0", cases=cases, deep=deep)  # type: ignore[arg-type]


FOUR = {"c1_a": "C1", "c1_b": "C1", "c3_a": "C3", "c7_a": "C7"}


def rated(
    folder: Path, a: dict[str, str], b: dict[str, str], there: dict[str, tuple[str, str]] | None = None
) -> Ratings:
    key = key_of(FOUR, ("c1_a", "c3_a"))
    for rater, answers in (("a", a), ("b", b)):
        body = [[masked(trap, 1), label] for trap, label in answers.items()]
        (folder / construct_file(rater)).write_text(table([["case", "construct"], *body]))
    return read_ratings(folder, key, there or {trap: (c, "d") for trap, c in FOUR.items()})


def test_what_is_not_rated_supports_no_claim(tmp_path: Path) -> None:
    found = rated(
        tmp_path, {"c1_a": "C1", "c1_b": "", "c3_a": "c3", "c7_a": "C1"}, {"c1_a": "C1", "c3_a": "C3", "c7_a": "C7"}
    )
    assert [(row.construct, row.traps, row.rated, row.confirmed, row.says) for row in constructs(found)] == [
        ("C1", 2, 1, 1, "1 of 2 not rated: no claim"),
        ("C3", 1, 1, 1, "1 of 1 confirmed by every rater"),
        ("C7", 1, 1, 0, "0 of 1 confirmed by every rater"),
    ]
    (kappa,) = kappas(found, CONSTRUCT).values()  # C1/C1, C3/C3, C1/C7: p_o = 2/3, p_e = (2*1 + 1*1) / 9
    assert (kappa.n, kappa.agreed, kappa.expected, kappa.kappa) == (3, 2, Fraction(1, 3), Fraction(1, 2))
    assert found.disagreements(CONSTRUCT) == [("c7_a", ("C1", "C7"))]
    (nothing,) = kappas(found, "fit").values()
    assert nothing.kappa is None
    alone = rated(tmp_path, {"c1_a": "C1"}, {})
    assert "c1_a  not rated by b" in as_text(score_document(alone))
    text = as_text(score_document(found))
    assert "Not rated by every rater: 1 of 4 traps" in text
    assert "c1_b  not rated" in text
    assert "Not rated by every rater: 2 of 2 traps" in text  # of the deep audit


def test_a_trap_that_has_changed_or_came_later_is_not_rated(tmp_path: Path) -> None:
    there = {"c1_a": ("C1", "other"), "c1_b": ("C1", "d"), "c3_a": ("C3", "d"), "c9_new": ("C9", "d")}
    same = dict(FOUR)
    found = rated(tmp_path, same, same, there)
    assert (found.changed, found.gone) == (("c1_a",), ("c7_a",))
    assert found.rated(CONSTRUCT) == ("c1_b", "c3_a")
    assert [row.says for row in constructs(found)] == [
        "1 of 2 not rated: no claim",
        "1 of 1 confirmed by every rater",
        "not rated: no claim",
    ]


MALFORMED: dict[str, tuple[str, str]] = {
    "no construct": ("case,construct\nT1,C1\nT2,C11\n", r"row 3: construct is 'C11', expected one of C1, C2"),
    "two answers": ("case,construct\nT1,C1 or C2\n", r"row 2: construct is 'C1 or C2'"),
    "unknown case": ("case,construct\nT9,C1\n", r"row 2: 'T9' is no case of this audit"),
    "twice": ("case,construct\nT1,C1\n\nT1,C2\n", r"row 4: T1 is there twice"),
    "no column": ("case,remarks\nT1,C1\n", r"row 1: there must be one column 'construct'"),
    "no header": ("", r"row 1: there must be one column 'case'"),
    "short row": ("case,construct,notes\nT1,C1\n", r"row 2: 2 cells under 3 columns"),
    "open quote": ('case,construct\nT1,C1\n"T2,C1\n', r"row 3: unexpected end of data"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_cell_is_named_with_file_and_row(tmp_path: Path, name: str) -> None:
    path, (text, message) = tmp_path / "construct-a.csv", MALFORMED[name]
    path.write_text(text)
    with pytest.raises(UsageFault, match=r"construct-a\.csv: " + message):
        read_sheet(path, ("construct",), CONSTRUCTS, {"T1": "one", "T2": "two"})


def test_sheets_as_spreadsheets_save_them(tmp_path: Path) -> None:
    path, names = tmp_path / "construct-a.csv", {"T1": "one", "T2": "two"}
    told = {"one": {"construct": "C2"}, "two": {}}
    for text in (
        '\ufeffcase;construct;notes\r\nT1; c2 ;"a\r\nb,c"\r\nT2;;\r\n;;\r\n',
        "notes,case,construct\n,T1,C2\nx,T2,\n",
    ):
        path.write_bytes(text.encode())
        assert read_sheet(path, ("construct",), CONSTRUCTS, names) == told
    path.write_bytes("case,construct\nT1,C2\u00e9\n".encode("latin-1"))
    with pytest.raises(UsageFault, match=r"construct-a\.csv: not UTF-8 at byte 20"):
        read_sheet(path, ("construct",), CONSTRUCTS, names)
    assert read_sheet(tmp_path / "none.csv", ("construct",), CONSTRUCTS, names) == {}


def test_from_sheets_to_scores_on_the_command_line(world: Path, tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    call(world, "sheets", "--out", str(folder), "--seed", "7")
    assert "not rated: no claim" in call(world, "score", str(folder)).stdout
    one, other = masked("c1_label", 7), masked("c3_label", 7)
    fill(folder / construct_file("a"), {one: {"construct": "C1"}, other: {"construct": "C3"}})
    fill(folder / construct_file("b"), {one: {"construct": "C3"}, other: {"construct": "C3"}})
    fill(folder / deep_file("a"), {"c1_label": {"leakage": "yes", "fit": "No"}})
    done = call(world, "score", str(folder))
    assert "1 of 1 confirmed by every rater" in done.stdout
    assert "c1_label  leakage   yes     a" in done.stdout
    data = json.loads(call(world, "score", str(folder), "--json").stdout)
    assert data["agreement"]["construct"]["a/b"]["kappa"] == 0.0
    assert data["disagreements"]["construct"] == [["c1_label", ["C1", "C3"]]]
    assert data["not rated"]["fit"] == ["c1_label", "c3_label"]
    assert load_key(folder).seed == data["seed"] == 7
    fill(folder / deep_file("a"), {"c1_label": {"fit": "maybe"}})
    refused = call(world, "score", str(folder))
    assert isinstance(refused.exception, UsageFault)
    assert "deep-a.csv: row " in str(refused.exception)
    assert isinstance(call(world, "score", str(tmp_path / "none")).exception, UsageFault)
    assert isinstance(call(world).exception, UsageFault)
    misplaced = CliRunner().invoke(cli, ["trap", "audit", "--json", "score", str(folder)], standalone_mode=False)
    assert "options stand behind its name" in str(misplaced.exception)


def test_opacity_says_what_it_did(world: Path) -> None:
    places = ["--traps", str(world / "traps"), "--oracles", str(world / "oracles")]
    words = ["trap", "opacity", "--permutations", "99", *places]
    one_fixture = CliRunner().invoke(cli, words, standalone_mode=False)
    assert "opacity: all texts are of one group" in str(one_fixture.exception)
    shutil.copytree(world / "traps/fixtures/mini", world / "traps/fixtures/other")
    for path, old in (
        (world / "traps/c3/label/trap.toml", "fixture = "),
        (world / "traps/fixtures/other/fixture.toml", "name = "),
    ):
        path.write_text(path.read_text().replace(f'{old}"mini"', f'{old}"other"'))
    done = CliRunner().invoke(cli, words, standalone_mode=False)
    assert done.exception is None
    assert "2 traps, 2 fixtures" in done.stdout
    assert done.stdout.count("within fixtures") >= 2
    data = json.loads(CliRunner().invoke(cli, [*words, "--json"], standalone_mode=False).stdout)
    assert [(g["left_out"], g["within"], g["permutations"]) for g in data["guessed"]] == [
        ("one trap", False, 99),
        ("one trap", True, 99),
        ("one fixture", False, 99),
        ("one fixture", True, 99),
    ]
