"""Edits of what was planned, committed to, dated and computed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from harness.bundle import layout
from traps.facts import digest, merkle_root

from .bundle_kit import Edit, Table
from .edits_records import ALL, ARMS, SESSIONS, TRAP, Tampering

Change = Callable[[Edit], object]


def run(change: Callable[[Table], object]) -> Change:
    return lambda edit: edit.change(layout.RUN, change)


def replanned(edit: Edit, change: Callable[[Table], object]) -> None:
    """Change run.json, and give it the digest that its plan then has."""

    def whole(data: Table) -> None:
        change(data)
        text = json.dumps(data["meaning"], sort_keys=True, separators=(",", ":"))
        data["plan_digest"] = hashlib.sha256(text.encode()).hexdigest()

    edit.change(layout.RUN, whole)


def unplanned(edit: Edit, change: Callable[[Table], object]) -> None:
    """The same of a run that says that no plan was frozen."""
    for name in (layout.PLAN, layout.AMENDMENTS):
        edit.members.pop(name, None)
    replanned(edit, lambda data: (data.pop("follows"), change(data)))


def setting(key: str, value: Any) -> Callable[[Table], object]:
    """A key of the configuration, in the configuration and in the meaning of the plan."""

    def change(data: Table) -> None:
        table = data["config"]
        *path, last = key.split(".")
        for part in path:
            table = table[part]
        table[last] = data["meaning"]["config"][key] = value

    return change


def bytes_of(name: str, old: bytes, new: bytes) -> Change:
    def change(edit: Edit) -> None:
        assert old in edit.members[name]
        edit.members[name] = edit.members[name].replace(old, new, 1)

    return change


def fact(change: Callable[[Table], object]) -> Change:
    return lambda edit: edit.change(layout.FACTS, lambda t: change(t["draws"][0]), indent=None)


def committed(change: Callable[[Table], object]) -> Change:
    return lambda edit: edit.change(layout.COMMITMENTS, change)


def draw_again(edit: Edit) -> None:
    """Another fact with a commitment and a root that fit it."""
    draw = edit.table(layout.FACTS)["draws"][0]
    leaf = digest("mark", "bm-000000000000", draw["salts"]["mark"])

    def change(table: Table) -> None:
        table["commitments"][f"{TRAP}/1"]["mark"] = leaf
        table["root"] = merkle_root(table["commitments"][f"{TRAP}/1"].values())

    edit.change(layout.COMMITMENTS, change)
    edit.change(layout.RUN, lambda data: data.update(draw_digest=edit.table(layout.COMMITMENTS)["root"]))
    edit.change(layout.FACTS, lambda t: t["draws"][0]["facts"].update(mark="bm-000000000000"), indent=None)


def first_dated(date: str) -> Change:
    def change(edit: Edit) -> None:
        for name in ARMS:
            edit.rows(name, lambda rows: rows[0].update(at=date))

    return change


def tallied(edit: Edit) -> None:
    edit.change(
        layout.ANALYSIS, lambda t: t["tallies"][0].update(not_run=t["tallies"][0]["not_run"] + 1), sort_keys=True
    )


def of_p(value: float) -> Callable[[Table], object]:
    """Another value of the first exact p, which is 1."""

    def change(table: Table) -> None:
        found = [p for p in _tables(table, "p") if p.get("value") == 1.0]
        found[0]["value"] = value

    return change


def _tables(data: Any, key: str) -> list[Table]:
    if isinstance(data, dict):
        here = [data[key]] if isinstance(data.get(key), dict) else []
        return here + [t for value in data.values() for t in _tables(value, key)]
    return [t for value in data for t in _tables(value, key)] if isinstance(data, list) else []


def p_value(value: float) -> Change:
    return lambda edit: edit.change(layout.ANALYSIS, of_p(value), sort_keys=True)


def p_exact(edit: Edit) -> None:
    edit.change(layout.ANALYSIS, lambda t: _tables(t, "p")[0].update(exact="1/32"), sort_keys=True)


def spent_less(edit: Edit) -> None:
    edit.change(layout.SPENT, lambda t: t["arms"][ALL].update(store_bytes=1), sort_keys=True)


def told_otherwise(edit: Edit) -> None:
    edit.change(layout.RUN, lambda t: t["traps_told"][TRAP].update(clean_start=True, evidence="none"))


def lost_plan(edit: Edit) -> None:
    del edit.members[layout.PLAN]


def one_fact_less(edit: Edit) -> None:
    edit.change(layout.FACTS, lambda t: t["draws"].clear(), indent=None)


def of_no_trap(edit: Edit) -> None:
    edit.change(layout.RUN, lambda t: t["constructs"].update(c2_other="C2"))


EDITS = (
    Tampering("a budget in the configuration", run(lambda t: t["config"]["budget"].update(tokens=5000)), "plan",
              "config.budget.tokens is not the one of the plan"),
    Tampering("a timeout in the configuration", run(lambda t: t["config"]["limits"].update(wall=999.0)), "plan",
              "config.limits.wall is not the one of the plan"),
    Tampering("a timeout in the plan", run(setting("limits.wall", 999.0)), "plan",
              "the plan digest is not that of the plan's meaning"),
    Tampering("a timeout and the digest", lambda e: replanned(e, setting("limits.wall", 999.0)), "preregistration",
              "the plan digest is not that of the plan"),
    Tampering("a budget without a frozen plan", lambda e: unplanned(e, setting("budget.k", 1)), "views",
              "the view (2 items, 33 tokens) is over the budget of the run", True),
    Tampering("a haystack without a frozen plan", lambda e: unplanned(e, setting("haystack", 50)), "commitments",
              "the backgrounds are not those of the plan's haystack", True),
    Tampering("a family", run(lambda t: t["family"].update(alpha=0.5)), "contents",
              "family: not the one that the plan registers"),
    Tampering("a family is dropped", lambda e: replanned(e, lambda t: (t.pop("family"), t["meaning"].pop("family"))),
              "preregistration", "the family is not that of the plan"),
    Tampering("a trap of the plan", run(lambda t: t["meaning"]["traps"].update({TRAP: "0" * 64})), "plan",
              f"trap {TRAP} is not the one that was run"),
    Tampering("a condition is left out", run(lambda t: t["meaning"]["conditions"].pop("EVIDENCE")), "contents",
              "conditions, traps and oracles are not those of its configuration"),
    Tampering("a condition's card", run(lambda t: t["meaning"]["conditions"]["B5"].update(version="2")),
              "preregistration", "the meaning is not that of the plan"),
    Tampering("the number of arms", run(lambda t: t.update(arms=3)), "cells",
              "run.json tells of 3 arms, the plan has 4"),
    Tampering("numbers of arms by condition", run(lambda t: t["arms_by_condition"].update(B0=2)), "cells",
              "other numbers of arms by condition"),
    Tampering("what is told of a trap", told_otherwise, "plan", f"what it tells of the trap {TRAP} is not so", True),
    Tampering("a trap that was not run", of_no_trap, "plan", "tells of a trap 'c2_other' that was not run", True),
    Tampering("a price", run(lambda t: t.update(prices={"model": 1})), "contents",
              "run.json: 'prices' is no key that is known here"),
    Tampering("a run that says that it was unpacked", run(lambda t: t.update(unpacked="0" * 64)), "contents",
              "run.json: 'unpacked' is no key that is known here"),
    Tampering("a price in the meaning", run(lambda t: t["meaning"].update(prices={})), "contents",
              "meaning: prices: Extra inputs"),
    Tampering("a price in the plan's settings", run(lambda t: t["meaning"]["config"].update(price=1)), "contents",
              "meaning.config: 'price' is no key"),
    Tampering("a price in the configuration", run(lambda t: t["config"].update(price=1)), "contents",
              "run.json: price: Extra inputs"),
    Tampering("a price in the frozen plan", bytes_of(layout.PLAN, b'"prices":null', b'"prices":{"model":1}'),
              "preregistration", "plan.prices: Input should be None"),
    Tampering("a date of the frozen plan", bytes_of(layout.PLAN, b'"frozen":"20', b'"frozen":"19'), "preregistration",
              "plan.json: the signature does not hold"),
    Tampering("the frozen plan is left out", lost_plan, "plan", "follows a frozen plan, and none is here", True),
    Tampering("a date before its session", first_dated("2026-01-01T00:00:00.000+00:00"), "records",
              "was committed before a session of its own"),
    Tampering("a date before the run", run(lambda t: t.update(begun="2099-01-01T00:00:00+00:00")), "records",
              "its first session was committed before the run was begun (2099"),
    Tampering("a date of another form", first_dated("20991130"), "contents", "'20991130' is not in UTC"),
    Tampering("a date that is none", first_dated("yesterday"), "contents", "'yesterday' is no date"),
    Tampering("a fact", fact(lambda d: d["facts"].update(mark="bm-000000000000")), "commitments",
              f"facts: {TRAP}/1 mark is not the value that was committed to"),
    Tampering("a note number", fact(lambda d: d["refs"].update(e1="N-000000")), "commitments",
              f"facts: {TRAP}/1 ref:e1 is not the value"),
    Tampering("a fact of another form", fact(lambda d: d["facts"].update(mark="wrong")), "commitments",
              "mark: not what this trap draws"),
    Tampering("a salt", fact(lambda d: d["salts"].update(old_mark="0" * 64)), "commitments",
              "1 old_mark is not the value"),
    Tampering("a fact, its commitment and the root", draw_again, "preregistration",
              "the draw digest is not that of the plan"),
    Tampering("the facts of a trap are left out", one_fact_less, "commitments",
              "facts: together they do not make up the root"),
    Tampering("a commitment", committed(lambda t: t["commitments"][f"{TRAP}/1"].update(mark="0" * 64)), "commitments",
              "the commitments do not make up the root"),
    Tampering("the root of the commitments", committed(lambda t: t.update(root="0" * 64)), "commitments",
              "the root is not the draw digest of the run"),
    Tampering("commitments of nobody", committed(lambda t: t["commitments"].update({"c9_x/1": {}})), "commitments",
              "not one set of commitments for each trap and seed"),
    Tampering("a background of nobody", committed(lambda t: t.update(background=["x"])), "contents",
              "commitments.json: background: Input should be"),
    Tampering("a tally", tallied, "statistics", "tallies.0.not_run: 1 became 0"),
    Tampering("the 11th digit of a number", p_value(1.0000000001), "statistics", "1.0000000001 became 1.0"),
    Tampering("an exact p", p_exact, "statistics", "p.exact: '1/32' became"),
    Tampering("bytes of a store", spent_less, "public part", "public/spent.json: is not what views and stores take",
              True),
    Tampering("the report", lambda e: e.members.update({layout.REPORT: e.members[layout.REPORT] + b"better\n"}),
              "report", "report.md is not the report on these records"),
    Tampering("the page", lambda e: e.members.update({layout.PAGE: e.members[layout.PAGE] + b"<p>better"}), "page",
              "report.html is not the page on these records"),
    Tampering("the page is left out", lambda e: e.members.pop(layout.PAGE), "container",
              "sealed/report.html: is missing"),
)  # fmt: skip
__all__ = ["EDITS", "SESSIONS", "bytes_of", "draw_again", "fact", "p_value", "replanned", "setting", "unplanned"]
