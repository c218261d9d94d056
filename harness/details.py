"""Every arm of a run as a person wants to read it: sessions, views, changes, checks, fates (`analysis.report.source`).

Invariant: a text lies in the result once, under a digest of its content; what is missing or damaged is said in the arm
that it belongs to, in words without a host path, and every other arm stands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from analysis.report.source import ArmDetail, Arms, CheckLine, EndingDetail, SessionDetail, Shown
from harness.archive import Archive, StoredView, without_places
from harness.objects import ObjectStore, Pair
from harness.records import ArmRecord, Ending, FactTrace, SessionRecord, VerdictCheck
from harness.rundir import RunDir

LONGEST = 100_000  # characters of a text; a page cuts further to keep its size
_LISTED = 20  # paths that were not captured
_ALWAYS = "/work/.git: .git"  # the repository that every session is given and leaves behind


class Texts:
    """Texts by a short digest of their content."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}  # by key
        self._keys: dict[str, str] = {"": ""}  # by text

    def add(self, text: str) -> str:
        """The key of a text; "" for an empty one."""
        if text not in self._keys:
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            size = 12
            while digest[:size] in self._found:  # another text has this short digest
                size += 4
            self._keys[text] = digest[:size]
            self._found[digest[:size]] = text
        return self._keys[text]

    def cut(self, most: int) -> tuple[dict[str, str], int | None]:
        """All texts, each cut to `most` characters; None if none had to be."""
        cut = any(len(text) > most for text in self._found.values())
        return {key: text[:most] for key, text in self._found.items()}, most if cut else None


def arms(folder: RunDir, records: Sequence[ArmRecord], archive: Archive | None = None) -> Arms:
    """The detail of every arm that ended, in the order of the records. Raises UsageFault for an unreadable ledger."""
    archive = archive or Archive.open(folder)
    clean = without_places(folder, folder.description())
    pairs = [_pair(session) for record in records for session in archive.sessions(record)]
    texts = Texts()
    view = _Viewer(archive, texts, _pictures(folder, [pair for pair in pairs if pair[1]]), clean)
    details = tuple(view.arm(record) for record in records)
    return Arms(details, *texts.cut(LONGEST))


def fate(trace: FactTrace) -> str:
    """One line of the fact funnel: what was injected, how far it came, and why no further."""
    mark = " (corrupted)" if trace.corrupted else ""
    return f"{trace.name} [{trace.role}] {trace.stage}{mark}{f': {trace.lost}' if trace.lost else ''}"


def _pair(session: SessionRecord) -> Pair:
    return session.tree_in, session.tree_out


def _pictures(folder: RunDir, pairs: Iterable[Pair]) -> dict[Pair, str]:
    """The change of every session by one git; no store of trees, no pictures."""
    if not (folder.objects / "HEAD").is_file():
        return {}
    found = ObjectStore(folder.objects).diffs(pairs, most=4 * LONGEST)
    return {pair: picture.decode("utf-8", "backslashreplace") for pair, picture in found.items()}


