"""What a scripted model answers: the `Seen` that a script may look at, the `Turn` that it gives back.

Invariant: a script knows what one request sent (and which turn of its conversation that is) and nothing else: no
header, no address, no clock, no state of the server. The same script drives every dialect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "tool"]


@dataclass(frozen=True)
class Message:
    """One message as plain text. `called` names the tools that an assistant's message called, `ids` are those of the
    calls, where the agent sends them."""

    role: Role
    text: str
    called: tuple[str, ...] = ()
    ids: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class Seen:
    """One request: system text, messages in order, names of the tools offered, turn of this conversation (from 1)."""

    dialect: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...]
    turn: int

    def text(self) -> str:
        """Everything that was said so far, the system text first."""
        return "\n\n".join([self.system, *(message.text for message in self.messages)])

    def last(self) -> str:
        """Text of the last message, which for a tool's turn is what the tool printed."""
        return self.messages[-1].text if self.messages else ""


@dataclass(frozen=True)
class Shell:
    """Run a command by whatever the agent offers for it."""

    command: str


@dataclass(frozen=True)
class Say:
    """Plain text; it ends the work of every agent."""

    text: str


@dataclass(frozen=True)
class Call:
    """Call a tool by its name, or by the last part of a name that an agent put a prefix before (MCP)."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Write:
    """The whole text of one file, which may be new."""

    path: str
    text: str


@dataclass(frozen=True)
class Replace:
    """Text that occurs once in a file, and what takes its place."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Edit:
    """Change files: a command where the agent has a shell, blocks of text where it reads edits from the answer."""

    changes: tuple[Write | Replace, ...]


Turn: TypeAlias = Shell | Say | Call | Edit


class Script(Protocol):
    """What decides; called from several threads, so it must keep no state."""

    def turn(self, seen: Seen) -> Turn: ...


@dataclass(frozen=True)
class Steps:
    """The n-th turn of a conversation, and `then` for all that come later."""

    turns: tuple[Turn, ...]
    then: Turn = Say("Done.")

    def turn(self, seen: Seen) -> Turn:
        return self.turns[seen.turn - 1] if seen.turn <= len(self.turns) else self.then


@dataclass(frozen=True)
class Cases:
    """The script of the first text that occurs in what was said, such as a sentence of one session's prompt."""

    cases: Sequence[tuple[str, Script]]
    otherwise: Script = Steps(())

    def turn(self, seen: Seen) -> Turn:
        said = seen.text()
        return next((script for text, script in self.cases if text in said), self.otherwise).turn(seen)


@dataclass(frozen=True)
class Function:
    """A script made of a function."""

    function: Callable[[Seen], Turn]

    def turn(self, seen: Seen) -> Turn:
        return self.function(seen)


def tokens(text: str) -> int:
    """The one rule of counting: a token is a word between white space."""
    return len(text.split())


def input_tokens(system: str, messages: Sequence[Message]) -> int:
    """Tokens of a request: its system text and its messages. Descriptions of tools are not counted."""
    return tokens(system) + sum(tokens(message.text) for message in messages)


def call_text(name: str, arguments: Any) -> str:
    """A tool call as plain text: the name and the arguments as JSON in one fixed form (free text as it is)."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return f"{name} {arguments}"
    return f"{name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
