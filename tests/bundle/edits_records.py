"""Edits of what the records say: outcomes, cells, attempts, sessions, what entered them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

from harness.bundle import layout

from .bundle_kit import Edit, Table

TRAP = "c1_label"
B0, B5, ALL, EVIDENCE = (f"{TRAP}/{code}/1/given" for code in ("B0", "B5", "ALL", "EVIDENCE"))
ARMS = (layout.SEALED_ARMS, layout.ARMS)
SESSIONS = (layout.SEALED_SESSIONS, layout.SESSIONS)


@dataclass(frozen=True)
class Tampering:
    """An edit, the check that has to find it, and a part of the sentence that no other edit is refused with.

    `settled`: numbers, report and page are made anew from what was edited, so that nothing gives it away but itself.
    """

    name: str
    change: Callable[[Edit], object]
    check: str
    says: str
    settled: bool = False


# -- outcomes and cells --------------------------------------------------------------------------------------------


def endings(edit: Edit, arm: str, change: Callable[[Table], object]) -> None:
    edit.arm(arm, lambda record: [change(ending) for ending in record["endings"]])


def flip(edit: Edit) -> None:
    endings(edit, B0, lambda e: e.update(outcome="pass", cause=""))


def flip_with_checks(edit: Edit) -> None:
    """The verdict of a failing arm with all its checks: consistent in itself."""

    def passed(ending: Table) -> None:
        ending.update(outcome="pass", cause="")
        for check in ending["checks"]:
            check["held"] = check["kind"] == "requires"

    endings(edit, B0, passed)


def no_checks(edit: Edit) -> None:
    endings(edit, B0, lambda e: e.update(outcome="pass", cause="", checks=[]))


def unavailable(edit: Edit) -> None:
    endings(edit, B0, lambda e: e.update(outcome="unavailable", cause="", boundary="memory", checks=[]))
    edit.project()


def agents_fault(edit: Edit) -> None:
    """What an agent caused does not become invalid, and out of every rate."""
    endings(edit, B0, lambda e: e.update(outcome="invalid", cause="it broke", boundary="agent", checks=[]))
    edit.project()


def drop_cell(edit: Edit) -> None:
    """The failing cell, with its sessions."""
    for name in (*ARMS, *SESSIONS):
        edit.put_lines(name, [row for row in edit.lines(name) if row["arm"] != B0])
    edit.project()


def drop_reader(edit: Edit) -> None:
    for arm in (B0, B5, ALL, EVIDENCE):
        edit.arm(arm, lambda record: record["endings"].pop())
    for name in SESSIONS:
        edit.put_lines(name, [row for row in edit.lines(name) if row["record"]["reader"] != "credulous"])
    edit.change(layout.RUN, lambda run: run.update(readers=["careful"]))
    edit.change(layout.SPENT, lambda t: [a["view_tokens"].pop("credulous") for a in t["arms"].values()], sort_keys=True)
    edit.project()


def added(row: Table, arm: str, **how: object) -> Table:
    new = copy.deepcopy(row)
    new["arm"] = arm
    if "arm" in new["record"]:
        new["record"] |= {"arm": arm, **how}
    return new


def add_cell(edit: Edit) -> None:
    for name in ARMS:
        edit.rows(name, lambda rows: rows.append(added(rows[0], rows[0]["arm"].replace("/1/", "/2/"), seed=2)))


def flood(edit: Edit) -> None:
    for name in ARMS:
        edit.rows(name, lambda rows: rows.extend([added(rows[0], f"{TRAP}/X{n}/1/given") for n in range(1001)]))


def add_session(edit: Edit) -> None:
    for name in SESSIONS:
        edit.rows(name, lambda rows: rows.append(added(rows[0], f"{TRAP}/B9/1/given")))


def swap_endings(edit: Edit) -> None:
    edit.arm(ALL, lambda record: record["endings"].reverse())


def wrong_construct(edit: Edit) -> None:
    for arm in (B0, B5, ALL, EVIDENCE):
        edit.arm(arm, lambda record: record.update(construct_="C2"))


# -- attempts ------------------------------------------------------------------------------------------------------


def of(rows: list[Table], arm: str) -> list[Table]:
    return [row for row in rows if row["arm"] == arm]


def attempt(row: Table, number: int) -> Table:
    new = copy.deepcopy(row)
    new["attempt"] = number
    if "attempt" in new["record"]:
        new["record"]["attempt"] = number
    return new


def second_attempt(edit: Edit) -> None:
    """After one that counted, with sessions of its own."""
    for name in (*ARMS, *SESSIONS):
        edit.rows(name, lambda rows: rows.extend(attempt(row, 2) for row in of(rows, ALL)))


def hidden_attempt(edit: Edit) -> None:
    """An attempt after one that counted, of which there is a session and no record."""
    for name in SESSIONS:
        edit.rows(name, lambda rows: rows.append(attempt(of(rows, B5)[0], 2)))


def lost_attempt(edit: Edit) -> None:
    """The third attempt counts, the first was cut off, and where is the second?"""

    def change(rows: list[Table]) -> None:
        first = copy.deepcopy(of(rows, EVIDENCE)[0])
        for row in of(rows, EVIDENCE):
            row.update(attempt(row, 3))
        if "arm" not in first["record"]:
            rows.append(first)

    for name in (*ARMS, *SESSIONS):
        edit.rows(name, change)


# -- sessions ------------------------------------------------------------------------------------------------------


def of_session(number: int, arm: str, change: Callable[[Table], object]) -> Callable[[Edit], None]:
    return lambda edit: edit.session(arm, number, change)


def row_of(name: str, change: Callable[[Table], object]) -> Callable[[Table], object]:
    return lambda record: [change(row) for row in record["carried"] if row["name"] == name]


def remembered(record: Table) -> None:
    record["memory_bytes"] = 5
    row_of("memory in prompt", lambda row: row.update(bytes=9))(record)


def without_last(edit: Edit) -> None:
    for name in SESSIONS:
        rows = edit.lines(name)
        gone = [r for r in rows if r["arm"] == ALL and r["record"]["reader"] == "careful"]
        edit.put_lines(name, [r for r in rows if r not in gone])


def twice(edit: Edit) -> None:
    for name in SESSIONS:
        edit.rows(name, lambda rows: rows.append(copy.deepcopy(of(rows, ALL)[-1])))


def swap_pseudonyms(edit: Edit) -> None:
    def change(rows: list[Table]) -> None:
        one, two = (next(r["record"] for r in of(rows, arm) if r["record"]["number"] == 3) for arm in (B0, ALL))
        one["tree_out"], two["tree_out"] = two["tree_out"], one["tree_out"]

    edit.rows(layout.SESSIONS, change)


EDITS = (
    Tampering("a verdict", flip, "records", "[careful]: pass does not follow from its checks (failed)"),
    Tampering("a verdict, its checks gone", no_checks, "records", "[careful]: pass without any check"),
    Tampering("a verdict, and the numbers as they were", flip_with_checks, "statistics",
              "readings.0.exploratory.0.sensitivities"),
    Tampering("a failure is unavailable", unavailable, "records", "is unavailable, and sessions of it were run", True),
    Tampering("a failure is invalid", agents_fault, "records", "cannot be invalid with what it tells", True),
    Tampering("a failing cell is dropped", drop_cell, "cells", f"{B0} was planned and has no record"),
    Tampering("a reader is dropped", drop_reader, "plan", "the reader levels are not those of the plan", True),
    Tampering("a cell is added", add_cell, "cells", "/2/given has a record and was not planned"),
    Tampering("a thousand cells are added", flood, "contents", "more than 1000 records of arms that were not planned"),
    Tampering("a construct", wrong_construct, "records", "construct, expectation, history or name are not those of"),
    Tampering("a session of nobody", add_session, "cells", "B9/1/given has a session and was not planned"),
    Tampering("endings are swapped", swap_endings, "records", "the endings are not one for each reader level"),
    Tampering("a second throw", second_attempt, "attempts", f"{ALL} was run again although attempt 1 counted"),
    Tampering("a second throw, hidden", hidden_attempt, "attempts", f"{B5} was run again although attempt 1 counted"),
    Tampering("an attempt is left out", lost_attempt, "attempts", "has later attempts and no trace of attempt 2"),
    Tampering("a session has a wrong number", of_session(3, ALL, lambda r: r.update(number=7)), "records",
              "its sessions are not 1, 2, 3 in order"),
    Tampering("a verdict without its session", without_last, "records",
              "[careful]: has a verdict and no third session"),
    Tampering("a session twice", twice, "records", "a third session is there twice"),
    Tampering("public checks of S1", lambda e: e.arm(ALL, lambda r: r.update(warm_up=[False, False])), "records",
              "the public checks of S1 and S2 are not those of its sessions", True),
    Tampering("the public check of S3", lambda e: endings(e, B0, lambda x: x.update(check=not x["check"])), "records",
              "[careful]: the public check of S3 is not that of its session", True),
    Tampering("what the events carried", lambda e: e.arm(ALL, lambda r: r.update(injected=[])), "records",
              "the facts that its events carried are not those of the trap", True),
    Tampering("a row more in a carry manifest",
              of_session(3, ALL, lambda r: r["carried"].append({"name": "hint", "bytes": 1, "sha256": "0" * 64})),
              "channel", "'hint' entered the sandbox and is not declared"),
    Tampering("a row less in a carry manifest", of_session(3, ALL, lambda r: r["carried"].pop()), "channel",
              "the carry manifest has not each of its rows once"),
    Tampering("memory in B0", of_session(3, B0, remembered), "channel",
              "memory entered a condition that has none"),
    Tampering("more memory than was carried", of_session(3, ALL, lambda r: r.update(memory_bytes=9999)), "channel",
              "9999 bytes of memory are told and"),
    Tampering("a network", of_session(3, ALL, lambda r: r.update(network="host")), "channel", "the network was 'host'"),
    Tampering("another command", of_session(3, ALL, row_of("command", lambda c: c.update(sha256="1" * 64))),
              "equal starts", "S3: command is not what"),
    Tampering("another first tree", of_session(1, ALL, lambda r: r.update(tree_in=r["tree_out"])), "equal starts",
              "S1: tree is not what"),
    Tampering("pseudonyms are swapped", swap_pseudonyms, "public part",
              f"public/sessions.jsonl: a record of {B0} is not the one that is sealed"),
    Tampering("only the sealed record", lambda e: e.arm(B5, lambda r: r.update(seconds=1.5), layout.SEALED_ARMS),
              "public part", f"public/arms.jsonl: a record of {B5} is not the one that is sealed"),
    Tampering("only the public record", lambda e: e.arm(ALL, lambda r: r.update(seconds=1.5), layout.ARMS),
              "public part", f"public/arms.jsonl: a record of {ALL} is not the one that is sealed"),
    Tampering("lines of the public part are reordered", lambda e: e.rows(layout.SESSIONS, lambda rows: rows.reverse()),
              "public part", f"public/sessions.jsonl: a record of {EVIDENCE} is not the one that is sealed"),
    Tampering("a public record is left out", lambda e: e.rows(layout.SESSIONS, lambda rows: rows.pop()), "public part",
              "public/sessions.jsonl: 15 records, 16 are sealed"),
)  # fmt: skip
