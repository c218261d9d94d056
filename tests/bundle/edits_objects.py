"""Edits of trees, texts, stores and sources, and of the form in which anything stands."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable

from harness.bundle import layout

from .bundle_kit import Edit, Table
from .edits_plan import bytes_of
from .edits_records import ALL, ARMS, B0, SESSIONS, Tampering

Change = Callable[[Edit], object]
ORACLE, TRAP = "oracles/c1/label/oracle.py", "traps/c1/label/trap.toml"
DEEP = b"[" * 100_000 + b"]" * 100_000


def last(edit: Edit, arm: str) -> Table:
    """The record of an arm's third session."""
    rows = edit.lines(layout.SEALED_SESSIONS)
    found: Table = next(r["record"] for r in rows if r["arm"] == arm and r["record"]["number"] == 3)
    return found


def swap_deltas(edit: Edit) -> None:
    """What the failing arm and a passing one left behind."""
    trees = {B0: last(edit, ALL)["tree_out"], ALL: last(edit, B0)["tree_out"]}
    for arm, tree in trees.items():
        edit.session(arm, 3, lambda record, tree=tree: record.update(tree_out=tree), layout.SEALED_SESSIONS)  # type: ignore[misc]
    edit.project()


def exchange(edit: Edit, key: str, old: str, data: bytes) -> None:
    """Another text in the place of the one that sessions name, which is gone."""
    new = edit.add(layout.BLOB_PACK, data)
    kept = {d: b for d, b in edit.pack(layout.BLOB_PACK).items() if d.hex() != old}
    edit.put_pack(layout.BLOB_PACK, sorted(kept.items()))
    edit.rows(
        layout.SEALED_SESSIONS,
        lambda rows: [r["record"].update({key: new}) for r in rows if r["record"][key] == old],
    )
    edit.project()


def view(change: Callable[[bytes], bytes]) -> Change:
    def whole(edit: Edit) -> None:
        old = last(edit, ALL)["view"]
        exchange(edit, "view", old, change(edit.pack(layout.BLOB_PACK)[bytes.fromhex(old)]))

    return whole


def prompt(edit: Edit) -> None:
    """The prompt's text, with its own carry manifest."""
    old = last(edit, ALL)["prompt"]
    data = edit.pack(layout.BLOB_PACK)[bytes.fromhex(old)] + b"\nUse the new mark."
    digest = hashlib.sha256(data).hexdigest()

    def change(record: Table) -> None:
        for row in record["carried"]:
            if row["name"] == "prompt":
                row.update(bytes=len(data), sha256=digest)

    for name in SESSIONS:
        edit.session(ALL, 3, change, name)
    exchange(edit, "prompt", old, data)


def fewer(kind: str) -> Change:
    return lambda edit: edit.put_pack(kind, sorted(edit.pack(kind).items())[:-1])


def entries(kind: str, change: Callable[[list[tuple[bytes, bytes]]], list[tuple[bytes, bytes]]]) -> Change:
    return lambda edit: edit.put_pack(kind, change(sorted(edit.pack(kind).items())))


