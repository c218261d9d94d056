"""`docs/formats.md` is true: each format that it lists refuses a version that is not known, and is not rewritten."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from analysis.cost import PriceError, parse_prices
from harness.audit import Key
from harness.bundle import container, layout
from harness.bundle.lost import lines_of
from harness.bundle.manifest import canonical
from harness.bundle.reader import Bundle
from harness.bundle.signing import load_key, new_key
from harness.bundle.thaw import thaw
from harness.bundle.writer import Writer
from harness.clearance import cleared
from harness.cli.main import main
from harness.config import ROOT
from harness.leftovers import Lost
from harness.outcome import UsageFault
from harness.rundir import RunDir
from memory_probe.store.schema import open_store
from tests.harness.spending_kit import use

from .lost_kit import with_lost

PAGE = (ROOT / "docs" / "formats.md").read_text("utf-8")
EXAMPLE = ROOT / "examples" / "parcels.dbf"
UNKNOWN = 2
ROW = re.compile(r"^\| (?P<name>[^|]+) \| [^|]+ \| (?P<bare>refused|read as 1) \| (?P<code>[13]) \|$", re.M)
ROWS = {row["name"]: (row["bare"], int(row["code"])) for row in ROW.finditer(PAGE)}
TRAPS = "--traps sources/traps --oracles sources/oracles"
PLACES = "traps_dir=sources/traps oracles_dir=sources/oracles --out store"  # which is there: nothing is run
MEMBER = "verify edited.dbf --any-signer"

Table = dict[str, Any]
Edit = Callable[[Path, int | None], None]  # puts a version in place of that of the file, or (None) takes it away


@dataclass(frozen=True)
class Format:
    """`file` is edited, and then the command (or call) reads it, in a folder with an unpacked bundle."""

    file: str
    edit: Edit
    read: str | Callable[[], object]


# -- how a version is put into a file ----------------------------------------------------------------------------------


def with_version(table: Table, key: str, version: int | None) -> Table:
    rest = {name: value for name, value in table.items() if name != key}
    return rest if version is None else {key: version, **rest}


def in_json(path: Path, version: int | None) -> None:
    path.write_text(json.dumps(with_version(json.loads(path.read_text()), "schema", version)))


def in_canonical(path: Path, version: int | None) -> None:
    data = with_version(json.loads(path.read_text()), "schema", version)
    path.write_text(json.dumps(data, sort_keys=True, separators=(",", ":")))


def in_toml(path: Path, version: int | None) -> None:
    text, found = re.subn(
        r"^schema = 1$", "" if version is None else f"schema = {version}", path.read_text(), flags=re.M
    )
    assert found == 1, path
    path.write_text(text)


def in_lines(path: Path, version: int | None) -> None:
    lines = [with_version(json.loads(line), "schema_version", version) for line in path.read_text().splitlines()]
    assert lines
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def in_ledger(path: Path, version: int | None) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:  # closing folds the log into the file
        db.execute("DELETE FROM meta WHERE name = 'schema'")
        if version is not None:
            db.execute("INSERT INTO meta VALUES ('schema', ?)", (str(version),))


def in_records(table: str) -> Edit:
    def edit(path: Path, version: int | None) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            for number, text in db.execute(f"SELECT id, record FROM {table}").fetchall():
                record = json.dumps(with_version(json.loads(text), "schema_version", version))
                db.execute(f"UPDATE {table} SET record = ? WHERE id = ?", (record, number))

    return edit


def in_store(path: Path, version: int | None) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA user_version = {version or 0}")


def canonical_lines(rows: Iterable[Table]) -> bytes:
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def in_manifest(name: str) -> Edit:
    """Of the two members that no digest is of: everything around it stays."""

    def edit(path: Path, version: int | None) -> None:
        box = container.Container(path)
        members = {each: box.read(each) for each in box.members}
        box.close()
        table = with_version(json.loads(members[name]), "schema", version)
        with path.open("wb") as out:
            container.write(out, {**members, name: canonical(table)})

    return edit


def in_member(name: str, key: str = "schema") -> Edit:
    """Everything else is made to fit, under another signature."""

    def change(data: bytes, version: int | None) -> bytes:
        if name == layout.LOST:
            rows = [json.loads(line) for line in data.splitlines()]
            return canonical_lines(with_version(row, "schema_version", version) for row in rows)
        if key == "schema":
            return canonical(with_version(json.loads(data), key, version))
        rows = [json.loads(line) for line in data.splitlines()]
        return canonical_lines({**row, "record": with_version(row["record"], key, version)} for row in rows)

    def edit(path: Path, version: int | None) -> None:
        with Bundle.open(path) as bundle, tempfile.TemporaryDirectory() as scratch:
            assert bundle.seal is not None
            writer = Writer(bundle.seal, Path(scratch))
            for each in bundle.names:
                data = bundle.get(each)
                writer.put(each, change(data, version) if each == name else data)
            writer.write(path, load_key(path.parent / "signing.pem"), "0", reveal=False)

    return edit


# -- every row of the table --------------------------------------------------------------------------------------------

RUN = "freeze run -o again.dbf --sign signing.pem"
FORMATS = {
    "`run.json`": Format("run/run.json", in_json, "status run"),
    "`commitments.json`": Format("run/commitments.json", in_json, "compare run run"),
    "`facts.json`": Format("run/facts.json", in_json, RUN),
    "`background.json`": Format("run/background.json", in_json, RUN),
    "`plan.json`": Format("run/plan.json", in_canonical, "plan show run"),
    "`amendments.json`": Format("run/amendments.json", in_canonical, "plan show run"),
    "`conformance.json`": Format("run/conformance.json", in_json, lambda: cleared(RunDir.open(Path("run")), {}, 1)),
    "`sandbox.json`": Format("run/sandbox.json", in_json, "report run"),
    "`spent.json`": Format("run/spent.json", in_json, "report run"),
    "`lost.jsonl`": Format("run/lost.jsonl", in_lines, "report run"),
    "`ledger.sqlite`": Format("run/ledger.sqlite", in_ledger, "status run"),
    "records of sessions in the ledger": Format("run/ledger.sqlite", in_records("session"), "report run"),
    "records of arms in the ledger": Format("run/ledger.sqlite", in_records("arm"), "status run"),
    "`memory.sqlite`, a store of the probe": Format("store/memory.sqlite", in_store, "memory verify store"),
    "a configuration": Format("my.toml", in_toml, f"run my.toml {PLACES}"),
    "`family.toml`": Format("family.toml", in_toml, "analyse outcomes.json --family family.toml"),
    "`folds/<name>.toml`": Format("sources/traps/folds/f.toml", in_toml, f"run fold=f {PLACES}"),
    "`trap.toml`": Format("sources/traps/c1/return_form/trap.toml", in_toml, f"run {PLACES}"),
    "`fixture.toml`": Format("sources/traps/fixtures/parcels/fixture.toml", in_toml, f"run {PLACES}"),
    "`background.toml`": Format("sources/traps/fixtures/parcels/background.toml", in_toml,
                                f"run haystack=1 {PLACES}"),
    "`expect.toml`": Format("sources/oracles/c1/return_form/expect.toml", in_toml, f"run {PLACES}"),
    "`admission.jsonl`": Format("sources/traps/admission.jsonl", in_lines, f"trap list {TRAPS}"),
    "`candidates.jsonl`": Format("sources/traps/candidates.jsonl", in_lines, f"trap list {TRAPS}"),
    "`key.json` of an audit": Format("audit/key.json", in_json,
                                     f"trap audit score audit {TRAPS}"),
    "outcomes in JSON": Format("outcomes.json", in_json, "analyse outcomes.json --family family.toml"),
    "price table": Format("prices.toml", in_toml, lambda: parse_prices(Path("prices.toml").read_text(), "prices.toml")),
    "`manifest.json` of a bundle": Format("edited.dbf", in_manifest("manifest.json"), MEMBER),
    "`signature.json` of a bundle": Format("edited.dbf", in_manifest("signature.json"), MEMBER),
    "`sources/index.json` of a bundle": Format("edited.dbf", in_member(layout.SOURCES), MEMBER),
    "`run.json` in a bundle": Format("edited.dbf", in_member(layout.RUN), MEMBER),
    "`commitments.json` in a bundle": Format("edited.dbf", in_member(layout.COMMITMENTS), MEMBER),
    "`sandbox.json` in a bundle": Format("edited.dbf", in_member(layout.SANDBOXES), MEMBER),
    "`plan.json` in a bundle": Format("edited.dbf", in_member(layout.PLAN), MEMBER),
    "`analysis.json` in a bundle": Format("edited.dbf", in_member(layout.ANALYSIS), MEMBER),
    "`sealed/facts.json` of a bundle": Format("edited.dbf", in_member(layout.FACTS), MEMBER),
    "`public/arms.jsonl` of a bundle": Format("edited.dbf", in_member(layout.ARMS, "schema_version"), MEMBER),
    "`public/sessions.jsonl` of a bundle": Format("edited.dbf", in_member(layout.SESSIONS, "schema_version"), MEMBER),
    "`public/spent.json` of a bundle": Format("edited.dbf", in_member(layout.SPENT), MEMBER),
    "`public/lost.jsonl` of a bundle": Format("lost.dbf", in_member(layout.LOST), "verify lost.dbf --any-signer"),
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, unpacked, and beside it a file of every format that it does not hold."""
    home = tmp_path_factory.mktemp("formats") / "home"
    home.mkdir()
    with Bundle.open(EXAMPLE) as bundle:
        thaw(bundle, home)
    new_key(home / "signing.pem")
    open_store(home / "store", "test").close()
    (home / "edited.dbf").write_bytes(EXAMPLE.read_bytes())
    traps = home / "sources" / "traps"
    (traps / "folds").mkdir()
    digest = "0" * 64
    (traps / "folds" / "f.toml").write_text(
        f'schema = 1\nname = "f"\ntitle = "f"\n[members]\nc1_return_form = "{digest}"\n'
    )
    for name in ("admission.jsonl", "candidates.jsonl"):
        first = (ROOT / "traps" / name).read_text("utf-8").splitlines()[0]
        (traps / name).write_text(first + "\n")
    key = Key(schema=1, seed=1, raters=("a", "b"), at="2026-01-05T10:00:00Z", version="0", cases={}, deep=())  # type: ignore[arg-type]
    (home / "audit").mkdir()
    (home / "audit" / "key.json").write_text(key.model_dump_json(by_alias=True))
    (home / "my.toml").write_text("schema = 1\n")
    (home / "prices.toml").write_text('schema = 1\nversion = "2026-01"\n')
    (home / "family.toml").write_text(
        'schema = 1\nname = "f"\n[[contrast]]\nid = "F"\nfirst = "A"\nsecond = "B0"\nprimary = true\n'
    )
    rows = [{"trap": t, "condition": c, "seed": 1, "outcome": "pass"} for t in ("a", "b") for c in ("A", "B0")]
    (home / "outcomes.json").write_text(json.dumps({"schema": 1, "rows": rows}))
    for name, rest in (
        ("background", {"background": []}),
        ("conformance", {"conditions": {}}),
        ("spent", {"arms": {}}),
    ):
        (home / "run" / f"{name}.json").write_text(json.dumps({"schema": 1, **rest}))
    lost = lines_of([Lost(use=use("0.25"))])
    (home / "run" / "lost.jsonl").write_bytes(lost)
    with_lost(EXAMPLE, home, lost)
    (home / "run" / "amendments.json").write_text('{"amendments":[],"schema":1}')
    return home


