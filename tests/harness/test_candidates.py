"""The record of candidates: what is frozen stays said, and changes only by an amendment with its reason."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.candidates import FILE, Found, amend, counts, freeze, read, removed, states
from harness.cli.main import cli
from harness.config import load
from harness.outcome import COMPLETE, REJECTED, UsageFault
from harness.plan import load_oracles, select
from traps.folds import member_digest

MINI = Path(__file__).parent.parent / "data" / "mini"


def now(letter: str, fixture: str = "f") -> Found:
    return Found(letter * 64, "mini", fixture * 64)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    shutil.copytree(MINI, tmp_path / "mini")
    return tmp_path / "mini"


def call(world: Path, *words: str) -> Result:
    places = ["--traps", str(world / "traps"), "--oracles", str(world / "oracles")]
    return CliRunner().invoke(cli, ["trap", *words, *places], standalone_mode=False)


def test_freezing_again_adds_what_is_new_and_nothing_else(tmp_path: Path) -> None:
    assert [line.trap for line in freeze(tmp_path, {"c1_a": now("a")})] == ["c1_a"]
    before = (tmp_path / FILE).read_bytes()
    assert freeze(tmp_path, {"c1_a": now("a")}) == ()
    assert (tmp_path / FILE).read_bytes() == before
    assert [line.trap for line in freeze(tmp_path, {"c1_a": now("a"), "c1_b": now("b")})] == ["c1_b"]
    assert (tmp_path / FILE).read_bytes().startswith(before)


def test_one_that_has_changed_stops_all_and_adds_nothing(tmp_path: Path) -> None:
    freeze(tmp_path, {"c1_a": now("a"), "c1_b": now("b")})
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(UsageFault, match=r"c1_a \(trap or oracle has changed since .*nothing was added"):
        freeze(tmp_path, {"c1_a": now("d"), "c1_new": now("c")})
    with pytest.raises(UsageFault, match=r"c1_b \(its fixture has changed since"):
        freeze(tmp_path, {"c1_b": now("d", fixture="e")})
    amend(tmp_path, "c1_b", "removed", "it leaks", None)
    with pytest.raises(UsageFault, match=r"c1_b \(removed on .*: it leaks\)"):
        freeze(tmp_path, {"c1_b": now("b")})
    assert (tmp_path / FILE).read_bytes().startswith(before)


def test_an_amendment_says_why_when_and_what_was(tmp_path: Path) -> None:
    freeze(tmp_path, {"c1_a": now("a"), "c1_b": now("b")})
    changed = amend(tmp_path, "c1_a", "changed", "a typo\nin the S1 prompt", now("d"))
    assert (changed.was, changed.digest, changed.reason) == ("a" * 64, "d" * 64, "a typo in the S1 prompt")
    gone = amend(tmp_path, "c1_a", "removed", "leaks", None)
    assert (gone.was, gone.digest) == ("d" * 64, "d" * 64)
    told = read(tmp_path / FILE)
    assert [line.act for line in told["c1_a"].lines] == ["frozen", "changed", "removed"]
    assert removed(told) == {"c1_a"}
    assert states(told, {"c1_a": "d" * 64, "c1_c": "c" * 64}) == {
        "c1_a": "removed",
        "c1_c": "not frozen",
        "c1_b": "not there",
    }
    amend(tmp_path, "c1_a", "restored", "it did not", now("d"))
    told = read(tmp_path / FILE)
    assert states(told, {"c1_a": "d" * 64, "c1_b": "c" * 64}) == {"c1_a": "frozen", "c1_b": "changed since"}
    assert counts(told, {"c1_a": "d" * 64, "c1_b": "c" * 64}) == {
        "frozen as candidates": 2,
        "changed by an amendment": 1,
        "removed by an amendment": 1,
        "removed now": 0,
        "changed or gone without an amendment": 1,
    }
    assert counts({}, {"c1_a": "d" * 64}) == {}


AMENDMENTS: dict[str, tuple[tuple[Any, ...], str]] = {
    "never frozen": (("c1_z", "removed", "r", None), "never frozen"),
    "without a reason": (("c1_a", "changed", " \n", now("d")), "has a reason"),
    "without a change": (("c1_a", "changed", "r", now("a")), "nothing has changed"),
    "put back what is there": (("c1_a", "restored", "r", now("a")), "restored, but it was frozen before"),
    "of a folder that is gone": (("c1_a", "changed", "r", None), "only `removed` is left"),
}


@pytest.mark.parametrize("name", AMENDMENTS)
def test_an_amendment_that_does_not_follow_is_refused(tmp_path: Path, name: str) -> None:
    freeze(tmp_path, {"c1_a": now("a")})
    before = (tmp_path / FILE).read_bytes()
    words, message = AMENDMENTS[name]
    with pytest.raises(UsageFault, match=message):
        amend(tmp_path, *words)
    assert (tmp_path / FILE).read_bytes() == before


def test_lines_that_do_not_follow_are_named(tmp_path: Path) -> None:
    freeze(tmp_path, {"c1_a": now("a")})
    amend(tmp_path, "c1_a", "changed", "r", now("b"))
    amend(tmp_path, "c1_a", "changed", "r", now("c"))
    one, two, three = (tmp_path / FILE).read_text().splitlines()
    for lines, message in (
        ((two, three), r":1: c1_a: changed, but no line before has frozen it"),
        ((one, three), r":2: c1_a: `was` is not the digest of the line before"),
        ((one, one), r":2: c1_a: frozen twice"),
        ((one, two.replace('"r"', '""')), r":2: .*an amendment has a reason"),
        ((one, two, "{}"), r":3: .*trap"),
    ):
        (tmp_path / FILE).write_text("\n".join(lines) + "\n")
        with pytest.raises(UsageFault, match=FILE + message):
            read(tmp_path / FILE)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["freeze", "changed", "removed", "restored"]), st.sampled_from("ab")), max_size=8
    )
)
def test_the_file_only_grows_and_can_always_be_read(tmp_path_factory: Any, acts: list[tuple[Any, str]]) -> None:
    root = tmp_path_factory.mktemp("record")
    before = b""
    for act, letter in acts:
        try:
            if act == "freeze":
                freeze(root, {"c1_a": now(letter)})
            else:
                amend(root, "c1_a", act, "why", now(letter))
        except UsageFault:
            assert (root / FILE).read_bytes() == before if before else not (root / FILE).exists()
        data = (root / FILE).read_bytes() if (root / FILE).exists() else b""
        assert data.startswith(before)
        before = data
        read(root / FILE)


def test_from_the_command_line(world: Path) -> None:
    assert call(world, "candidates", "freeze").exception is not None
    assert "1 frozen, 0 were already" in call(world, "candidates", "freeze", "--all").stdout
    (line,) = read(world / "traps" / FILE)["c1_label"].lines
    config = load(None, [], {"traps_dir": str(world / "traps"), "oracles_dir": str(world / "oracles")})
    traps = select(config, config.cache_dir)
    oracle = load_oracles(config, traps)["c1_label"]
    assert line.digest == member_digest(traps["c1_label"].digest, oracle.digest)
    assert line.fixture_digest == traps["c1_label"].fixture.digest
    assert call(world, "list").stdout.splitlines()[0].endswith("mini [frozen]")
    prompt = world / "traps/c1/label/s1.md"
    prompt.write_text(prompt.read_text() + "Thanks.\n")
    shown = call(world, "candidates", "show")
    assert (shown.return_value, "changed since" in shown.stdout) == (REJECTED, True)
    refused = call(world, "candidates", "freeze", "c1_label")
    assert isinstance(refused.exception, UsageFault)
    assert call(world, "candidates", "amend", "c1_label", "changed", "--reason", "thanks").return_value == COMPLETE
    assert call(world, "candidates", "show").return_value == COMPLETE
    shutil.rmtree(world / "traps/c1/label")
    assert call(world, "candidates", "show").return_value == REJECTED
    call(world, "candidates", "amend", "c1_label", "removed", "--reason", "taken out")
    data = json.loads(call(world, "candidates", "show", "--json").stdout)
    assert data["c1_label"]["state"] == "removed"
    assert [line["act"] for line in data["c1_label"]["lines"]] == ["frozen", "changed", "removed"]
    assert "taken out" in call(world, "candidates", "show", "--markdown").stdout


def test_the_funnel_and_the_list_tell_it(world: Path) -> None:
    assert "candidates" not in call(world, "funnel").stdout
    call(world, "candidates", "freeze", "c1_label")
    call(world, "candidates", "amend", "c1_label", "removed", "--reason", "leaks")
    counted = json.loads(call(world, "funnel", "--json").stdout)
    assert (counted["frozen as candidates"], counted["removed now"]) == (1, 1)
    assert json.loads(call(world, "list", "--json").stdout)[0]["candidate"] == "removed"


FAMILY = """
name = "Two traps"
about = "does the evidence help"
endpoint = "matched"
alpha = 0.05
[gates]
baseline = "B0"
min_traps = 2
[[contrast]]
id = "T1"
first = "EVIDENCE"
second = "B0"
primary = true
"""


def twice(world: Path) -> None:
    """The mini trap under a second name."""
    for side in ("traps", "oracles"):
        shutil.copytree(world / side / "c1/label", world / side / "c1/other")
    spec = world / "traps/c1/other/trap.toml"
    spec.write_text(spec.read_text().replace("c1_label", "c1_other"))


def test_a_run_keeps_how_its_traps_stood_and_a_report_learns_what_was_removed_since(
    world: Path, run_mini: Callable[..., Any]
) -> None:
    twice(world)
    family = world / "family.toml"
    family.write_text(FAMILY)
    call(world, "candidates", "freeze", "c1_label")
    places = [f"traps_dir={world / 'traps'}", f"oracles_dir={world / 'oracles'}", f"family={family}"]
    done = run_mini("conditions=B0,EVIDENCE", "readers=careful", *places)
    told = json.loads((done.out / "run.json").read_text())["traps_told"]
    assert {trap: of["candidate"] for trap, of in told.items()} == {"c1_label": "frozen", "c1_other": "not frozen"}

    def report(*words: str) -> Result:
        return CliRunner().invoke(cli, ["report", str(done.out), *words], standalone_mode=False)

    plain = report().stdout
    assert "1 frozen, 1 not frozen" in plain
    assert "traps put back" not in plain
    call(world, "candidates", "amend", "c1_label", "removed", "--reason", "leaks")
    assert report().stdout == plain
    later = report("--candidates", str(world / "traps" / FILE)).stdout
    assert re.search(r"traps removed later \(in no rate\) +c1_label", later)
    assert re.search(r"EVIDENCE .* 1/1", later)  # without the removed trap ...
    assert re.search(r"removed later +traps put back +2 ", later)  # ... and with it
    assert isinstance(report("--candidates", str(world / "none.jsonl")).exception, UsageFault)
    assert isinstance(report("--candidates", str(world / "traps" / FILE), "--json").exception, UsageFault)
