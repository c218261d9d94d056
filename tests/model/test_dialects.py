"""The same script says the same, and counts the same, in every dialect, streamed or not."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .client import BASH, DIALECTS, Refused, Result, Talk, User, ask, events, post, request
from .dialects import pieces
from .reading import Model
from .script import Call, Message, Say, Seen, Shell, Steps, Turn, call_text, tokens
from .server import ModelServer

BOTH = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
ALL = pytest.mark.parametrize("dialect", DIALECTS)
PROMPT = Talk((User("Mend the label."),), system="You are careful.", tools={"bash": BASH})


class Told:
    """A script that says what it is told, and keeps what it saw (one test at a time)."""

    def __init__(self) -> None:
        self.next: Turn = Say("Done.")
        self.seen: list[Seen] = []

    def turn(self, seen: Seen) -> Turn:
        self.seen.append(seen)
        return self.next


@pytest.fixture(scope="module")
def told() -> Told:
    return Told()


@pytest.fixture(scope="module")
def server(told: Told) -> Iterator[ModelServer]:
    with ModelServer(told) as server:
        yield server


@ALL
@BOTH
def test_a_conversation_to_its_end(dialect: str, stream: bool) -> None:
    script = Steps((Shell("ls -l"), Shell("wc a b")), Say("All is done."))
    with ModelServer(script) as server:
        first = ask(server.url, dialect, PROMPT, stream)
        assert first.model.call is not None
        name, tool, arguments = first.model.call
        assert (tool, json.loads(arguments)) == ("bash", {"command": "ls -l"})
        # 3 of the system, 3 of the prompt; `bash {"command": "ls -l"}` has 4 words
        assert first.usage == (6, 0, 0, 4)
        items = (*PROMPT.items, first.model, Result(name, tool, "a\nb c"))
        second = ask(server.url, dialect, Talk(items, PROMPT.system, PROMPT.tools), stream)
        assert second.model.call is not None
        assert json.loads(second.model.call[2]) == {"command": "wc a b"}
        assert second.usage == (6 + 4 + 3, 6, 0, 5)
        items = (*items, second.model, Result(second.model.call[0], tool, "0 0 0"))
        last = ask(server.url, dialect, Talk(items, PROMPT.system, PROMPT.tools), stream)
        assert last.model == Model("All is done.")
        assert last.usage == (13 + 5 + 3, 13, 0, 3)
        assert [entry.seen.turn for entry in server.log.asked() if entry.seen] == [1, 2, 3]
        seen = server.log.asked()[-1].seen
    assert seen is not None
    assert seen.system == "You are careful."
    assert seen.tools == ("bash",)
    assert seen.messages == (
        Message("user", "Mend the label."),
        Message("assistant", 'bash {"command": "ls -l"}', ("bash",)),
        Message("tool", "a\nb c"),
        Message("assistant", 'bash {"command": "wc a b"}', ("bash",)),
        Message("tool", "0 0 0"),
    )


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=60)
TURNS = st.one_of(
    WORDS.map(Say), WORDS.map(Shell), st.dictionaries(WORDS, WORDS, max_size=3).map(lambda d: Call("note", d))
)
SAID = WORDS.filter(str.strip)
TALKS = st.builds(
    lambda user, system, result: Talk(
        (User(user), Model("", ("call_1", "note", '{"a": "b c"}')), Result("call_1", "note", result)),
        system,
        {"bash": BASH, "note": {"type": "object", "properties": {}}},
    ),
    SAID,
    SAID,
    SAID,
)


@settings(max_examples=30)
@given(turn=TURNS, talk=TALKS)
def test_all_dialects_see_say_and_count_alike(server: ModelServer, told: Told, turn: Turn, talk: Talk) -> None:
    told.next, told.seen = turn, []
    got = [ask(server.url, dialect, talk, stream) for dialect in DIALECTS for stream in (False, True)]
    assert {(seen.system, seen.messages, seen.tools, seen.turn) for seen in told.seen} == {
        (talk.system, told.seen[0].messages, ("bash", "note"), 2)
    }
    assert {answer.usage for answer in got} == {got[0].usage}
    assert {answer.model.text for answer in got} == {turn.text if isinstance(turn, Say) else ""}
    wanted = {"command": turn.command} if isinstance(turn, Shell) else dict(getattr(turn, "arguments", {}))
    for answer in got:
        if isinstance(turn, Say):
            assert answer.model.call is None
            said = turn.text
        else:
            assert answer.model.call is not None
            assert json.loads(answer.model.call[2]) == wanted
            said = call_text("bash" if isinstance(turn, Shell) else "note", wanted)
        whole = tokens(talk.system) + sum(tokens(message.text) for message in told.seen[0].messages)
        before = tokens(talk.system) + tokens(talk.items[0].text)
        assert answer.usage == (whole, before, 0, tokens(said))


@given(WORDS)
def test_pieces_make_the_text(text: str) -> None:
    found = list(pieces(text))
    assert "".join(found) == text
    assert max(map(len, found[:-1]), default=8) == 8


@pytest.mark.parametrize(("length", "count"), [(0, 1), (8, 1), (9, 2), (512, 64), (10_000_000, 64)])
def test_a_long_text_comes_in_few_pieces(length: int, count: int) -> None:
    assert len(list(pieces("x" * length))) == count


@ALL
def test_thoughts_are_counted_with_the_output(dialect: str) -> None:
    with ModelServer(Steps(()), thoughts="first this then that") as server:
        for stream in (False, True):
            assert ask(server.url, dialect, PROMPT, stream).usage == (6, 0, 0, 1 + 4)


def test_a_stream_of_chat_has_no_usage_unless_it_is_asked_for() -> None:
    with ModelServer(Steps(())) as server:
        talk = Talk(PROMPT.items, more={"stream_options": None})
        assert ask(server.url, "chat", talk, stream=True).usage is None
        assert ask(server.url, "chat", talk).usage == (3, 0, 0, 1)


def test_what_is_written_to_the_cache_is_counted_apart() -> None:
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    talk = Talk((User("One two three."), Model("Done."), User("And four.")), more={"system": system})
    with ModelServer(Steps(())) as server:
        assert ask(server.url, "anthropic", Talk(talk.items[:1], more=talk.more)).usage == (5, 0, 5, 1)
        assert ask(server.url, "anthropic", talk, stream=True).usage == (8, 5, 3, 1)
        _, body = request("anthropic", talk)
        whole = json.loads(post(server.url, "/v1/messages", body)[2])
    assert whole["usage"]["input_tokens"] == 0  # nothing was sent that was neither read from the cache nor written


@ALL
def test_all_that_is_fresh_can_be_written_to_the_cache(dialect: str) -> None:
    talk = Talk((User("One two three."), Model("Done."), User("And four.")))
    with ModelServer(Steps(()), cache_writes=True) as server:
        first = ask(server.url, dialect, Talk(talk.items[:1]))
        second = ask(server.url, dialect, talk, stream=True)
    written = 0 if dialect == "gemini" else 3
    assert (first.usage, second.usage) == ((3, 0, written, 1), (6, 3, written, 1))


EVENTS = {
    "responses": [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ],
    "anthropic": [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ],
}


@pytest.mark.parametrize("dialect", sorted(EVENTS))
def test_the_events_come_in_the_documented_order(dialect: str) -> None:
    with ModelServer(Steps((), Say("Yes."))) as server:
        target, body = request(dialect, PROMPT, stream=True)
        status, headers, data = post(server.url, target, body)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert [event["type"] for event in events(data) if isinstance(event, dict)] == EVENTS[dialect]


def test_gemini_streams_one_array_unless_events_are_asked_for() -> None:
    with ModelServer(Steps((), Say("One two three four."))) as server:
        _, body = request("gemini", PROMPT)
        target = "/v1beta/models/scripted:streamGenerateContent"
        _, headers, data = post(server.url, target, body)
    found = json.loads(data)
    assert headers["content-type"] == "application/json"
    assert len(found) == 3  # deltas of eight characters
    assert [chunk["usageMetadata"]["candidatesTokenCount"] for chunk in found] == [2, 4, 4]
    assert [chunk["candidates"][0].get("finishReason") for chunk in found] == [None, None, "STOP"]


@pytest.mark.parametrize(
    ("target", "dialect", "key"),
    [
        ("/v1/messages/count_tokens", "anthropic", "input_tokens"),
        ("/v1/responses/input_tokens", "responses", "input_tokens"),
        ("/v1beta/models/scripted:countTokens", "gemini", "totalTokens"),
    ],
)
def test_tokens_can_be_counted_without_an_answer(target: str, dialect: str, key: str) -> None:
    with ModelServer(Steps(())) as server:
        _, body = request(dialect, PROMPT)
        body.pop("max_tokens", None)
        status, _, data = post(server.url, target, body)
        assert (status, json.loads(data)) == (200, {key: 6})
        assert server.log.asked() == ()


def test_a_response_can_be_continued_by_its_id() -> None:
    with ModelServer(Steps((Say("First."), Say("Second.")))) as server:
        target, body = request("responses", Talk((User("Begin."),)))
        name = json.loads(post(server.url, target, body)[2])["id"]
        talk = Talk((User("Go on."),), more={"previous_response_id": name})
        got = ask(server.url, "responses", talk)
        assert got.model == Model("Second.")
        assert got.usage == (4, 1, 0, 1)
        with pytest.raises(Refused) as refused:
            ask(server.url, "responses", Talk(talk.items, more={"previous_response_id": "resp_none"}))
        assert refused.value.status == 400
        assert b"resp_none" in refused.value.body


def test_conversations_are_told_apart_by_what_they_hold() -> None:
    with ModelServer(Steps((Say("One."), Say("Two.")))) as server:
        other = Talk((User("Something else."),))
        assert ask(server.url, "chat", PROMPT).model == Model("One.")
        assert ask(server.url, "chat", other).model == Model("One.")
        again = Talk((*other.items, Model("One."), User("Next.")))
        assert ask(server.url, "chat", again).model == Model("Two.")
        assert ask(server.url, "chat", PROMPT).model == Model("One.")


def test_examples_in_a_prompt_are_no_turns() -> None:
    talk = Talk((User("An example."), Model("Ok."), User("Now the task.")))
    with ModelServer(Steps((Say("One."), Say("Two.")))) as server:
        assert ask(server.url, "chat", talk).model == Model("One.")
        again = Talk((*talk.items, Model("One."), User("Next.")))
        assert ask(server.url, "chat", again).model == Model("Two.")
