"""Edits of what a run with models says: notes that were kept, what was used, what was said, what was paid for."""

from __future__ import annotations

import json
from collections.abc import Callable

from harness.bundle import layout

from .bundle_kit import Edit, Table
from .edits_records import SESSIONS, Tampering
from .model_fold import B0, B5, FILES

_OTHER = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # the empty tree


def of(row: Table, arm: str, number: int, reader: str = "", attempt: int = 2) -> bool:
    record = row["record"]
    return bool((row["arm"], row["attempt"], record["number"], record["reader"]) == (arm, attempt, number, reader))


def session(
    change: Callable[[Table], object], arm: str, number: int, reader: str = "", attempt: int = 2
) -> Callable[[Edit], None]:
    """Change one session, and make the public part anew."""

    def whole(edit: Edit) -> None:
        edit.rows(
            layout.SEALED_SESSIONS,
            lambda rows: [change(row["record"]) for row in rows if of(row, arm, number, reader, attempt)],
        )
        edit.project()
        tidy(edit)

    return whole


def used(change: Callable[[Table], object]) -> Callable[[Table], object]:
    return lambda record: change(record["model"])


def cheaper(use: Table) -> None:
    """Fewer tokens, and an amount that fits them."""
    use["tokens"][0]["input"] = use["tokens"][0]["output"] = 0
    use["tokens"][0]["longest"] = 0
    use["usd"] = "0"


def no_model(record: Table) -> None:
    del record["model"]
    record["network"] = "none"


def without(number: int, reader: str) -> Callable[[Edit], None]:
    """A session is dropped, in both attempts: where the second took it over, there is no trace of it."""

    def whole(edit: Edit) -> None:
        for name in SESSIONS:
            gone = (FILES, number, reader)
            rows = [r for r in edit.lines(name) if (r["arm"], r["record"]["number"], r["record"]["reader"]) != gone]
            edit.put_lines(name, rows)
        edit.project()
        tidy(edit)

    return whole


def tidy(edit: Edit) -> None:
    """Take out the texts and trees that no session names any more."""
    rows = [r["record"] for r in edit.lines(layout.SEALED_SESSIONS)]
    arms = [r["record"] for r in edit.lines(layout.SEALED_ARMS)]
    lost = edit.lines(layout.SEALED_LOST) if layout.SEALED_LOST in edit.members else []
    named = {r[key] for r in rows for key in ("prompt", "view", "transcript")} | {a["store"] for a in arms}
    named |= {r["model"]["exchange"] for r in rows if "model" in r and "paid_in" not in r}
    named |= {each["use"]["exchange"] for each in lost}
    edit.put_pack(layout.BLOB_PACK, sorted((d, b) for d, b in edit.pack(layout.BLOB_PACK).items() if d.hex() in named))
    kinds = ("tree_in", "tree_out", "memory_in", "memory_out")
    trees = {r[key] for r in rows for key in kinds if key in r}
    edit.put_lines(layout.TREES, [each for each in edit.lines(layout.TREES) if each["tree"] in trees])
    files = {digest for each in edit.lines(layout.TREES) for _, _, digest in each["files"]}
    edit.put_pack(layout.FILE_PACK, sorted((d, b) for d, b in edit.pack(layout.FILE_PACK).items() if d.hex() in files))


def swap_notes(edit: Edit) -> None:
    """What S1's further turn left, told as what S2's left."""

    def swapped(rows: list[Table]) -> None:
        first, second = (
            next(r["record"] for r in rows if of(r, FILES, number, "debrief", attempt))
            for number, attempt in ((1, 1), (2, 1))
        )
        for row in rows:
            if of(row, FILES, 2, "debrief", 1) or of(row, FILES, 2, "debrief", 2):
                row["record"]["memory_out"] = first["memory_out"]
        assert first is not second

    edit.rows(layout.SEALED_SESSIONS, swapped)
    edit.project()


def exchange(change: Callable[[list[Table]], object]) -> Callable[[Edit], None]:
    """Other lines in the exchange of B5's third session, under a name that fits."""

    def whole(edit: Edit) -> None:
        rows = edit.lines(layout.SEALED_SESSIONS)
        name = next(r["record"]["model"]["exchange"] for r in rows if of(r, B5, 3, "-"))
        told = [json.loads(line) for line in edit.pack(layout.BLOB_PACK)[bytes.fromhex(name)].splitlines()]
        change(told)
        new = edit.add(layout.BLOB_PACK, b"".join(json.dumps(line).encode() + b"\n" for line in told))
        session(used(lambda use: use.update(exchange=new)), B5, 3, "-")(edit)

    return whole


