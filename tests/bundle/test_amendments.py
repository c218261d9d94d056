"""Amendments: what they change, when they may, and that the chain of them shows every edit."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from harness.bundle.manifest import canonical
from harness.bundle.signing import load_key, new_key
from harness.draw import draw_all, save
from harness.outcome import UsageFault
from harness.plan import select
from harness.preregistration.plan_file import parse_amendments
from harness.preregistration.plan_start import arms_begun, held
from harness.preregistration.plan_start import told as told_of
from harness.preregistration.preregister import follows
from harness.run import stored_config

from .plan_kit import Planned, Table, done, dreambench, entry, files, refused, write_amendments


def test_an_amended_budget_is_what_is_run(place: Planned) -> None:
    facts, plan = (place.out / "facts.json").read_bytes(), (place.out / "plan.json").read_bytes()
    done(place.amend("budget.k=5", reason="a smaller view"))
    assert (place.out / "facts.json").read_bytes() == facts, "nothing is drawn anew"
    assert (place.out / "plan.json").read_bytes() == plan
    assert "meaning.config.budget.k: 6 -> 5" in place.amendments[0].body.differing
    done(place.start())
    assert place.table("run.json")["config"]["budget"]["k"] == 5
    assert "amendment 1" in (place.out / "report.md").read_text()
    assert place.problems == []
    before = files(place.out)
    refused(place.amend("budget.k=4"), 1, "committed", "a plan of its own", "config.budget.k: 5 -> 4")
    refused(place.start("budget.k=4", *place.words, reason="please"), 1, "committed", "config.budget.k: 5 -> 4")
    assert files(place.out) == before


def test_a_new_seed_is_drawn_and_the_old_one_stays(amended_once: Planned) -> None:
    told, plan = amended_once.table("commitments.json"), amended_once.frozen.plan
    assert told["commitments"]["c1_label/1"] == plan.commitments["c1_label/1"]
    second = amended_once.amendments[1].body
    assert second.changed["commitments"] == told["commitments"]
    assert set(told["commitments"]) == {"c1_label/1", "c1_label/2"}
    assert second.changed["arms"]["number"] == 2
    assert [a.body.previous for a in amended_once.amendments][1:] == [a.sha256 for a in amended_once.amendments][:-1]
    assert amended_once.problems == []


def test_a_haystack_is_drawn_beside_the_facts_and_goes_with_the_amendment(place: Planned) -> None:
    before = place.frozen.plan.commitments
    done(place.amend("haystack=3"))
    told = place.table("commitments.json")
    assert told["commitments"] == before
    assert place.amendments[0].body.changed["background"] == told["background"]
    assert set(told["background"]) == {"mini/1"}
    done(place.amend("budget.k=5"))
    assert place.table("commitments.json") == told, "a background that still fits stays"
    done(place.amend("haystack=0"))
    assert not (place.out / "background.json").exists()
    assert place.problems == []


def test_an_amendment_that_was_killed_half_way_is_made_again(place: Planned) -> None:
    traps = select(stored_config(place.folder), place.root)
    save(place.out / "facts.json", draw_all(traps.values(), [1]))
    refused(place.start(), 1, "do not match the draw digest")
    done(place.amend(reason="the machine went down"))
    assert set(place.amendments[0].body.changed) == {"commitments", "draw"}
    assert place.problems == []


def test_an_amendment_wants_a_reason_a_difference_and_the_key_of_the_plan(place: Planned) -> None:
    new_key(place.root / "other.pem")
    before = files(place.out)
    amend = ("plan", "amend", place.out, "budget.k=5", "--sign")
    refused(dreambench(*amend, place.root / "other.pem", "--reason", "x"), 1, "the plan was signed by")
    refused(dreambench(*amend, place.key, "--reason", " "), 1, "needs a reason")
    refused(place.amend("facts_from=/elsewhere"), 1, "nothing differs")
    refused(place.amend("budget.k=5", "facts_from=/elsewhere"), 1, "facts_from: none when the plan was frozen")
    refused(place.amend("nonsense"), 1, "KEY=VALUE")
    assert {name: data for name, data in files(place.out).items() if name != "ledger.sqlite"} == before
    assert arms_begun(place.folder) == 0
    refused(place.amend("budget.k=5", reason="x\ny"), 1, "reason", "one line")
    refused(place.amend("budget.k=5", reason="x" * 151), 1, "reason", "150")
    assert place.amendments == ()


# -- the chain -----------------------------------------------------------------------------------------------------


def _entries(place: Planned) -> list[Table]:
    found: list[Table] = place.table("amendments.json")["amendments"]
    return found


def _signed(number: int, **changes: Any) -> Callable[[Planned], list[Table]]:
    """Amendment `number` with other contents, signed anew; those after it are linked to it and signed anew too."""

    def edit(place: Planned) -> list[Table]:
        key, found = load_key(place.key), _entries(place)
        for at in range(number - 1, len(found)):
            body = found[at]["amendment"] | (changes if at == number - 1 else {})
            if at >= number:
                body["previous"] = hashlib.sha256(canonical(found[at - 1])).hexdigest()
            found[at] = entry(body, key)
        return found

    return edit


def _edited(number: int, **changes: Any) -> Callable[[Planned], list[Table]]:
    def edit(place: Planned) -> list[Table]:
        found = _entries(place)
        found[number - 1]["amendment"] |= changes
        return found

    return edit


def _by_another(place: Planned) -> list[Table]:
    found = _entries(place)
    found[2] = entry(found[2]["amendment"], new_key(place.root / "other.pem"))
    return found


CHAINS: list[tuple[str, Callable[[Planned], list[Table]], str]] = [
    ("first dropped", lambda p: _entries(p)[1:], "amendment 1: it says that it is number 2"),
    ("middle dropped", lambda p: [_entries(p)[0], _entries(p)[2]], "amendment 2: it does not follow"),
    ("last dropped", lambda p: _entries(p)[:2], "run.json tells of 3 amendments, there are 2"),
    ("all dropped", lambda p: [], "run.json tells of 3 amendments, there are 0"),
    ("swapped", lambda p: [_entries(p)[i] for i in (1, 0, 2)], "amendment 1: it does not follow"),
    ("twice", lambda p: [*_entries(p), _entries(p)[2]], "amendment 4: it says that it is number 3"),
    ("reason", _edited(2, reason="a nicer one"), "amendment 2: the signature does not hold"),
    ("date", _edited(3, date="2099-01-01T00:00:00+00:00"), "amendment 3: the signature does not hold"),
    ("value", _edited(1, changed={"python": "3.1"}), "amendment 1: the signature does not hold"),
    ("reason signed anew", _signed(1, reason="a nicer one"), "another is the last"),
    ("value signed anew", _signed(1, changed={"python": "3.1"}), "amendment 1: what it says of its changes"),
    ("words signed anew", _signed(3, differing=["nothing"]), "amendment 3: what it says of its changes"),
    ("earlier date", _signed(2, date="2020-01-01T00:00:00+00:00"), "amendment 2: its date 2020-01-01"),
    ("date of freezing", _signed(1, changed={"frozen": "2020-01-01T00:00:00+00:00"}), "the date on which the plan"),
    ("no plan", _signed(1, changed={"sandbox": 3}), "amendment 1: what it makes is no plan: sandbox"),
    ("late", _signed(3, begun=1), "amendment 3: it changes what is measured (meaning, plan_digest) after sessions"),
    ("another signer", _by_another, "amendment 3: signed by"),
]


@pytest.mark.parametrize(("edit", "says"), [c[1:] for c in CHAINS], ids=[c[0] for c in CHAINS])
def test_an_edited_chain_is_found(edit: Callable[[Planned], list[Table]], says: str, amended: Planned) -> None:
    write_amendments(amended.out / "amendments.json", edit(amended))
    assert [problem for problem in amended.problems if says in problem], amended.problems
    with pytest.raises(UsageFault, match="the frozen plan does not hold"):
        held(amended.folder)
    assert told_of(amended.folder, amended.folder.description())[0][1].startswith("NOT AS IN the plan")


def test_a_start_under_an_edited_chain_is_refused(amended: Planned) -> None:
    write_amendments(amended.out / "amendments.json", _edited(2, reason="a nicer one")(amended))
    before = files(amended.out)
    for reason in ("", "x"):
        refused(amended.start(reason=reason), 3, "the frozen plan does not hold: amendment 2: the signature")
    refused(amended.amend("budget.k=3"), 3, "the frozen plan does not hold")
    shown = dreambench("plan", "show", amended.out)
    assert shown.return_value == 3
    assert "NO: amendment 2: the signature does not hold" in shown.output
    assert {name: data for name, data in files(amended.out).items() if name in before} == before
    assert arms_begun(amended.folder) == 0


def test_a_start_that_was_killed_before_run_json_names_the_amendment_is_taken_up(amended: Planned) -> None:
    run = amended.table("run.json")
    behind = follows(amended.frozen, amended.amendments[:2]).model_dump()
    (amended.out / "run.json").write_text(json.dumps(run | {"follows": behind}))
    done(amended.start())
    assert amended.table("run.json")["follows"] == run["follows"]
    assert amended.problems == []


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"amendments":[],"schema":2}', "schema '2' is not known"),
        (b'{"amendments":[{}],"schema":1}', "no list of amendments: amendments.0.amendment: Field required"),
        (b'{"amendments":[],"note":1,"schema":1}', "note: Extra inputs"),
        (b'{"amendments": [],"schema":1}', "edited"),
    ],
)
def test_a_malformed_list_of_amendments_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(UsageFault, match=re.escape(says)):
        parse_amendments(data, "amendments.json")
