"""Counting tokens from answers as they pass, and what the parts of the relay do with bytes split anywhere."""

from __future__ import annotations

import base64
import itertools
import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from containers.relay import Dialect, Ledger, ModelUsage, Tokens
from containers.relay_record import Body, Transcript, Veil
from containers.relay_scan import Events, Picker
from containers.relay_usage import UsageReader

from .relay_kit import KEY


def sse(*events: tuple[str, Any], end: str = "\n") -> bytes:
    """Events with their names, as servers send them."""
    lines = []
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        lines += ([f"event: {name}"] if name else []) + [f"data: {text}", ""]
    return (end.join(lines) + end).encode()


CHAT_USAGE = {
    "prompt_tokens": 1200,
    "completion_tokens": 300,
    "total_tokens": 1500,
    "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 64, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 128},
}
CHAT = {"id": "c1", "object": "chat.completion", "model": "m", "choices": [], "usage": CHAT_USAGE}
CHAT_STREAM = sse(
    (
        "",
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "choices": [{"delta": {"content": '"usage":{'}}],
            "usage": None,
        },
    ),
    ("", {"id": "c1", "choices": [{"delta": {}, "finish_reason": "stop"}], "usage": None}),
    ("", {"id": "c1", "choices": [], "usage": CHAT_USAGE}),
    ("", "[DONE]"),
)
RESPONSES_USAGE = {
    "input_tokens": 36,
    "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 20},
    "output_tokens": 87,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 123,
}
RESPONSE = {"id": "r1", "object": "response", "status": "completed", "output": [], "usage": RESPONSES_USAGE}
RESPONSES_STREAM = sse(
    (
        "response.created",
        {"type": "response.created", "response": {"id": "r1", "usage": {"input_tokens": 0, "output_tokens": 0}}},
    ),
    ("response.output_text.delta", {"type": "response.output_text.delta", "delta": "}}]\\"}),
    ("response.completed", {"type": "response.completed", "response": RESPONSE}),
)
ANTHROPIC = {
    "type": "message",
    "content": [{"type": "text", "text": "x"}],
    "usage": {
        "input_tokens": 20,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 1000,
        "output_tokens": 50,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0},
    },
}
ANTHROPIC_START = {**ANTHROPIC, "content": [], "usage": {**ANTHROPIC["usage"], "output_tokens": 1}}  # type: ignore[dict-item]
ANTHROPIC_STREAM = sse(
    ("message_start", {"type": "message_start", "message": ANTHROPIC_START}),
    ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ("ping", {"type": "ping"}),
    (
        "content_block_delta",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "é\n"}},
    ),
    ("content_block_stop", {"type": "content_block_stop", "index": 0}),
    ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}}),
    ("message_stop", {"type": "message_stop"}),
)
GEMINI_USAGE = {
    "promptTokenCount": 500,
    "cachedContentTokenCount": 400,
    "toolUsePromptTokenCount": 10,
    "candidatesTokenCount": 30,
    "thoughtsTokenCount": 70,
    "totalTokenCount": 610,
}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}],
    "usageMetadata": GEMINI_USAGE,
}
GEMINI_PART = {"candidates": [{"content": {"parts": [{"text": "x"}]}}], "usageMetadata": {"promptTokenCount": 500}}
GEMINI_STREAM = sse(("", GEMINI_PART), ("", GEMINI), end="\r\n")

RECORDED = [
    (Dialect.CHAT, False, json.dumps(CHAT, indent=1).encode(), Tokens(1200, 300, 1024, 64)),
    (Dialect.CHAT, True, CHAT_STREAM, Tokens(1200, 300, 1024, 64)),
    (Dialect.RESPONSES, False, json.dumps(RESPONSE).encode(), Tokens(36, 87, 8, 20)),
    (Dialect.RESPONSES, True, RESPONSES_STREAM, Tokens(36, 87, 8, 20)),
    (Dialect.ANTHROPIC, False, json.dumps(ANTHROPIC).encode(), Tokens(1120, 50, 1000, 100)),
    (Dialect.ANTHROPIC, True, ANTHROPIC_STREAM, Tokens(1120, 50, 1000, 100)),
    (Dialect.GEMINI, False, json.dumps(GEMINI).encode(), Tokens(510, 100, 400)),
    (Dialect.GEMINI, True, GEMINI_STREAM, Tokens(510, 100, 400)),
]


def read(dialect: Dialect, streamed: bool, *pieces: bytes) -> Tokens | None:
    reader = UsageReader(dialect, streamed)
    for piece in pieces:
        reader.feed(piece)
    return reader.tokens()


def split(data: bytes, places: list[int]) -> list[bytes]:
    """`data` in pieces; some may be empty."""
    cuts = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(cuts)]