def dropped(edit: Edit) -> None:
    """The bytes alone are gone."""
    rows = edit.lines(layout.SEALED_SESSIONS)
    name = next(r["record"]["model"]["exchange"] for r in rows if of(r, B5, 3, "-"))
    kept = {d: b for d, b in edit.pack(layout.BLOB_PACK).items() if d.hex() != name}
    edit.put_pack(layout.BLOB_PACK, sorted(kept.items()))


def cheap_loss(edit: Edit) -> None:
    edit.rows(layout.LOST, lambda rows: [row["use"].update(calls=0) for row in rows])


def no_loss(edit: Edit) -> None:
    del edit.members[layout.SEALED_LOST]


EDITS = (
    Tampering("tokens of a session", session(used(cheaper), B5, 3, "-"), "exchanges",
              "tokens of 'gpt-6-sol' are told as 0 input", True),
    Tampering("an amount", session(used(lambda u: u.update(usd="0.000001")), B5, 3, "-"), "prices",
              f"{B5} S3: 0.000001 USD are told, its tokens make", True),
    Tampering("a model use is removed", session(no_model, B5, 3, "-"), "channel",
              "the plan has a model, and nothing is told of what was used of it", True),
    Tampering("calls", session(used(lambda u: u.update(calls=1)), B5, 3, "-"), "model use",
              "1 calls are told, and by model 3", True),
    Tampering("repeats", session(used(lambda u: u.update(repeats=5)), B5, 3, "-"), "exchanges",
              "5 repeats are told, its exchange has 0", True),
    Tampering("paid for in an earlier one", session(lambda r: r.update(paid_in=1), B5, 3, "-"), "model use",
              "is not the session that attempt 1 paid for", True),
    Tampering("paid for in a later one", session(lambda r: r.update(paid_in=2), B5, 1), "model use",
              "is told as paid for in attempt 2, which has no such session", True),
    Tampering("trouble that counts", session(used(lambda u: u.update(trouble="down")), B5, 3, "-"), "model use",
              "its model gave no answer, and the arm counts", True),
    Tampering("the network is another word", session(lambda r: r.update(network="none"), B5, 3, "-"), "channel",
              "the network was 'none'", True),
    Tampering("a further turn is dropped", without(1, "debrief"), "records",
              "what was said after S1 was never told (its further turn is missing)", True),
    Tampering("a further turn in another condition", session(lambda r: r.update(reader="debrief"), B0, 2), "records",
              "a further turn after S2, where nothing was to be told", True),
    Tampering("notes of another turn", swap_notes, "notes", "the notes that it found are not what the session before"),
    Tampering("notes at the start", session(lambda r: r.update(memory_in=_OTHER), FILES, 3, "-"), "notes",
              "S3: the notes that it found are not what the session before left"),
    Tampering("notes that were carried", session(
        lambda r: [row.update(sha256="1" * 64) for row in r["carried"] if row["name"] == "mount /memory"],
        FILES, 3, "-"), "notes", "the notes that were carried are not those that it is said to have found", True),
    Tampering("bytes of the notes", session(lambda r: r.update(memory_bytes=1), FILES, 3, "-"), "notes",
              "1 bytes of memory are told, notes and view have", True),
    Tampering("more than notes can hold", session(lambda r: r.update(memory_bytes=10**6), FILES, 3, "-"), "channel",
              "1000000 bytes of memory are told, more than prompt and notes can hold", True),
    Tampering("notes in a condition of ours", session(lambda r: r.update(memory_in=_OTHER), B0, 3, "-"), "channel",
              "a directory of notes in a condition that the agent does not keep"),
    Tampering("an exchange is dropped", dropped, "objects", "is named by a record and is not there"),
    Tampering("no exchange is named", session(used(lambda u: u.update(exchange="")), B5, 3, "-"), "model use",
              "what was said was not kept"),
    Tampering("tokens in an exchange", exchange(lambda rows: rows[0]["tokens"].update(output=0)), "exchanges",
              "its exchange has", True),
    Tampering("a line of an exchange", exchange(lambda rows: rows.pop()), "exchanges",
              "3 calls are told, its exchange has 2", True),
    Tampering("a line that is none", exchange(lambda rows: rows[0].pop("end")), "exchanges",
              "its exchange cannot be read (end: Field required)", True),
    Tampering("what was lost", cheap_loss, "public part", "public/lost.jsonl: is not the one that is sealed"),
    Tampering("what was lost is left out", no_loss, "contents",
              "public/lost.jsonl, sealed/lost.jsonl: one is here without the other"),
)  # fmt: skip
