"""The format of `background.toml`: the ordinary past of a fixture, as templates and the carriers that say them.

Invariant: a file that loads has a value for every slot, says author, date, number and scope in every event, and has
no template on a topic that it excludes.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from traps import facts
from traps.reader.notes import words
from traps.reader.shapes import values
from traps.schema import EventKind, Scope, read_toml

Shape = Literal["tag", "dotted", "slashed", "upper", "colon", "word", "count"]

SLOT = re.compile(r"<<\s*([a-z_]+)\s*>>")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Value(_Strict):
    """What a template's `<< value >>` is drawn from: `format` (as of a fact), or for words `variants`."""

    shape: Shape
    format: str = ""
    variants: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        if bool(self.format) == bool(self.variants) or (self.shape == "word") != bool(self.variants):
            raise ValueError("a word lists variants, every other shape has a format")
        if self.shape not in ("word", "count") and facts.bits(self.format) < facts.MIN_BITS:
            raise ValueError(f"{self.format!r} holds under {facts.MIN_BITS} bits")
        for value in self.variants or (self.draw(),):
            if value not in [v for _, v in values(self.shape, f"`{value}`")]:
                raise ValueError(f"{value!r} has not the shape {self.shape}")
        return self

    def draw(self) -> str:
        """A fresh value."""
        return secrets.choice(self.variants) if self.variants else facts.draw_token(self.format)


class Carrier(_Strict):
    """A kind of message: `opening` names number, author and date; opening or `closing` names the scope."""

    name: str
    ref: str
    authority: int = Field(ge=0, le=9)
    authors: tuple[str, ...] = Field(min_length=1)
    kinds: tuple[EventKind, ...] = ()  # what it may carry; empty: everything
    opening: str
    closing: str = ""


class Template(_Strict):
    """One thing that can be said. With `update` it stands until it is said anew, which replaces the last saying.

    `some` lists alternatives for `<< some >>`; `days` > 0 makes it valid for so many days (`<< until >>`).
    """

    topic: str
    kind: EventKind
    scope: Scope
    value: Value | None = None
    some: tuple[str, ...] = ()
    days: int = Field(default=0, ge=0)
    failed: bool = False  # the session's check had failed
    text: str
    update: str = ""


class Excluded(_Strict):
    """What the fixture's traps are about."""

    topics: tuple[str, ...] = ()


class BackgroundFile(_Strict):
    """`background.toml`. Episodes are spread over `begins` to `ends`, which lie before every first session."""

    schema_: Literal[1] = Field(alias="schema")
    begins: dt.date
    ends: dt.date
    excluded: Excluded
    prompts: tuple[str, ...] = Field(min_length=1)
    carrier: tuple[Carrier, ...] = Field(min_length=1)
    template: tuple[Template, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.begins >= self.ends:
            raise ValueError("begins lies after ends")
        for carrier in self.carrier:
            where = f"carrier {carrier.name}"
            _slots(where, carrier.opening + carrier.closing, {"ref", "author", "date", "place"}, {"task"})
            if not re.fullmatch(r"[A-Z]{2,6}-\{digit:[6-9]\}", carrier.ref):
                raise ValueError(f"{where}: ref {carrier.ref!r} is no note number")
        for prompt in self.prompts:
            _slots("prompts", prompt, {"task", "file"}, set())
        for template in self.template:
            self._check(template)
        return self

    def carriers(self, kind: EventKind) -> list[int]:
        """Indices of the carriers that may carry this kind of event."""
        return [n for n, c in enumerate(self.carrier) if not c.kinds or kind in c.kinds]

    def _check(self, template: Template) -> None:
        where = f"template {template.topic!r}"
        own = {n for n in ("value", "some") if getattr(template, n)} | ({"until"} if template.days else set())
        _slots(where, template.text, own, set())
        if template.update:
            if not template.some:
                raise ValueError(f"{where}: what stands until it is said anew has subjects (`some`)")
            _slots(f"{where} update", template.update, own | {"old_ref"}, {"old"} if template.value else set())
        if not self.carriers(template.kind):
            raise ValueError(f"{where}: no carrier for {template.kind}")
        if not template.scope.files or not template.scope.task:
            raise ValueError(f"{where}: a scope has files and a task")
        for topic in self.excluded.topics:
            if topical(topic, template.topic):
                raise ValueError(f"{where} is about the excluded topic {topic!r}")


@dataclass(frozen=True)
class Background:
    """A loaded file; `digest` is the sha256 of its bytes."""

    spec: BackgroundFile
    digest: str


def load_background(fixtures: Path, name: str) -> Background:
    """The background of a fixture. Raises TrapError naming the file and the line or key."""
    path = fixtures / name / "background.toml"
    return Background(read_toml(path, BackgroundFile), hashlib.sha256(path.read_bytes()).hexdigest())


def topical(about: str, text: str) -> bool:
    """Whether `text` holds at least half of the content words of `about`, as the reader of notes counts."""
    wanted = words(about)
    return bool(wanted) and 2 * len(wanted & words(text)) >= len(wanted)


def _slots(where: str, text: str, needed: Collection[str], allowed: Collection[str]) -> None:
    """Exactly the needed slots, and perhaps the allowed ones. Raises ValueError."""
    found = set(SLOT.findall(text))
    if missing := set(needed) - found:
        raise ValueError(f"{where}: the slot {min(missing)!r} is not used")
    if unknown := found - {*needed, *allowed}:
        raise ValueError(f"{where}: the slot {min(unknown)!r} has no value")
    if "<<" in SLOT.sub("", text):
        raise ValueError(f"{where}: a slot is a name between << and >>")