class TestCounts:
    @pytest.mark.parametrize(("dialect", "streamed", "body", "tokens"), RECORDED)
    def test_recorded_answers(self, dialect: Dialect, streamed: bool, body: bytes, tokens: Tokens) -> None:
        assert read(dialect, streamed, body) == tokens

    @pytest.mark.parametrize(("dialect", "streamed", "body", "tokens"), RECORDED)
    def test_one_byte_at_a_time(self, dialect: Dialect, streamed: bool, body: bytes, tokens: Tokens) -> None:
        assert read(dialect, streamed, *(body[i : i + 1] for i in range(len(body)))) == tokens

    @given(st.sampled_from(RECORDED), st.lists(st.integers(0, 5000), max_size=12))
    def test_split_anywhere(self, which: tuple[Dialect, bool, bytes, Tokens], places: list[int]) -> None:
        dialect, streamed, body, tokens = which
        assert read(dialect, streamed, *split(body, places)) == tokens

    @given(st.sampled_from(RECORDED), st.integers(0, 5000))
    def test_an_answer_that_breaks_off_has_its_count_or_none(
        self, which: tuple[Dialect, bool, bytes, Tokens], place: int
    ) -> None:
        dialect, streamed, body, tokens = which
        assert read(dialect, streamed, body[: place % len(body)]) in (None, tokens)

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_every_end_of_line(self, end: str) -> None:
        assert read(Dialect.CHAT, True, CHAT_STREAM.replace(b"\n", end.encode())) == Tokens(1200, 300, 1024, 64)

    def test_data_over_several_lines_and_comments(self) -> None:
        stream = b': hello\n\ndata:{"usage":\ndata: {"prompt_tokens":1,\nid: 7\ndata:"completion_tokens":2}}\n\n'
        assert read(Dialect.CHAT, True, stream) == Tokens(1, 2)

    def test_the_last_count_holds(self) -> None:
        stream = sse(*[("", {"usage": {"prompt_tokens": 5, "completion_tokens": n}}) for n in range(4)])
        assert read(Dialect.CHAT, True, stream) == Tokens(5, 3)

    def test_a_bad_event_among_good_ones(self) -> None:
        assert read(Dialect.CHAT, True, b'data: {"usage": {"prompt_to\n\n' + CHAT_STREAM) == Tokens(1200, 300, 1024, 64)

    def test_gemini_that_was_blocked_or_only_thought(self) -> None:
        blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}
        assert read(Dialect.GEMINI, True, sse(("", blocked))) == Tokens(9, 0)
        assert read(Dialect.GEMINI, True, sse(("", GEMINI_PART))) is None

    @pytest.mark.parametrize(
        "usage",
        [
            None,
            {},
            [],
            "7",
            {"prompt_tokens": 5},
            {"prompt_tokens": None, "completion_tokens": 2},
            {"prompt_tokens": "5", "completion_tokens": 2},
            {"prompt_tokens": 5.0, "completion_tokens": 2},
            {"prompt_tokens": True, "completion_tokens": 2},
            {"prompt_tokens": -5, "completion_tokens": 2},
            {"prompt_tokens": 10**13, "completion_tokens": 2},
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 6}},
            {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": "1"}},
        ],
    )
    def test_what_is_no_count_is_none(self, usage: object) -> None:
        assert read(Dialect.CHAT, False, json.dumps({"usage": usage}).encode()) is None

    def test_without_details_nothing_was_cached(self) -> None:
        for more in ({}, {"prompt_tokens_details": None}, {"prompt_tokens_details": {}}):
            usage = {"prompt_tokens": 5, "completion_tokens": 2, **more}
            assert read(Dialect.CHAT, False, json.dumps({"usage": usage}).encode()) == Tokens(5, 2, 0)
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 3}
        assert read(Dialect.CHAT, False, json.dumps({"usage": usage}).encode()) == Tokens(5, 2, 3)

    def test_an_unknown_part_makes_the_whole_unknown(self) -> None:
        known = ModelUsage("a", 1, Tokens(5, 2, 1, 1))
        assert Ledger(usage=(known, known)).tokens == Tokens(10, 4, 2, 2)
        assert Ledger(usage=(known, ModelUsage("b", 1, None))).tokens is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from('abcdé"\\') | st.text(), inner, max_size=4)
    ),
    max_leaves=20,
)
WANTED = (("a",), ("b", "a"), ("c", "*"), ("c", "*", "b"), ("d", "*", "*", "a"), ("é",), ('"',), ("\\", "b"))


def expected(value: Any, path: tuple[str, ...]) -> list[Any]:
    """All values at a path, in order."""
    if not path:
        return [value]
    if path[0] == "*" and isinstance(value, list):
        return [found for item in value for found in expected(item, path[1:])]
    if isinstance(value, dict) and path[0] in value and path[0] != "*":
        return expected(value[path[0]], path[1:])
    return []


