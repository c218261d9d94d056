"""A run directory becomes one file: deterministic, signed, with everything that holds a fact sealed.

Invariant: the same run, key and program give the same bytes; the public members hold no drawn fact and no place of this
machine, which is looked for at the end and stops the freeze; the run directory gains nothing but the key of its seal.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.archive import without_places
from harness.batches import TreeReader, unique
from harness.bundle import layout, sources
from harness.bundle.container import BundleError
from harness.bundle.derived import analysis, page, spent
from harness.bundle.lost import lines_of, public_lost
from harness.bundle.manifest import Manifest
from harness.bundle.opened import Opened
from harness.bundle.packs import MOST
from harness.bundle.public import checkout, configured_models, public_arm, public_description, public_session
from harness.bundle.rows import Told, as_lines
from harness.bundle.seal import Seal, run_seal
from harness.bundle.signing import SigningKey
from harness.bundle.thaw import put_public
from harness.bundle.writer import Writer
from harness.ledger import Ledger
from harness.leftovers import Lost
from harness.leftovers import lost as lost_uses
from harness.objects import ObjectStore
from harness.outcome import UsageFault
from harness.plan import differing
from harness.records import ArmRecord, SessionRecord, exchange_blobs
from harness.stores import chunks
from traps.fixtures import File


@dataclass(frozen=True)
class Frozen:
    """What was written, and what stands in it."""

    manifest: Manifest
    arms: int
    trees: int


def freeze(run: Opened, out: Path, key: SigningKey, reveal: bool = False) -> Frozen:
    """Write the bundle of a run.

    Raises UsageFault: the run is not whole, its traps have changed since, something in it is missing or damaged, the
    file cannot be written, or what would be public holds a fact or a place of this machine.
    """
    _require_whole(run)
    _require_unchanged(run)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            return _Freezer(run, run_seal(run.folder.path), Path(scratch)).freeze(out, key, reveal)
    except BundleError as error:
        raise UsageFault(f"{run.folder.path}: cannot be frozen: {error}") from error


def _require_whole(run: Opened) -> None:
    run.stored.require_own(str(run.folder.path))
    if not run.revealed:
        raise UsageFault(f"{run.folder.path}: the facts of this run are not here: only who ran it can freeze it")
    if owed := run.stored.arms - len(run.records):
        remedy = f"remedy: dreambench resume {run.folder.path}"
        raise UsageFault(f"{run.folder.path}: {owed} of {run.stored.arms} arms have no record yet ({remedy})")


def _require_unchanged(run: Opened) -> None:
    """The bundle's traps and oracles have to be those that were run."""
    found = {
        "traps": {name: trap.digest for name, trap in run.traps.items()},
        "oracles": {name: oracle.digest for name, oracle in run.oracles.items()},
    }
    ran = {kind: dict(run.stored.meaning.get(kind, {})) for kind in found}
    if changed := differing(ran, found):
        raise UsageFault(
            f"{run.folder.path}: its traps or oracles have changed since it was run, so that it cannot be replayed "
            f"from them: {'; '.join(changed[:3])} (remedy: freeze it with the files that it was run with)"
        )