class _Viewer:
    """Makes details; views that are the same in several sessions are made once."""

    def __init__(
        self, archive: Archive, texts: Texts, pictures: Mapping[Pair, str], clean: Callable[[str], str]
    ) -> None:
        self._archive, self._texts, self._pictures, self._clean = archive, texts, pictures, clean
        self._shown: dict[tuple[str, tuple[str, ...]], tuple[tuple[Shown, ...], tuple[Shown, ...]]] = {}

    def arm(self, record: ArmRecord) -> ArmDetail:
        return ArmDetail(
            arm=record.arm,
            trap=record.trap,
            construct=record.construct_,
            condition=record.condition,
            seed=record.seed,
            history=record.history,
            expect=record.expect,
            attempt=record.attempt,
            sessions=tuple(self._session(record, session) for session in self._archive.sessions(record)),
            endings=tuple(_ending(ending, self._clean(ending.cause)) for ending in record.endings),
        )

    def _session(self, record: ArmRecord, session: SessionRecord) -> SessionDetail:
        notes: list[str] = []
        view = self._archive.view(session.view)
        if view.problem:
            notes.append(f"the view cannot be read ({view.problem})")
        roles = record.shown if session.number == 3 else ()
        admitted, rejected = self._items(session.view, view, roles)
        if view.more:
            notes.append(f"{view.more} more rejected candidates are stored and not listed here")
        return SessionDetail(
            number=session.number,
            reader="" if session.reader == "-" else session.reader,
            prompt=self._text(session.prompt, "prompt", notes),
            admitted=admitted,
            rejected=rejected,
            considered=view.considered,
            memory_bytes=session.memory_bytes,
            diff=self._diff(session, notes),
            check="" if session.check is None else "passed" if session.check.passed else "failed",
            carried=tuple((carried.name, carried.bytes, carried.sha256) for carried in session.carried),
            transcript=self._text(session.transcript, "transcript", notes),
            notes=(*notes, *_happened(session)),
        )

    def _text(self, blob: str, what: str, notes: list[str]) -> str:
        found = self._archive.text(blob)
        if found.problem:
            notes.append(f"the {what} cannot be read ({found.problem})")
        return self._texts.add(found.text)

    def _diff(self, session: SessionRecord, notes: list[str]) -> str:
        if not session.tree_out:
            return ""
        picture = self._pictures.get(_pair(session))
        if picture is None:
            trees = f"{session.tree_in[:16]} and {session.tree_out[:16]}"
            notes.append(f"the change cannot be shown (trees {trees}: missing or damaged)")
        return self._texts.add(picture or "")

    def _items(
        self, blob: str, view: StoredView, roles: tuple[str, ...]
    ) -> tuple[tuple[Shown, ...], tuple[Shown, ...]]:
        key = (blob, roles)
        if key not in self._shown:
            named = roles if len(roles) == len(view.items) else ("",) * len(view.items)
            admitted = tuple(self._item(item, role) for item, role in zip(view.items, named, strict=True))
            rejected = tuple(
                Shown(self._texts.add(str(item.get("text", ""))), why=str(item.get("why", "")))
                for item in view.rejected
            )
            self._shown[key] = admitted, rejected
        return self._shown[key]

    def _item(self, item: Mapping[str, Any], role: str) -> Shown:
        state = str(item.get("state") or "")
        if successor := item.get("successor"):
            state = f"{state}, replaced by [{successor}]".removeprefix(", ")
        return Shown(
            text=self._texts.add(str(item.get("text", ""))),
            date=str(item.get("date") or ""),
            type=str(item.get("type") or ""),
            scope=_scope(item.get("scope") or {}),
            state=state,
            role=role,
        )


def _scope(scope: Mapping[str, Any]) -> str:
    said = [", ".join(map(str, scope.get(name) or ())) for name in ("files", "symbols")]
    return "; ".join(part for part in (*said, str(scope.get("task") or "")) if part)


def _happened(session: SessionRecord) -> list[str]:
    """What was out of the ordinary in a session."""
    found = ["stopped at the time limit"] if session.timed_out else []
    if session.exit not in (0, None):
        found.append(f"exit status {session.exit}")
    found += [f"limit reached: {name}" for name in session.hit]
    lost = [f"not captured: {entry}" for entry in session.dropped if entry != _ALWAYS]
    found += lost[:_LISTED]
    if len(lost) > _LISTED:
        found.append(f"not captured: {len(lost) - _LISTED} more paths")
    if session.check and not session.check.passed:
        status = "killed" if session.check.exit is None else f"exit status {session.check.exit}"
        found.append(f"public check failed ({status})")
    return found


def _ending(ending: Ending, cause: str) -> EndingDetail:
    kinds = ("production", "stripped", "forbidden")
    return EndingDetail(
        reader="" if ending.reader == "-" else ending.reader,
        outcome=ending.outcome.value,
        cause=cause,
        boundary=ending.boundary.value if ending.boundary else "",
        checks=tuple(_check(check) for check in ending.checks),
        fates=tuple(fate(trace) for trace in ending.funnel),
        paths=tuple((kind, path) for kind in kinds for path in getattr(ending, kind)),
    )


def _check(check: VerdictCheck) -> CheckLine:
    if check.choked:  # it broke before it could decide, so it is not met whatever its kind
        return CheckLine("missed", check.text, f"the check broke: {check.detail}".removesuffix(": "))
    if check.kind == "requires":
        return CheckLine("ok" if check.held else "missed", check.text, check.detail)
    return CheckLine("seen" if check.held else "ok", check.text, check.detail)
