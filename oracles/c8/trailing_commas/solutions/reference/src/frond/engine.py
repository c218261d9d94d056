"""What the made parser stands on: tokens, a cursor, and the words for what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from frond.errors import Place, SyntaxFault

END = "END"


class Token(NamedTuple):
    """`kind` is a token of the grammar (NAME), or the text itself for keywords and signs."""

    kind: str
    text: str
    place: Place


class Engine:
    """Base of `frond._parser.Parser`, which sets the tables."""

    KEYWORDS: ClassVar[frozenset[str]]
    SIGNS: ClassVar[tuple[str, ...]]
    TOKENS: ClassVar[dict[str, tuple[str, str]]]  # kind -> (pattern, title)
    SKIP: ClassVar[str]

    def __init__(self, source: str) -> None:
        self._tokens = list(self._scan(source))
        self._next = 0

    @property
    def place(self) -> Place:
        return self._tokens[self._next].place

    def sees(self, *kinds: str) -> bool:
        return self._tokens[self._next].kind in kinds

    def advance(self) -> Token:
        token = self._tokens[self._next]
        if token.kind != END:
            self._next += 1
        return token

    def take(self, kind: str) -> Token:
        if not self.sees(kind):
            raise self.unexpected(kind)
        return self.advance()

    def unexpected(self, *kinds: str) -> SyntaxFault:
        """The fault of a token that is none of `kinds`."""
        *others, last = map(self._title, kinds)
        wanted = f"{', '.join(others)} or {last}" if others else last
        token = self._tokens[self._next]
        found = "the end" if token.kind == END else token.text
        return SyntaxFault(f"expected {wanted}, found {found}", token.place)

    def _title(self, kind: str) -> str:
        if kind == END:
            return "the end"
        return self.TOKENS[kind][1] if kind in self.TOKENS else f"'{kind}'"

    def _scan(self, source: str) -> Iterator[Token]:
        signs = "|".join(re.escape(sign) for sign in self.SIGNS)
        groups = [f"(?P<skip>{self.SKIP})"]
        groups += [f"(?P<{kind}>{pattern})" for kind, (pattern, _) in self.TOKENS.items()]
        pattern = re.compile("|".join([*groups, f"(?P<sign>{signs})"]))
        at, line, start = 0, 1, 0
        while at < len(source):
            place = Place(line, at - start + 1)
            match = pattern.match(source, at)
            if match is None:
                raise SyntaxFault(f"{source[at]!r} has no meaning here", place)
            text = match.group()
            if match.lastgroup != "skip":
                word = match.lastgroup == "sign" or text in self.KEYWORDS
                yield Token(text if word else str(match.lastgroup), text, place)
            at = match.end()
            if newlines := text.count("\n"):
                line += newlines
                start = match.start() + text.rindex("\n") + 1
        yield Token(END, "", Place(line, at - start + 1))