class _Freezer:
    def __init__(self, run: Opened, seal: Seal, scratch: Path) -> None:
        self.run, self.seal, self.folder = run, seal, run.folder
        self.writer = Writer(seal, self._made(scratch / "members"))
        self.home = scratch / "public"
        self.clean = without_places(run.folder, run.stored)
        self.public: dict[str, bytes] = {}
        self.lost = [self._cleaned(Lost(use=use)) for use in lost_uses(run.folder)]

    @staticmethod
    def _made(folder: Path) -> Path:
        folder.mkdir()
        return folder

    def freeze(self, out: Path, key: SigningKey, reveal: bool) -> Frozen:
        arms, sessions = self._ledger()
        self._public(arms, sessions)
        trees = self._trees(sessions)
        self._blobs(arms, sessions)
        self._secrets()
        self.writer.put(layout.PAGE, page(self.run))
        self._require_discreet()
        for name, data in self.public.items():
            self.writer.put(name, data)
        self._sources()
        version = metadata.version("dreambench-swe")
        return Frozen(self.writer.write(out, key, version, reveal), len(self.run.records), trees)

    def _cleaned(self, lost: Lost) -> Lost:
        return Lost.model_validate_json(self.clean(lost.model_dump_json()))

    # -- what is in the open ---------------------------------------------------------------------------------------

    def _ledger(self) -> tuple[list[Told[ArmRecord]], list[Told[SessionRecord]]]:
        """Every committed record, without places of this machine; the whole ones are sealed."""
        with Ledger(self.folder.ledger, read_only=True) as ledger:
            arms = [Told.of(ArmRecord, row, self.clean) for row in ledger.rows("arm")]
            sessions = [Told.of(SessionRecord, row, self.clean) for row in ledger.rows("session")]
        self.writer.put(layout.SEALED_ARMS, as_lines(arms))
        self.writer.put(layout.SEALED_SESSIONS, as_lines(sessions))
        return arms, sessions

    def _public(self, arms: list[Told[ArmRecord]], sessions: list[Told[SessionRecord]]) -> None:
        alias = self.seal.pseudonym
        texts, models = check_texts(arms), configured_models(self.run.stored.meaning)
        self.public |= {
            layout.RUN: _json(public_description(self.folder.read_json("run.json"))),
            layout.ARMS: as_lines(arm.but(public_arm(arm.record, alias, texts, models)) for arm in arms),
            layout.SESSIONS: as_lines(told.but(public_session(told.record, alias, models)) for told in sessions),
            layout.SPENT: spent(self.run),
        }
        if self.lost:
            self.writer.put(layout.SEALED_LOST, lines_of(self.lost))
            self.public[layout.LOST] = lines_of(public_lost(self.lost, alias, models))
        for name in (layout.COMMITMENTS, layout.SANDBOXES):
            if (self.folder.path / name).exists():
                self.public[name] = _json(self.folder.read_json(name), self.clean)
        for name in (layout.PLAN, layout.AMENDMENTS):  # to the byte: they are signed
            if (self.folder.path / name).exists():
                self.public[name] = (self.folder.path / name).read_bytes()
        home = put_public(self.home, self.public)
        numbers, report = analysis(home)
        self.public |= {layout.ANALYSIS: numbers, layout.REPORT: report}

    def _require_discreet(self) -> None:
        places = {str(self.folder.path), checkout(), str(self.run.config.cache_dir), str(Path.home())}
        shy = {place: "a place of this machine" for place in places if place.count("/") > 1}
        for draw in self.run.draws.values():
            shy |= dict.fromkeys((*draw.refs.values(), *_tokens(draw.facts.values())), "a drawn fact")
        for name, data in self.public.items():
            for text, what in shy.items():
                if text.encode() in data:
                    raise BundleError(f"{name} would be public and holds {what}")

    # -- what is sealed --------------------------------------------------------------------------------------------

    def _trees(self, sessions: list[Told[SessionRecord]]) -> int:
        """Every tree as rows of path, mode and digest, and the bytes by digest. How many trees there are."""
        wanted = unique(tree for s in sessions for tree in s.record.trees)
        digests: dict[str, bytes] = {}
        lines: list[bytes] = []
        bodies: dict[bytes, bytes] = {}
        with TreeReader(ObjectStore(self.folder.objects)) as reader:
            for tree in sorted(wanted):
                rows = []
                for path, (mode, blob) in sorted(reader.listing(tree).items()):
                    if blob not in digests:
                        data = reader.blob(blob)
                        digests[blob] = hashlib.sha256(data).digest()
                        bodies[digests[blob]] = data
                    rows.append([path.decode("utf-8", "surrogateescape"), mode, digests[blob].hex()])
                lines.append(json.dumps({"tree": tree, "files": rows}, separators=(",", ":")).encode())
        self.writer.put(layout.TREES, b"".join(line + b"\n" for line in lines))
        self.writer.put_packs(layout.FILE_PACK, sorted(bodies.items()))
        return len(wanted)

    def _blobs(self, arms: list[Told[ArmRecord]], sessions: list[Told[SessionRecord]]) -> None:
        stores = {a.record.store for a in arms if a.record.store}
        plain = stores.union(*(s.record.texts for s in sessions))
        exchanges = exchange_blobs([*(s.record for s in sessions), *(a.record for a in arms)])
        exchanges |= {each.use.exchange for each in self.lost} - {""}

        def read(name: str) -> bytes:
            return self.folder.get_blob(name) if name in plain else self.folder.get_packed(name, MOST)

        names = sorted(plain | exchanges)
        self.writer.put_packs(layout.BLOB_PACK, ((bytes.fromhex(name), read(name)) for name in names))
        parts = sorted({chunk for store in stores for chunk in chunks(self.folder, store)})
        self.writer.put_packs(layout.CHUNK_PACK, ((bytes.fromhex(n), self.folder.raw_packed(n)) for n in parts))

    def _secrets(self) -> None:
        self.writer.put(layout.FACTS, self.folder.facts.read_bytes())
        if self.folder.background.exists():
            self.writer.put(layout.BACKGROUND, self.folder.background.read_bytes())

    def _sources(self) -> None:
        files = sources.gathered(self.run)
        self.writer.put(layout.SOURCES, sources.index(files))
        self.writer.put_packs(layout.SOURCE_PACK, _by_digest(files.values()))


def check_texts(arms: Iterable[Told[ArmRecord]]) -> frozenset[str]:
    """The texts of the oracles' checks, which are public."""
    return frozenset(check.text for arm in arms for ending in arm.record.endings for check in ending.checks)


def _tokens(values: Iterable[str]) -> Iterator[str]:
    """Drawn values that no listed variant is: those hold a digit, and none is short."""
    return (value for value in values if len(value) >= 8 and any(c.isdigit() for c in value))


def _by_digest(files: Iterable[File]) -> list[tuple[bytes, bytes]]:
    return sorted({hashlib.sha256(file.data).digest(): file.data for file in files}.items())


def _json(data: dict[str, Any], clean: Any = str) -> bytes:
    return str(clean(json.dumps(data, indent=1, ensure_ascii=True))).encode() + b"\n"
