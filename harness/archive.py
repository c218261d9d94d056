"""What a finished or running run holds of its sessions, read once for a report: records, texts and views.

Invariant: a blob is read and checked once; one that is missing or damaged becomes a sentence without a host path, and
takes nothing else along.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from harness.description import Description
from harness.ledger import Ledger
from harness.outcome import UsageFault
from harness.records import ArmRecord, SessionRecord
from harness.rundir import RunDir
from traps.schema import explain

SPENT = "spent.json"
REJECTED = 20  # rejected candidates of a view that are kept; those that carry a fact stand first


@dataclass(frozen=True)
class Text:
    """A blob as text, or `problem` in words."""

    text: str = ""
    problem: str = ""


@dataclass(frozen=True)
class StoredView:
    """A view as `harness.bank` stored it, as plain data: every item, the first rejected candidates, and how many `more`
    of them are stored."""

    items: tuple[Mapping[str, Any], ...] = ()
    rejected: tuple[Mapping[str, Any], ...] = ()
    more: int = 0
    considered: int = 0
    problem: str = ""


class StoredSpent(BaseModel):
    """What an arm took, as spent.json of a run without its views says: tokens of S3's view by reader level ("-" for
    agents that have none), bytes of the frozen store. None: not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    view_tokens: dict[str, int | None]
    store_bytes: int | None


class _SpentFile(BaseModel):
    model_config = ConfigDict(extra="ignore")

    arms: dict[str, StoredSpent]


@dataclass
class Archive:
    """Reads of one run directory, kept."""

    folder: RunDir
    _sessions: dict[tuple[str, int], list[SessionRecord]]
    spent: Mapping[str, StoredSpent] = field(default_factory=dict)  # by arm, where the views themselves are not there
    asked: tuple[ArmRecord, ...] = ()  # records of every attempt whose memory asked a model
    _texts: dict[str, Text] = field(default_factory=dict)
    _views: dict[str, StoredView] = field(default_factory=dict)

    @staticmethod
    def open(folder: RunDir) -> Archive:
        """All committed sessions. Raises UsageFault for a ledger that cannot be read."""
        if not folder.ledger.exists():
            return Archive(folder, {})
        with Ledger(folder.ledger, read_only=True) as ledger:
            told = any('"asked":' in row.record for row in ledger.rows("arm"))
            asked = tuple(record for record in ledger.all_arms() if record.asked) if told else ()
            return Archive(folder, ledger.all_sessions(), _spent(folder), asked)

    def sessions(self, record: ArmRecord) -> list[SessionRecord]:
        """The sessions of the attempt that the record tells of."""
        return self._sessions.get((record.arm, record.attempt), [])

    @property
    def attempts(self) -> Mapping[tuple[str, int], list[SessionRecord]]:
        """The committed sessions of every attempt, by arm and attempt."""
        return self._sessions

    def text(self, blob: str) -> Text:
        """The blob of that name; bytes that are no UTF-8 are escaped."""
        if blob not in self._texts:
            self._texts[blob] = self._read(blob)
        return self._texts[blob]

    def view(self, blob: str) -> StoredView:
        """The view that is stored in the blob."""
        if blob not in self._views:
            found = self._read(blob)
            self._views[blob] = StoredView(problem=found.problem) if found.problem else _view(blob, found.text)
        return self._views[blob]

    def _read(self, blob: str) -> Text:
        try:
            return Text(self.folder.get_blob(blob).decode("utf-8", "backslashreplace"))
        except UsageFault as error:  # it names the file, and with it the host's folders
            return Text(problem=f"blob {blob[:16]}: {str(error).rpartition(': ')[2]}")


def _spent(folder: RunDir) -> Mapping[str, StoredSpent]:
    if not (folder.path / SPENT).exists():
        return {}
    try:
        return _SpentFile.model_validate(folder.read_json(SPENT)).arms
    except ValidationError as error:
        raise UsageFault(f"{folder.path / SPENT}: damaged: {explain(error)}") from error


def without_places(folder: RunDir, stored: Description) -> Callable[[str], str]:
    """A function that puts words in place of the host's folders, which a message of ours may name."""
    config = stored.config
    named = {"RUN": str(folder.path), "HOME": str(Path.home())}
    for key in ("traps_dir", "oracles_dir", "cache", "facts_from", "family"):
        named[key.upper()] = str(config.get(key) or "")
    places = sorted(
        ((place, name) for name, place in named.items() if place.count("/") and len(place) > 1), reverse=True
    )

    def clean(text: str) -> str:
        for place, name in places:
            text = text.replace(place, name)
        return text

    return clean


def _view(blob: str, text: str) -> StoredView:
    try:
        data = from_json(text)
        rejected = data["rejected"]
        more = max(len(rejected) - REJECTED, 0)
        return StoredView(tuple(data["items"]), tuple(rejected[:REJECTED]), more, int(data["considered"]))
    except (ValueError, TypeError, KeyError):
        return StoredView(problem=f"blob {blob[:16]}: not a view")
