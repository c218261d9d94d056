"""One frozen run that is made once, and an editor that writes it again with anything changed.

An attacker has everything but the signing key: the bundle is revealed, so that the key of its seal is known, and our
own program writes the edited file. Strengths: bytes of the file (`flipped`), a manifest that fits the edit under the
signature of the old one (`forged`), everything consistent under the attacker's own signature (`resigned`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from containers.sandbox import Sandbox
from harness.bundle import container, layout
from harness.bundle.derived import analysis, page
from harness.bundle.freeze import check_texts, freeze
from harness.bundle.manifest import MANIFEST, SIGNATURE, canonical, make
from harness.bundle.opened import open_run
from harness.bundle.public import configured_models, public_arm, public_session
from harness.bundle.reader import Bundle
from harness.bundle.rows import as_lines, read_lines
from harness.bundle.seal import Seal
from harness.bundle.signing import FOLD, PublicKey, SigningKey, new_key
from harness.bundle.thaw import put_public, thaw
from harness.bundle.writer import Writer
from harness.config import load
from harness.preregistration.plan_freeze import freeze as freeze_plan
from harness.records import ArmRecord, SessionRecord
from harness.run import execute, prepare
from harness.verification.verify import Verified, verify

MINI = Path(__file__).parents[1] / "data" / "mini"
PACKS = (layout.SOURCE_PACK, layout.FILE_PACK, layout.BLOB_PACK, layout.CHUNK_PACK)
WORDS = ("seeds=1", "conditions=B0,B5,ALL,EVIDENCE")
FAMILY = """schema = 1
name = "Mini"
about = "does verbatim event memory help on one trap"
endpoint = "matched"
alpha = 0.05
[gates]
baseline = "B0"
[[contrast]]
id = "M1"
first = "B5"
second = "B0"
"""

Table = dict[str, Any]
#: The attacker's key, the same in every session.
ATTACKER = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


@dataclass(frozen=True)
class Fold:
    """A run of the mini trap below `home`, and its bundle: revealed, sealed, and who signed."""

    home: Path

    @property
    def run(self) -> Path:
        return self.home / "run"

    @property
    def revealed(self) -> Path:
        return self.home / "revealed.dbf"

    @property
    def sealed(self) -> Path:
        return self.home / "sealed.dbf"

    @property
    def signing(self) -> Path:
        return self.home / "signing.pem"

    @cached_property
    def signer(self) -> PublicKey:
        with Bundle.open(self.revealed) as bundle:
            return bundle.signer

    @cached_property
    def members(self) -> dict[str, bytes]:
        """Every member in plain, but for manifest and signature."""
        with Bundle.open(self.revealed) as bundle:
            return {name: bundle.get(name) for name in bundle.names}


def play(home: Path, box: Sandbox, *words: str) -> Fold:
    """Run, under a plan that was frozen before, and freeze twice: with the key and without."""
    fold = Fold(home)
    key = new_key(fold.signing)
    places = {"traps_dir": str(home / "traps"), "oracles_dir": str(home / "oracles")}
    for name in ("traps", "oracles"):
        shutil.copytree(MINI / name, home / name)
    (home / "family.toml").write_text(FAMILY, encoding="utf-8")
    config = load(None, [*(words or WORDS), f"family={home / 'family.toml'}"], places)
    freeze_plan(config, fold.run, fold.signing)
    ready = prepare(config, fold.run)
    try:
        execute(ready, lambda record: None, sandbox=box, unavailable={})
    finally:
        ready.folder.unlock()
    run = open_run(fold.run)
    freeze(run, fold.revealed, key, reveal=True)
    freeze(run, fold.sealed, key)
    return fold


class Edit:
    """The members of a bundle in plain bytes by name, to change and to write again."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.members = dict(fold.members)
        self.seal = Seal(bytes.fromhex(self.members[layout.KEY].decode()))

    # -- tables and lines --------------------------------------------------------------------------------------

    def table(self, name: str) -> Table:
        found: Table = json.loads(self.members[name])
        return found

    def put(self, name: str, data: Table, **how: Any) -> None:
        self.members[name] = json.dumps(data, **{"indent": 1, **how}).encode() + b"\n"

    def change(self, name: str, change: Callable[[Table], object], **how: Any) -> None:
        """Change a member that is one JSON table, in the form that it has."""
        data = self.table(name)
        change(data)
        self.put(name, data, **how)

    def lines(self, name: str) -> list[Table]:
        return [json.loads(line) for line in self.members[name].splitlines()]

    def put_lines(self, name: str, rows: Iterable[Table]) -> None:
        self.members[name] = b"".join(json.dumps(r, separators=(",", ":")).encode() + b"\n" for r in rows)

    def rows(self, name: str, change: Callable[[list[Table]], object]) -> None:
        """Change the lines of a member in place."""
        rows = self.lines(name)
        change(rows)
        self.put_lines(name, rows)

    def arm(self, arm: str, change: Callable[[Table], object], *names: str) -> None:
        """Change the record of an arm, in the sealed and the public lines."""
        for name in names or (layout.SEALED_ARMS, layout.ARMS):
            self.rows(name, lambda rows: [change(row["record"]) for row in rows if row["arm"] == arm])

    def session(self, arm: str, number: int, change: Callable[[Table], object], *names: str) -> None:
        """Change the records of a session of an arm, in the sealed and the public lines."""

        def of(row: Table) -> bool:
            return bool(row["arm"] == arm and row["record"]["number"] == number)

        for name in names or (layout.SEALED_SESSIONS, layout.SESSIONS):
            self.rows(name, lambda rows: [change(row["record"]) for row in rows if of(row)])

    # -- packs -------------------------------------------------------------------------------------------------

    def pack(self, kind: str) -> dict[bytes, bytes]:
        """digest -> stored bytes of every entry in all packs of a kind."""
        found: dict[bytes, bytes] = {}
        for name in [n for n in self.members if n.startswith(f"{kind}-")]:
            data, at = self.members[name], 0
            while at < len(data):
                size = int.from_bytes(data[at + 32 : at + 40], "big")
                found[data[at : at + 32]] = data[at + 40 : at + 40 + size]
                at += 40 + size
        return found

    def put_pack(self, kind: str, entries: Iterable[tuple[bytes, bytes]]) -> None:
        """One pack of these entries, in the order given."""
        for name in [n for n in self.members if n.startswith(f"{kind}-")]:
            del self.members[name]
        self.members[layout.numbered(kind, 0)] = b"".join(d + len(b).to_bytes(8, "big") + b for d, b in entries)

    def add(self, kind: str, data: bytes) -> str:
        """Add an entry under its digest, which is returned."""
        digest = hashlib.sha256(data).digest()
        self.put_pack(kind, sorted({**self.pack(kind), digest: data}.items()))
        return digest.hex()

    def source(self, path: str, data: bytes | None) -> None:
        """Replace, add or (None) remove a file among the sources."""
        index = self.table(layout.SOURCES)
        if data is None:
            del index["files"][path]
        else:
            index["files"][path] = [self.add(layout.SOURCE_PACK, data), False]
        self.put(layout.SOURCES, index, indent=None, sort_keys=True, separators=(",", ":"))
        self.members[layout.SOURCES] = self.members[layout.SOURCES].rstrip(b"\n")
        named = {bytes.fromhex(digest) for digest, _ in index["files"].values()}
        kept = {d: b for d, b in self.pack(layout.SOURCE_PACK).items() if d in named}
        self.put_pack(layout.SOURCE_PACK, sorted(kept.items()))

    def of_source(self, path: str) -> bytes:
        return self.pack(layout.SOURCE_PACK)[bytes.fromhex(self.table(layout.SOURCES)["files"][path][0])]

    # -- what follows from what --------------------------------------------------------------------------------

    def project(self) -> None:
        """Make the public records anew from the sealed ones."""
        arms = list(read_lines(layout.SEALED_ARMS, self.members[layout.SEALED_ARMS], ArmRecord))
        sessions = list(read_lines(layout.SEALED_SESSIONS, self.members[layout.SEALED_SESSIONS], SessionRecord))
        alias, texts = self.seal.pseudonym, check_texts(arms)
        models = configured_models(self.table(layout.RUN)["meaning"])
        self.members[layout.ARMS] = as_lines(a.but(public_arm(a.record, alias, texts, models)) for a in arms)
        self.members[layout.SESSIONS] = as_lines(s.but(public_session(s.record, alias, models)) for s in sessions)

    def compute(self, scratch: Path) -> None:
        """Make numbers, report and page anew, as whoever has our program can."""
        numbers, report = analysis(put_public(scratch / "public", self.members))
        self.members |= {layout.ANALYSIS: numbers, layout.REPORT: report}
        with Bundle.open(self.resigned(scratch / "draft.dbf")) as bundle:
            self.members[layout.PAGE] = page(open_run(thaw(bundle, scratch / "whole").path, strange=True))

    # -- writing -----------------------------------------------------------------------------------------------

    def resigned(self, out: Path, key: SigningKey = ATTACKER) -> Path:
        """Everything consistent, under another signature, of the program that made the bundle."""
        scratch = out.with_name(f"{out.name}.members")
        scratch.mkdir(parents=True)
        writer = Writer(self.seal, scratch)
        for name, data in self.members.items():
            writer.put(name, data)
        told = [writer._told[name] for name in sorted(writer._told)]
        with Bundle.open(self.fold.revealed) as bundle:  # `Writer.write` would look at the program again each time
            head = make(told, self.seal.check, bundle.manifest.dreambench, bundle.manifest.code, key)
        with out.open("wb") as file:
            container.write(file, {**writer._bodies, **head})
        return out

    def forged(self, out: Path, resigned: Path) -> Path:
        """The same as `resigned`, a manifest that fits, under the signature of the old one."""
        old = raw_members(self.fold.revealed)[SIGNATURE]
        return write_raw(out, {**raw_members(resigned), SIGNATURE: old})


