"""Every gate of reading: a store in which taking it away lets something in, and one in which it must not matter."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_probe.protocol import Budget, Scope
from memory_probe.read.gate import GATES
from memory_probe.store.model import Link, Provenance

from .probe_kit import DAY, FILES, NOW, QUERY, WIDE, item, planted, shown, variant, why, without_gate

TEXT = "reminders go to the mail channel"
PAST, FUTURE = NOW - dt.timedelta(1), NOW
#: gate -> (what only this gate refuses, what it must let through)
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "status": ({"standing": {"status": "requires_review"}}, {"standing": {"status": "active"}}),
    "expired": ({"standing": {"valid_until": PAST}}, {"standing": {"valid_until": FUTURE}}),
    "repository": ({"repository": "other"}, {"repository": ""}),
    "files": ({"scope": Scope(("src/shop.py",))}, {"scope": Scope(("src/",))}),
    "symbols": ({"scope": Scope(FILES, ("Shop",))}, {"scope": Scope(FILES, ("Mail.send",))}),
    "task": ({"scope": Scope(FILES, (), "orders")}, {"scope": Scope(FILES, (), "a reminder")}),
    "risk": ({"standing": {"risk": 0.95}}, {"standing": {"risk": 0.9499}}),
    "staleness": ({"standing": {"staleness": 0.95}}, {"standing": {"staleness": 0.9499}}),
    "ungrounded": ({"provenance": Provenance()}, {"provenance": Provenance(commit=("abc",))}),
}
ASKED = replace(QUERY, symbols=("Mail",))


@pytest.mark.parametrize("gate", CASES)
def test_a_gate_refuses_what_it_is_for_and_only_that(gate: str, tmp_path: Path) -> None:
    refused, passed = CASES[gate]
    closed = planted(tmp_path / "closed", item(TEXT, **refused)).read(ASKED, WIDE)
    assert closed.items == ()
    assert why(closed, TEXT) == gate
    opened = planted(tmp_path / "opened", item(TEXT, **refused), of=without_gate(gate))
    assert why_or_shown(opened.read(ASKED, WIDE)) != gate
    for name, of in (("with", variant()), ("without", without_gate(gate))):
        assert shown(planted(tmp_path / name, item(TEXT, **passed), of=of), ASKED) == [TEXT]


def why_or_shown(view: Any) -> str:
    return "shown" if view.items else why(view, TEXT)


@pytest.mark.parametrize("gate", ["status", "expired", "repository", "files", "symbols", "task", "ungrounded"])
def test_without_the_gate_it_comes_in(gate: str, tmp_path: Path) -> None:
    assert shown(planted(tmp_path, item(TEXT, **CASES[gate][0]), of=without_gate(gate)), ASKED) == [TEXT]


def test_an_active_superseder_keeps_the_superseded_out_also_by_a_chain(tmp_path: Path) -> None:
    chain = (Link(2, "supersedes", 1), Link(3, "supersedes", 2))
    items = (item("first"), item("second", standing={"status": "superseded"}), item("third"))
    view = planted(tmp_path / "a", *items, links=chain).read(QUERY, WIDE)
    assert [i.text for i in view.items] == ["third"]
    assert why(view, "first") == "superseded"
    assert shown(planted(tmp_path / "b", *items, links=chain, of=without_gate("superseded"))) == ["first", "third"]
    fallen = (item("first"), item("second", standing={"status": "requires_review"}))
    assert shown(planted(tmp_path / "c", *fallen, links=chain[:1])) == ["first"]


def test_a_type_that_the_condition_does_not_read_stays_out(tmp_path: Path) -> None:
    dispute, note = item("reminders differ", type="contradiction"), item(TEXT)
    hybrid = planted(tmp_path / "hybrid", dispute, note, of=variant("DF-hybrid")).read(QUERY, WIDE)
    assert [i.text for i in hybrid.items] == [TEXT]
    assert why(hybrid, "reminders differ") == "type"
    assert set(shown(planted(tmp_path / "df", dispute, note))) == {TEXT, "reminders differ"}


def test_the_first_gate_in_order_names_the_reason(tmp_path: Path) -> None:
    assert list(GATES) == [
        *("status", "expired", "repository", "files", "symbols", "task"),
        *("superseded", "risk", "staleness", "ungrounded", "type"),
    ]
    all_wrong = item(
        TEXT,
        repository="other",
        scope=Scope(("x",), ("y",), "z"),
        provenance=Provenance(),
        standing={"status": "stale", "valid_until": PAST, "risk": 1.0, "staleness": 1.0},
    )
    gates = list(variant().policy.gates)
    for index, gate in enumerate(gates):
        if gate in ("superseded", "type"):
            continue
        of = replace(variant(), policy=replace(variant().policy, gates=tuple(gates[index:])))
        assert why(planted(tmp_path / gate, all_wrong, of=of).read(ASKED, WIDE), TEXT) == gate


def test_a_deleted_memory_is_never_a_candidate_not_even_without_gates(tmp_path: Path) -> None:
    for code in ("DF", "A6"):
        memory = planted(tmp_path / code, item(TEXT), of=variant(code))
        memory.forget(1, "asked to", DAY)
        view = memory.read(QUERY, WIDE, history=True)
        assert (view.items, view.rejected, view.considered) == ((), (), 0)
        assert next(r.state for r in memory.records(include_inactive=True)) == "retracted"


def test_history_shows_what_no_longer_stands_with_its_state_and_successor(tmp_path: Path) -> None:
    items = item("old", standing={"status": "superseded"}), item(TEXT)
    memory = planted(tmp_path, *items, links=(Link(2, "supersedes", 1),))
    assert shown(memory) == [TEXT]
    view = memory.read(QUERY, WIDE, history=True)
    assert [(i.text, i.state, i.successor) for i in view.items] == [(TEXT, "active", None), ("old", "superseded", 1)]


def test_every_candidate_is_shown_or_rejected_with_a_reason(tmp_path: Path) -> None:
    texts = [f"reminder {n} goes to the mail channel" for n in range(9)]
    memory = planted(tmp_path, *(item(t) for t in texts), item("far", scope=Scope(("x.py",))))
    view = memory.read(QUERY, Budget(3, 20))
    assert len(view.items) + len(view.rejected) == view.considered == 10
    assert all(r.why.partition(":")[0] and r.why.partition(":")[2] for r in view.rejected)
    assert [why(view, t) for t in texts[2:4]] == ["budget", "budget"]
    assert why(memory.read(QUERY, Budget(2, 99)), texts[5]) == "out-ranked"
