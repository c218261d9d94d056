"""Every request is on record, and a text is found in it in whatever form it was sent."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .client import BASH, Refused, Talk, User, ask, post, request
from .log import Entry
from .script import Say, Seen, Shell, Steps
from .server import ModelServer

SENTINEL = 'canary-7f"é3'


def entry(target: str = "/", headers: tuple[tuple[str, str], ...] = (), body: bytes = b"") -> Entry:
    return Entry(1, 1, 0.0, "POST", target, headers, body)


PLACES = [
    entry(target=f"/v1/models?x={quote(SENTINEL)}"),
    entry(headers=(("x-note", SENTINEL),)),
    entry(body=SENTINEL.encode()),
    entry(body=json.dumps({"a": [{"b": f"…{SENTINEL}…"}]}).encode()),
    entry(body=json.dumps({SENTINEL: 1}, ensure_ascii=False).encode()),
    entry(body=json.dumps({"a": "".join(f"\\u{ord(c):04x}" for c in SENTINEL)}).replace("\\\\", "\\").encode()),
    entry(body=base64.urlsafe_b64encode(SENTINEL.encode())),
]


@pytest.mark.parametrize("found", PLACES, ids=range(len(PLACES)))
def test_a_sentinel_is_found(found: Entry) -> None:
    assert found.holds(SENTINEL)
    assert not found.holds("canary-8f")


@given(st.binary(max_size=40), st.text(min_size=5, max_size=30), st.binary(max_size=40))
def test_base64_is_found_wherever_it_begins(before: bytes, word: str, after: bytes) -> None:
    data = before + word.encode() + after
    assert entry(body=base64.b64encode(data)).holds(word)


def test_a_short_sentinel_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        entry().holds("abc")


def test_requests_are_kept_as_they_came() -> None:
    with ModelServer(Steps((Shell("ls"),))) as server:
        ask(server.url, "chat", Talk((User("Begin."),), tools={"bash": BASH}), headers={"x-mark": "one"})
        post(server.url, "/elsewhere", b"anything")
        ask(server.url, "gemini", Talk((User("Begin."),)))
        first, second, third = server.log.entries()
        assert server.log.errors() == ()
    assert (first.number, first.asked, first.method, first.target) == (1, 1, "POST", "/v1/chat/completions")
    assert first.body == json.dumps(request("chat", Talk((User("Begin."),), tools={"bash": BASH}))[1]).encode()
    assert first.header("X-Mark") == "one"
    assert (first.turn, first.aside, first.status) == (Shell("ls"), False, 200)
    assert (second.asked, second.status, second.body) == (None, 404, b"anything")
    # no tool runs a command here, which is on record
    assert (third.asked, third.turn, third.aside) == (2, Shell("ls"), True)
    assert server.log.asides() == (third,)


def test_a_body_in_chunks_is_read_whole() -> None:
    target, body = request("chat", Talk((User("Begin."),)))
    data = json.dumps(body).encode()
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (data[:7], data[7:])) + b"0\r\n\r\n"
    with ModelServer(Steps(())) as server:
        status, _, _ = post(server.url, target, chunked, {"transfer-encoding": "chunked", "content-length": ""})
        assert server.log.entries()[0].body == data
    assert status == 200


KEYS = [
    ("chat", {"authorization": "Bearer right-key"}),
    ("anthropic", {"x-api-key": "right-key"}),
    ("gemini", {"x-goog-api-key": "right-key"}),
]


@pytest.mark.parametrize(("dialect", "header"), KEYS)
def test_a_key_can_be_required(dialect: str, header: dict[str, str]) -> None:
    talk = Talk((User("Begin."),))
    with ModelServer(Steps(()), key="right-key") as server:
        assert ask(server.url, dialect, talk, headers=header).model.text == "Done."
        for wrong in ({}, {name: value.replace("right", "wrong") for name, value in header.items()}):
            with pytest.raises(Refused) as refused:
                ask(server.url, dialect, talk, headers=wrong)
            assert refused.value.status == 401
        assert len(server.log.holding("right-key")) == 1
        assert len(server.log.holding("wrong-key")) == 1


def test_a_script_sees_no_header_and_no_address() -> None:
    seen: list[Seen] = []

    class Keep:
        def turn(self, what: Seen) -> Say:
            seen.append(what)
            return Say("Done.")

    with ModelServer(Keep()) as server:
        ask(server.url, "chat", Talk((User("Begin."),)), headers={"x-mark": "a-mark-of-ours"})
    assert "a-mark-of-ours" not in repr(seen)
    assert "127.0.0.1" not in repr(seen)