@pytest.fixture(params=FORMATS)
def told(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A row of the table; its file is afterwards as before."""
    name: str = request.param
    path = home / FORMATS[name].file
    before = path.read_bytes()
    monkeypatch.chdir(home)
    yield name
    path.write_bytes(before)


def answered(read: str | Callable[[], object], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit code and everything that is printed."""
    if not isinstance(read, str):
        try:
            read()
        except (UsageFault, PriceError) as error:
            return 1, str(error)
        return 0, ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["dreambench", *read.split()])
        with pytest.raises(SystemExit) as ended:
            main()
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out + shown.err


def test_the_page_lists_every_format_that_is_tested_and_no_other() -> None:
    assert ROWS.keys() == FORMATS.keys()
    assert len(ROWS) == 39


def test_a_version_that_is_not_known_is_refused_and_nothing_is_rewritten(
    told: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    each = FORMATS[told]
    path = home / each.file
    each.edit(path, UNKNOWN)
    before = path.read_bytes()
    code, says = answered(each.read, capsys)
    assert (code, "is not known here (expected 1)" in says) == (ROWS[told][1], True), says
    assert path.read_bytes() == before


def test_a_file_without_a_version_is_taken_as_the_page_says(
    told: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    each = FORMATS[told]
    each.edit(home / each.file, None)
    code, says = answered(each.read, capsys)
    refused = code != 0 and ("schema" in says or "is not in the form" in says)
    assert refused == (ROWS[told][0] == "refused"), (code, says)
