"""The glossary: one source for the words that the report links to and that docs/glossary.md explains.

    python -m analysis.glossary > docs/glossary.md

Invariant: a spelling belongs to at most one term, so looking a heading up is never ambiguous. Case does not matter,
but for single letters: b counts cells, B is a run.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

FILE = "glossary.toml"


class GlossaryError(ValueError):
    """A glossary that cannot be used; the message names the file and the term."""


@dataclass(frozen=True)
class Term:
    """A word: `also` are other spellings of it, `formula` and `source` are "" where there is none."""

    id: str
    name: str
    also: tuple[str, ...]
    says: str
    formula: str = ""
    source: str = ""


@dataclass(frozen=True)
class Glossary:
    """Terms in the order in which they are printed."""

    terms: tuple[Term, ...]

    def find(self, text: str) -> Term | None:
        """The term with exactly this name or other spelling, in any case (a single letter: in this case).

        A last remark in brackets may stand behind it: "Holm p (careful reader)".
        """
        exact = self._by_spelling.get(_key(text))
        return exact or self._by_spelling.get(_key(re.sub(r" \([^()]*\)$", "", text)))

    @cached_property
    def _by_spelling(self) -> Mapping[str, Term]:
        return {_key(spelling): term for term in self.terms for spelling in (term.name, *term.also)}


_Word = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True, pattern=r"^[^\n]*$")]


class _Term(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    name: _Word
    also: tuple[_Word, ...] = ()
    says: _Word
    formula: str = Field(default="", pattern=r"^[^\n`]*$")
    source: str = Field(default="", pattern=r"^[^\n]*$")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    term: tuple[_Term, ...] = Field(min_length=1)


def load() -> Glossary:
    """The glossary of this package, sorted by name (C2 before C10)."""
    return parse(resources.files("analysis").joinpath(FILE).read_text(encoding="utf-8"))


def parse(text: str, where: str = FILE) -> Glossary:
    """A glossary from TOML text. Raises GlossaryError: a wrong key, an id or a spelling that two terms claim."""
    try:
        found = _File.model_validate(tomllib.loads(text)).term
    except tomllib.TOMLDecodeError as error:
        raise GlossaryError(f"{where}: {error}") from error
    except ValidationError as error:
        bad = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise GlossaryError(f"{where}: {bad}") from error
    terms = [Term(t.id, t.name, t.also, t.says, t.formula, t.source) for t in found]
    _refuse_doubles(terms, where)
    return Glossary(tuple(sorted(terms, key=lambda term: _order(term.name))))


def as_markdown(glossary: Glossary) -> str:
    """docs/glossary.md; ends with a line feed."""
    lines = [
        "# Glossary",
        "",
        "Made from `analysis/glossary.toml` by `python -m analysis.glossary > docs/glossary.md`. The report links to",
        "these words.",
        "",
    ]
    for term in glossary.terms:
        lines += [f"### {_escaped(term.name)}", "", _escaped(term.says), ""]
        if term.formula:
            lines += [f"    {term.formula}", ""]
        if term.also:
            lines += [f"Also: {'; '.join(_escaped(word) for word in term.also)}.", ""]
        if term.source:
            lines += [f"Source: {_source(term.source)}.", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _refuse_doubles(terms: list[Term], where: str) -> None:
    ids: set[str] = set()
    claimed: dict[str, str] = {}
    for term in terms:
        if term.id in ids:
            raise GlossaryError(f"{where}: two terms have the id {term.id!r}")
        ids.add(term.id)
        for spelling in (term.name, *term.also):
            if (other := claimed.setdefault(_key(spelling), term.id)) != term.id:
                raise GlossaryError(f"{where}: {spelling!r} of {term.id!r} is claimed by {other!r} too")
        if len({_key(s) for s in (term.name, *term.also)}) < 1 + len(term.also):
            raise GlossaryError(f"{where}: {term.id!r} has a spelling twice")


def _key(spelling: str) -> str:
    return spelling if len(spelling) == 1 else spelling.casefold()


def _order(name: str) -> tuple[tuple[str, int], ...]:
    """By letters, with numbers by their value."""
    parts = re.findall(r"(\D*)(\d*)", name.casefold().lstrip("_"))
    return tuple((word, int(number or -1)) for word, number in parts)


def _source(source: str) -> str:
    """A file of the repository is a link; a paper is text."""
    if re.fullmatch(r"[\w./-]+\.(py|md|toml)", source):
        target = source.removeprefix("docs/") if source.startswith("docs/") else f"../{source}"
        return f"[{source}]({target})"
    return _escaped(source)


def _escaped(text: str) -> str:
    shown = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", shown)


if __name__ == "__main__":
    sys.stdout.write(as_markdown(load()))