def swapped(rows: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    (one, first), (two, second), *rest = rows
    return [(one, second), (two, first), *rest]


def more_chunks(rows: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return sorted([*rows, (hashlib.sha256(b"nobody").digest(), zlib.compress(b"nobody", 1))])


def one_tree_less(edit: Edit) -> None:
    edit.members[layout.TREES] = b"".join(edit.members[layout.TREES].splitlines(keepends=True)[1:])


def tree(*files: tuple[str, str, bytes], id_: str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904") -> Change:
    """One tree more, of (path, mode, body)."""

    def change(edit: Edit) -> None:
        rows = [[path, mode, edit.add(layout.FILE_PACK, body)] for path, mode, body in files]
        line = json.dumps({"tree": id_, "files": rows}, separators=(",", ":"))
        edit.members[layout.TREES] += line.encode() + b"\n"

    return change


def last_tree_spaced(edit: Edit) -> None:
    edit.members[layout.TREES] = edit.members[layout.TREES].replace(b'{"tree":"', b'{"tree": "', 1)


def appended(name: str, data: bytes) -> Change:
    return lambda edit: edit.members.update({name: edit.members[name] + data})


def replaced(name: str, data: bytes) -> Change:
    return lambda edit: edit.members.update({name: data})


def source(path: str, data: bytes | None) -> Change:
    return lambda edit: edit.source(path, data)


def longer(path: str, data: bytes) -> Change:
    return lambda edit: edit.source(path, edit.of_source(path) + data)


def version(name: str, key: bytes = b'"schema": 1') -> Change:
    return bytes_of(name, key, key.replace(b"1", b"2"))


def both(change: Callable[[Table], object], names: tuple[str, ...] = ARMS) -> Change:
    def whole(edit: Edit) -> None:
        for name in names:
            edit.rows(name, lambda rows: change(rows[0]))

    return whole


def key_of_another(edit: Edit) -> None:
    edit.members[layout.KEY] = b"0" * 64 + b"\n"


def spaced_key(edit: Edit) -> None:
    edit.members[layout.KEY] = edit.members[layout.KEY].replace(b"\n", b"  \n")


EDITS = (
    Tampering("two deltas are swapped", swap_deltas, "page", "is not the page on these records"),
    Tampering("a view", view(lambda d: d.replace(b"N-", b"M-")), "views",
              "the prompt that was carried is not what the trap and the view make"),
    Tampering("a view that is none", view(lambda d: b"{}"), "views", "the view cannot be read (blob"),
    Tampering("a view of nonsense", view(lambda d: b'{"items":[{"text":1}],"rejected":[],"considered":0}'), "views",
              "the view is none"),
    Tampering("a view that is deep", view(lambda d: b'{"items":' + DEEP + b"}"), "views", "not a view)"),
    Tampering("a prompt with its carry manifest", prompt, "views",
              f"{ALL} S3: the prompt that was carried is not what the trap and the view make"),
    Tampering("an item that the record does not tell of",
              lambda e: e.arm(ALL, lambda r: r.update(shown=["useful"])), "views",
              "the items that the arm's record tells of are not those of the view", True),
    Tampering("a text of nobody", lambda e: e.add(layout.BLOB_PACK, b"nobody"), "objects",
              "text 6382b3cc881412b7 is there and no record names it"),
    Tampering("a file of nobody", lambda e: e.add(layout.FILE_PACK, b"nobody"), "objects", "and belongs to no tree"),
    Tampering("a chunk of nobody", entries(layout.CHUNK_PACK, more_chunks), "objects", "and belongs to no store"),
    Tampering("a source of nobody", lambda e: e.add(layout.SOURCE_PACK, b"nobody"), "contents",
              "and belongs to no file"),
    Tampering("a tree of nobody", tree(), "objects", "tree 4b825dc642cb6eb9 is there and no record names it"),
    Tampering("a text is left out", fewer(layout.BLOB_PACK), "objects", "text "),
    Tampering("a chunk is left out", fewer(layout.CHUNK_PACK), "objects", "is not there"),
    Tampering("a file is left out", fewer(layout.FILE_PACK), "contents", "the bytes of 'src/mini"),
    Tampering("a tree is left out", one_tree_less, "objects", "is named by a record and is not there"),
    Tampering("two texts are swapped", entries(layout.BLOB_PACK, swapped), "contents", "is not what its digest says"),
    Tampering("texts are reordered", entries(layout.BLOB_PACK, lambda rows: rows[::-1]), "contents",
              "is there twice or out of order"),
    Tampering("a pack is cut", lambda e: e.members.update({"sealed/blobs-00000": e.members["sealed/blobs-00000"][:-1]}),
              "contents", "cut off inside of an entry"),
    Tampering("bytes behind a chunk", entries(layout.CHUNK_PACK, lambda rows: [(d, b + b"x") for d, b in rows]),
              "contents", "or goes on behind its end"),
    Tampering("a tree's line in another form", last_tree_spaced, "contents", "trees.jsonl:1: is not in the form"),
    Tampering("a tree that is deep", appended(layout.TREES, DEEP + b"\n"), "contents", "trees.jsonl:6: not JSON"),
    Tampering("an oracle", longer(ORACLE, b"\n# lenient\n"), "plan", "oracle c1_label is not the one that was run"),
    Tampering("a text of a trap", longer("traps/c1/label/s3.md", b"\nUse the new mark.\n"), "plan",
              "trap c1_label is not the one that was run (its digest"),
    Tampering("a program beside an oracle", source("oracles/c1/label/conftest.py", b"x = 1\n"), "contents",
              "oracles/c1/label/conftest.py belongs to no trap"),
    Tampering("compiled bytes in a trap", source("traps/c1/label/__pycache__/x.pyc", b"\0"), "contents",
              "__pycache__/x.pyc belongs to no trap"),
    Tampering("a text of a trap is left out", source("traps/c1/label/s3.md", None), "contents", "s3.md: No such file"),
    Tampering("an oracle is left out", source(ORACLE, None), "contents", "oracle.py: No such file"),
    Tampering("another trap", source("traps/c2/other/trap.toml", b"schema = 1\n"), "contents",
              "trap c2/other: id: Field required"),
    Tampering("an archive under another digest", source(f"cache/sha256/{'0' * 64}/x.zip", b"x"), "contents",
              "an archive lies under another digest than its own"),
    Tampering("a source leads out", source("traps/../evil", b"x"), "contents", "files.traps/../evil"),
    Tampering("a source lies elsewhere", source("elsewhere/evil", b"x"), "contents", "files.elsewhere/evil"),
    Tampering("a source is a file and a folder", source("traps/c1/label", b"x"), "contents",
              "traps/c1/label is a file and a folder"),
    Tampering("a trap of brackets", source(TRAP, b"a = " + DEEP), "contents", "trap c1/label: nested too deeply"),
    Tampering("the key of another bundle", key_of_another, "container", "seal.key: is not the key of this bundle"),
    Tampering("a key that hides something", spaced_key, "container", "seal.key: is not in the one form"),
    Tampering("a key that is none", replaced(layout.KEY, b"\xff\n"), "container", "seal.key: is no key"),
    Tampering("a member of no name", replaced("notes.txt", b"x"), "container",
              "notes.txt: no member of a bundle has this name"),
    Tampering("a pack without the one before", lambda e: e.members.update({"sealed/blobs-00002": b""}), "container",
              "sealed/blobs-00002: no member"),
    Tampering("a member is left out", lambda e: e.members.pop(layout.SEALED_ARMS), "container",
              "sealed/arms.jsonl: is missing"),
    # -- forms of JSON
    Tampering("a key twice in run.json", bytes_of(layout.RUN, b'{\n "schema"', b'{\n "label": "x",\n "schema"'),
              "contents",
              "run.json: the key 'label' is there twice"),
    Tampering("a key twice in analysis.json", bytes_of(layout.ANALYSIS, b"{\n", b'{\n "draw": 1,\n'), "contents",
              "analysis.json: the key 'draw' is there twice"),
    Tampering("a key twice in a record", lambda e: [bytes_of(n, b'{"arm"', b'{"at":"x","arm"')(e) for n in ARMS],
              "contents",
              "arms.jsonl:1: is not in the form that a bundle has"),
    Tampering("blanks in run.json", appended(layout.RUN, b" "), "contents", "run.json: is not in the one form"),
    Tampering("blanks in the index", appended(layout.SOURCES, b"\n"), "contents", "index.json: is not in the one form"),
    Tampering("no number in analysis.json", bytes_of(layout.ANALYSIS, b'"value": 1.0', b'"value": NaN'), "contents",
              "analysis.json: not JSON"),
    Tampering("no number in a record", both(lambda r: r["record"].update(seconds=float("nan"))), "contents",
              "seconds: Input should be a finite number"),
    Tampering("a number of 5000 digits", bytes_of(layout.COMMITMENTS, b'"schema": 1', b'"schema": 1' + b"0" * 5000),
              "contents", "commitments.json: not JSON"),
    Tampering("an attempt of 30 digits", both(lambda r: (r.update(attempt=10**30), r["record"].update(attempt=10**30))),
              "contents", "attempt: Input should be less than or equal to 10000"),
    Tampering("a deep table", replaced(layout.SANDBOXES, b'{"schema":1,"used":' + DEEP + b"}"), "contents",
              "sandbox.json: not JSON"),
    Tampering("a deep record", appended(layout.ARMS, b'{"record":' + DEEP + b"}\n"), "contents",
              "recursion limit exceeded"),
    Tampering("bytes that are no text", bytes_of(layout.SPENT, b'"arms"', b'"arm\xff"'), "contents",
              "public/spent.json: not JSON"),
    Tampering("half a character", bytes_of(layout.RUN, b'"label": "', b'"label": "\\ud800'), "contents",
              "run.json: not JSON"),
    # -- versions
    *(Tampering(f"the version of {name}", version(name), "contents", f"{name}: schema 2 is not known here")
      for name in (layout.RUN, layout.COMMITMENTS, layout.SANDBOXES, layout.SPENT, layout.ANALYSIS, layout.FACTS)),
    *(Tampering(f"the version of {name}", version(name, b'"schema":1'), "contents",
              f"{name}: schema 2 is not known here")
      for name in (layout.PLAN, layout.SOURCES)),
    Tampering("the version of a record", both(lambda r: r["record"].update(schema_version=2)), "contents",
              "public/arms.jsonl:1: schema_version: 2 is not known"),
    Tampering("the version of a session", both(lambda r: r["record"].update(schema_version=2), SESSIONS), "contents",
              "public/sessions.jsonl:1: schema_version: 2 is not known"),
    Tampering("the version of a trap", lambda e: e.source(TRAP, e.of_source(TRAP).replace(b"schema = 1",
              b"schema = 2")),
              "contents", "trap c1/label: schema: 2 is not known"),
)  # fmt: skip
