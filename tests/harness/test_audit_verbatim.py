"""`audit --verbatim`: lines are counted as they are, and a trap for which pasting is enough is found out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from analysis.report.layout import as_text
from harness.audit_tables import verbatim_document
from harness.audit_verbatim import PASTES, Looked, Work, bearing, slots
from harness.cli.main import cli
from harness.delta import Change
from harness.outcome import REJECTED
from harness.snapshot import REGULAR, Entry
from oracles.folder import OracleFolder
from oracles.solutions import Expectation, OverlayFile

MINI = Path(__file__).parent.parent / "data" / "mini"
REFERENCE = Expectation("reference", None, "pass", ())
TEMPLATE = b"a = 0\nb = '<< mark >>'\nc = 1\n\nd = '<< other | upper >>'\n"


def work(old: str, new: str, facts: set[int]) -> Work:
    change = Change(b"src/a.py", Entry(REGULAR, old.encode()) if old else None, Entry(REGULAR, new.encode()))
    return Work.of(change, frozenset(facts))


def test_lines_with_facts_are_those_with_slots() -> None:
    oracle = OracleFolder(b"", (REFERENCE,), {"reference": {"src/a.py": OverlayFile(TEMPLATE, False)}}, "d")
    assert slots(oracle, REFERENCE) == ("mark", "other")
    filled = b"a = 0\nb = 'm-1'\nc = 1\n\nd = 'O-2'\n"
    change = Change(b"src/a.py", None, Entry(REGULAR, filled))
    assert bearing(oracle, REFERENCE, change, ["m-1", "o-2"]) == {1, 4}
    longer = Change(b"src/a.py", None, Entry(REGULAR, b"x\n" + filled))  # not the template's lines: by the values
    assert bearing(oracle, REFERENCE, longer, ["m-1", "o-2"]) == {2}


def test_a_change_is_counted_and_cut_down_to_its_facts() -> None:
    found = work("a = 0\nb = ''\nz = 9\n", "a = 0\nb = 'm-1'\n\nc = 1\n", {1})
    assert (found.added, found.with_fact, found.removed) == (2, 1, 0)
    assert found.only_facts(in_place=True) == "a = 0\nb = 'm-1'\n"
    assert found.only_facts(in_place=False) == "a = 0\nb = ''\nz = 9\nb = 'm-1'\n"
    pair = work("a = 0\nb = ''\n", "a = 1\nb = 'm-1'\n", {1})  # as many lines as before: each in its place
    assert pair.only_facts(in_place=True) == "a = 0\nb = 'm-1'\n"
    gone = work("a = 0\nb = 1\n", "a = 0\n", set())
    assert (gone.added, gone.removed, gone.only_facts(in_place=True)) == (0, 1, "a = 0\nb = 1\n")
    new = work("", "a = 'm-1'\nb = 2\n", {0})
    assert (new.added, new.with_fact, new.only_facts(in_place=True)) == (2, 1, "a = 'm-1'\n")


TEXT = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=8)


@given(TEXT, TEXT, st.booleans())
def test_without_facts_nothing_is_pasted_and_with_all_the_change_itself(
    old: list[str], new: list[str], here: bool
) -> None:
    change = Change(b"a", Entry(REGULAR, "".join(old).encode()), Entry(REGULAR, "".join(new).encode()))
    nothing, everything = Work.of(change, frozenset()), Work.of(change, frozenset(range(len(new))))
    assert nothing.only_facts(here) == "".join(old)
    assert everything.added == everything.with_fact
    if not any(tag == "delete" for tag, *_ in everything.blocks):  # what is only taken out is no fact
        assert everything.only_facts(in_place=True) == "".join(new)


def test_totals_leave_out_what_could_not_be_looked_at() -> None:
    found = [
        Looked("c1_a", "C1", "given", ("m",), ("m",), 10, 1, 0, 2, dict.fromkeys(PASTES, "failed")),
        Looked("c7_a", "C7", "given", ("m", "n"), ("m",), 1, 1, 0, 1, {PASTES[0]: "failed", PASTES[4]: "pass"}),
        Looked("c7_b", "C7", "given", stopped="S3 of given was never reached"),
    ]
    assert [(one.contract, one.further, one.enough) for one in found] == [
        ("all", 9, ()),
        ("some", 0, ("fact lines in place",)),
        ("-", 0, ()),
    ]
    text = " ".join(as_text(verbatim_document(found)).split())
    assert "Of 2 traps: prior events hold every fact word for word in 1, a part of them in 1;" in text
    assert "further work is needed in 1; pasting is enough (must be 0) in 1." in text
    assert "in no total: 1." in text


def test_a_trap_for_which_pasting_is_enough_is_found_out(tmp_path: Path) -> None:
    """The mini trap, and one whose oracle asks for nothing but the line with the fact."""
    world = tmp_path / "mini"
    shutil.copytree(MINI, world)
    for side in ("traps", "oracles"):
        shutil.copytree(world / side / "c1/label", world / side / "c1/paste")
    spec = world / "traps/c1/paste/trap.toml"
    spec.write_text(spec.read_text().replace("c1_label", "c1_paste"))
    oracle = world / "oracles/c1/paste/oracle.py"
    source = oracle.read_text()
    assert source.count('assert subject.call("mini.labels:bare", "tin") == "tin"') == 1
    oracle.write_text(source.replace('assert subject.call("mini.labels:bare", "tin") == "tin"', "pass"))
    places = ["--traps", str(world / "traps"), "--oracles", str(world / "oracles"), "--json"]
    done = CliRunner().invoke(cli, ["trap", "audit", "--verbatim", *places], standalone_mode=False)
    assert (done.exception, done.return_value) == (None, REJECTED)
    label, paste = json.loads(done.stdout)
    assert (label["trap"], label["facts"], label["held"], label["enough"]) == ("c1_label", ["mark"], ["mark"], [])
    assert (label["lines"], label["bearing"], label["files"]) == (3, 1, 1)
    assert (paste["trap"], paste["enough"]) == ("c1_paste", ["fact lines in place"])
    assert {label["pasted"][name] for name in PASTES} == {"failed"}