def raw_members(bundle: Path) -> dict[str, bytes]:
    """The members of a bundle as they are stored."""
    box = container.Container(bundle)
    try:
        return {name: box.read(name) for name in box.members}
    finally:
        box.close()


def write_raw(out: Path, members: dict[str, bytes]) -> Path:
    """A file of members that are stored so."""
    with out.open("wb") as file:
        container.write(file, members)
    return out


def resealed(out: Path, members: dict[str, bytes], change: Callable[[Table], object]) -> Path:
    """A file of stored members whose manifest was changed, canonical again, and signed by the attacker."""
    data = json.loads(members[MANIFEST])
    change(data)
    manifest = canonical(data)
    signed = {
        "schema": 1,
        "signer": ATTACKER.public.raw.hex(),
        "signature": ATTACKER.sign(FOLD, manifest).hex(),
    }
    return write_raw(out, {**members, MANIFEST: manifest, SIGNATURE: canonical(signed)})


def says(found: Verified) -> dict[str, str]:
    """check -> what it says, of those that are broken."""
    return {check.name: "\n".join(check.says) for check in found.broken}


def refused(path: Path, trusted: PublicKey | None = None) -> dict[str, str]:
    """What a verification by whom any signer is good enough finds; it must find something."""
    found = verify(path, trusted)
    assert not found.holds(any_signer=True)
    return says(found)