class TestPicking:
    @given(JSON, st.booleans(), st.integers(0, 3), st.lists(st.integers(0, 10_000), max_size=8))
    def test_it_finds_what_the_library_finds(
        self, value: Any, ascii_only: bool, indent: int, places: list[int]
    ) -> None:
        """For each path alone: one wanted value may hold another."""
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent or None).encode("utf-8", "surrogatepass")
        if isinstance(value, dict) and "*" in value:
            return  # a key that reads as a wildcard here
        for path in WANTED:
            picker = Picker([path])
            for piece in split(text, places):
                picker.feed(piece)
            found = expected(value, path)
            assert picker.seen.get(path, 0) == len(found)
            if found:
                assert picker.found[path] == found[-1]

    @given(st.binary(max_size=300) | st.text('{}[]":,\\a \n1', max_size=300).map(str.encode), st.integers(0, 300))
    def test_any_bytes_are_taken_and_splitting_changes_nothing(self, data: bytes, place: int) -> None:
        whole, halves = Picker(WANTED), Picker(WANTED)
        whole.feed(data)
        for piece in split(data, [place]):
            halves.feed(piece)
        assert (whole.found, whole.seen) == (halves.found, halves.seen)

    def test_what_is_kept_is_bounded(self) -> None:
        for piece in (b"[" * 1000, b'{"a":' * 1000, b'"' + b"x" * 5000, b"1" * 5000, b'{"a":"' + b"y" * 5000):
            picker = Picker((("a",), ("a", "a")))
            for _ in range(200):
                picker.feed(piece)
            kept = [len(v) for v in vars(picker).values() if isinstance(v, list | bytearray | dict)]
            assert max(kept) <= 1 << 18

    @given(st.text("d:at \n\r{}e", max_size=60), st.lists(st.integers(0, 60), max_size=6))
    def test_events_do_not_depend_on_splits(self, text: str, places: list[int]) -> None:
        def events(pieces: list[bytes]) -> int:
            done: list[Picker] = []
            stream = Events(lambda: Picker((("a",),)), done.append)
            for piece in pieces:
                stream.feed(piece)
            stream.end()
            return len(done)

        assert events(split(text.encode(), places)) == events([text.encode()])


class TestVeil:
    @given(
        st.binary(max_size=40), st.binary(max_size=40), st.lists(st.integers(0, 200), max_size=10), st.integers(0, 5)
    )
    def test_no_form_of_the_key_passes(self, before: bytes, after: bytes, places: list[int], which: int) -> None:
        forms = [KEY.encode(), base64.b64encode(KEY.encode()), base64.urlsafe_b64encode(KEY.encode())]
        forms += [
            json.dumps(KEY).replace("/", "\\/").encode(),
            KEY.encode().hex().encode(),
            quote(KEY, safe="").encode(),
        ]
        data = before + forms[which] + after
        veil = Veil(KEY)
        out = b"".join(veil.feed(piece) for piece in split(data, places)) + veil.end()
        assert len(out) == len(data)
        assert KEY.encode() not in out
        core = forms[which].strip(b'"=')[:-2]
        assert core not in out
        assert out.startswith(before)

    @given(st.integers(0, 50), st.integers(0, 50))
    def test_nor_within_base64_of_more(self, before: int, after: int) -> None:
        data = random.Random(before).randbytes(before) + KEY.encode() + random.Random(after).randbytes(after)
        veil = Veil(KEY)
        out = veil.feed(base64.b64encode(data)) + veil.end()
        assert KEY[1:-1].encode() not in base64.b64decode(out.replace(b"*", b"A"))

    @given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=10))
    def test_other_bytes_pass_as_they_are(self, data: bytes, places: list[int]) -> None:
        for key in (KEY, ""):
            veil = Veil(key)
            assert b"".join(veil.feed(piece) for piece in split(data, places)) + veil.end() == data

    def test_events_are_held_back_only_where_the_key_may_begin(self) -> None:
        veil = Veil(KEY)
        assert veil.feed(b"data: {}\n\n") == b"data: {}\n\n"
        assert veil.feed(b"data: " + KEY[:5].encode()) == b"data: "
        assert veil.feed(b"x\n\n") == KEY[:5].encode() + b"x\n\n"


class TestTranscript:
    def test_bodies_of_any_size_and_kind(self, tmp_path: Path) -> None:
        """Text that is cut in the middle of a letter, bytes that are no text, and lines in order of their numbers."""
        long_text = "é€😀" * 60_000 + KEY + "end"
        binary = bytes(range(256)) * 2000 + KEY.encode() + b"!"
        transcript = Transcript(tmp_path / "t", Veil(KEY))
        bodies = {1: (b"", long_text.encode()), 2: (binary, b"{}"), 3: (b"1", b"\xff")}
        for number in (3, 2, 1):
            pair = []
            for data in bodies[number]:
                body = Body(tmp_path)
                for start in range(0, len(data), 1000):
                    body.add(data[start : start + 1000])
                pair.append(body)
            transcript.write(number, {"number": number, "target": KEY}, *pair)
        transcript.close()
        rows = [json.loads(line) for line in (tmp_path / "t").read_text().splitlines()]
        stars = "*" * len(KEY)
        assert [row["number"] for row in rows] == [1, 2, 3]
        assert {row["target"] for row in rows} == {stars}
        assert rows[0]["response"] == long_text.replace(KEY, stars)
        assert base64.b64decode(rows[1]["request_base64"]) == binary.replace(KEY.encode(), stars.encode())
        assert (rows[1]["response"], rows[2]["request"]) == ("{}", "1")
        assert base64.b64decode(rows[2]["response_base64"]) == b"\xff"
