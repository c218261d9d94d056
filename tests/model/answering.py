"""From a request to an answer: what the script sees, which turn this is, how its turn is said to this agent.

Invariant: conversations are told apart by what they hold. A turn of ours is an assistant's message that called a tool
or whose words this server has said before, so that examples which agents put into their prompts do not count.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .dialects import Answer, Asked, Tool, ToolCall, Usage
from .formats import SUBMIT, Format, edit_command, ends_by_command
from .script import Call, Edit, Message, Say, Script, Seen, Shell, Turn, call_text, input_tokens, tokens
from .tools import call_named, instance, shell_call

ASIDE = "Understood."


class Said:
    """What this server has answered: the words of texts, and whole conversations by the id of the answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: set[str] = set()
        self._spoiled: set[str] = set()
        self._conversations: dict[str, tuple[Message, ...]] = {}

    def ours(self, message: Message) -> bool:
        """Whether an assistant's message is one of our turns."""
        words = _words(message.text)
        with self._lock:
            marks = [name.rpartition("_")[2] for name in message.ids] or [words]
            spoiled = any(mark in self._spoiled for mark in marks)
            known = bool(message.called) or words in self._texts
        return message.role == "assistant" and known and not spoiled

    def keep(self, name: str, asked: Asked, answer: Answer, spoiled: bool) -> None:
        """Remember an answer and, by its name, the conversation up to it. A spoiled one is no turn of the script.

        It is known again by the id of its call, since agents mend what was broken, and where they send no ids by its
        words.
        """
        message = said(answer)
        with self._lock:
            if spoiled and answer.call:
                shown = call_text(answer.call.tool.label, answer.call.as_object())
                self._spoiled |= {_words(message.text), _words(shown), answer.id[:24]}
            elif spoiled:
                self._spoiled.add(_words(message.text))
            else:
                self._texts.add(_words(message.text))
            if asked.dialect == "responses":  # the only one in which a request can name what went before
                self._conversations[name] = (*asked.messages, message)

    def earlier(self, name: str) -> tuple[Message, ...] | None:
        """The messages up to and with the answer of that name."""
        with self._lock:
            return self._conversations.get(name)


@dataclass(frozen=True)
class Reply:
    """What was seen, what the script said to it, and how that was put. `aside`: this agent offers no way to say it."""

    seen: Seen
    turn: Turn
    answer: Answer
    aside: bool


def see(asked: Asked, known: Said) -> Seen:
    """What a script may look at."""
    turn = 1 + sum(map(known.ours, asked.messages))
    return Seen(asked.dialect, asked.system, asked.messages, tuple(tool.label for tool in asked.tools), turn)


def reply(asked: Asked, turn: Turn, seen: Seen, formats: Sequence[Format], known: Said, thoughts: str) -> Reply:
    """The turn as this agent can take it; where it cannot, a short text that does nothing."""
    found = _put(turn, asked, formats)
    text, call = found or (json.dumps(instance(asked.schema)) if asked.schema else ASIDE, None)
    answer = build(asked, text, call, known, thoughts)
    return Reply(seen, turn, answer, found is None)


def turn_of(script: Script, seen: Seen) -> Turn:
    """Ask the script. Raises TypeError for what is no turn."""
    turn = script.turn(seen)
    if not isinstance(turn, Shell | Say | Call | Edit):
        raise TypeError(f"the script gave {turn!r}, which is no turn")
    return turn


def build(asked: Asked, text: str, call: ToolCall | None, known: Said, thoughts: str) -> Answer:
    """An answer with its id and the tokens of its request."""
    said_text = call_text(call.tool.label, call.arguments) if call else text
    usage = _usage(asked, known, tokens(said_text), tokens(thoughts))
    content = json.dumps([asked.dialect, asked.system, [m.text for m in asked.messages], said_text])
    return Answer(hashlib.sha256(content.encode()).hexdigest(), asked.model, text, call, usage)


def said(answer: Answer) -> Message:
    """An answer as the message that a later request will send back."""
    if answer.call is None:
        return Message("assistant", answer.text)
    name = answer.call.tool.label
    return Message("assistant", call_text(name, answer.call.arguments), (name,))


def with_unknown_tool(answer: Answer, name: str) -> Answer:
    """The answer as a call of a tool that was not offered."""
    return _recounted(replace(answer, text="", call=ToolCall(Tool(name), "{}")))


def with_broken_arguments(answer: Answer) -> Answer:
    """The answer's tool call with arguments that end in the middle; a text becomes such a call."""
    call = answer.call or ToolCall(Tool("shell"), '{"command": "true"}')
    return _recounted(
        replace(answer, text="", call=replace(call, arguments=call.arguments[: len(call.arguments) // 2]))
    )


def _recounted(answer: Answer) -> Answer:
    """With the tokens of what is said now, and an id that the answer to the same request will not have later."""
    name = hashlib.sha256(f"spoiled {answer.id}".encode()).hexdigest()
    return replace(answer, id=name, usage=replace(answer.usage, output=tokens(said(answer).text)))


def _put(turn: Turn, asked: Asked, formats: Sequence[Format]) -> tuple[str, ToolCall | None] | None:
    way = next((way for way in formats if way.fits(asked)), None)
    if way:
        text = way.render(turn, asked)
        return None if text is None else (text, None)
    if isinstance(turn, Say):
        if not ends_by_command(asked):
            return turn.text, None
        turn = Shell(SUBMIT)
    if isinstance(turn, Call):
        call = call_named(asked.tools, turn.tool, turn.arguments)
    else:
        call = shell_call(asked.tools, edit_command(turn) if isinstance(turn, Edit) else turn.command)
    return ("", call) if call else None


def _usage(asked: Asked, known: Said, output: int, thoughts: int) -> Usage:
    """Cached is what an earlier request of this conversation sent: all that stands before our last turn."""
    ours = [place for place, message in enumerate(asked.messages) if known.ours(message)]
    whole = input_tokens(asked.system, asked.messages)
    cached = input_tokens(asked.system, asked.messages[: ours[-1]]) if ours else 0
    return Usage(whole, cached, whole - cached if asked.writes_cache else 0, output, thoughts)


def _words(text: str) -> str:
    """A text's words without the space between them, which clients may change."""
    return hashlib.sha256("".join(text.split()).encode()).hexdigest()
