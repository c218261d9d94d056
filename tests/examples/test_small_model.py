"""The server of the small-model example: a request is answered once, and the run's configuration is one.

llama.cpp and a model are not here; what stands in for them says how often it was asked, and what for.
"""

from __future__ import annotations

import http.client
import importlib.util
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.agents import make_agent
from harness.config import ROOT, load

FOLDER = ROOT / "examples" / "small-model"
TARGET = "/v1/chat/completions"


class Engine:
    """Answers with its number, or with an error while `broken`."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.broken = False

    def handle_chat_completions(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(asked)
        if self.broken:
            return {"error": {"message": "out of context"}}
        return {"choices": [{"message": {"content": f"answer {len(self.asked)}"}}], "usage": {"completion_tokens": 2}}


@pytest.fixture(scope="module")
def serve() -> ModuleType:
    spec = importlib.util.spec_from_file_location("small_model_serve", FOLDER / "serve.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def running(serve: ModuleType, engine: Engine, kept: Path) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), serve.handler(serve.Answers(engine, kept, 1024)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def post(port: int, body: bytes, target: str = TARGET) -> tuple[int, Any]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("POST", target, body, {"Content-Type": "application/json"})
    answer = link.getresponse()
    data = json.loads(answer.read())
    link.close()
    return answer.status, data


def said(answer: tuple[int, Any]) -> str:
    assert answer[0] == 200
    return str(answer[1]["choices"][0]["message"]["content"])


def test_the_same_request_is_answered_once_also_by_the_next_server(serve: ModuleType, tmp_path: Path) -> None:
    engine, kept = Engine(), tmp_path / "kept.jsonl"
    one, other = json.dumps({"messages": [], "seed": 7}).encode(), json.dumps({"messages": [], "seed": 8}).encode()
    with running(serve, engine, kept) as port:
        assert [said(post(port, body)) for body in (one, other, one)] == ["answer 1", "answer 2", "answer 1"]
    with running(serve, engine, kept) as port:
        assert [said(post(port, body)) for body in (other, one)] == ["answer 2", "answer 1"]
    assert len(engine.asked) == 2


def test_requests_at_the_same_time_wait_for_one_answer(serve: ModuleType, tmp_path: Path) -> None:
    engine, found = Engine(), list[str]()
    with running(serve, engine, tmp_path / "kept.jsonl") as port:
        threads = [
            threading.Thread(target=lambda: found.append(said(post(port, b'{"messages": []}')))) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == ["answer 1"] * 6
    assert len(engine.asked) == 1


@pytest.mark.parametrize(("allowed", "given"), [(8192, 1024), (1000, 1000), (None, 1024)])
def test_an_answer_has_no_more_tokens_than_the_server_allows(
    serve: ModuleType, tmp_path: Path, allowed: int | None, given: int
) -> None:
    engine = Engine()
    asked = {"messages": [], "temperature": 0} | ({"max_tokens": allowed} if allowed else {})
    with running(serve, engine, tmp_path / "kept.jsonl") as port:
        post(port, json.dumps(asked).encode())
    assert engine.asked == [{"messages": [], "temperature": 0, "max_tokens": given}]


def test_errors_are_told_and_not_kept(serve: ModuleType, tmp_path: Path) -> None:
    engine = Engine()
    engine.broken = True
    with running(serve, engine, tmp_path / "kept.jsonl") as port:
        assert post(port, b"{}") == (500, {"error": {"message": "out of context"}})
        assert [post(port, body)[0] for body in (b"{", b"[]")] == [400, 400]
        assert post(port, b"{}", "/v1/completions")[0] == 404
        engine.broken = False
        assert said(post(port, b"{}")) == "answer 2"
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 1


def test_a_file_of_something_else_is_named_with_its_line(serve: ModuleType, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text('{"request": "ab", "answer": {}}\n{"request": "c')
    with pytest.raises(SystemExit, match=r"kept\.jsonl:2: no answer that was kept"):
        serve.Answers(Engine(), kept, 1024)


def test_the_configuration_is_that_of_the_page() -> None:
    config = load(FOLDER / "run.toml")
    assert len(config.traps) >= 5
    assert {trap.split("_")[0] for trap in config.traps} == {"c1"}
    assert (config.conditions, config.seeds) == (("B0", "B5", "EVIDENCE"), 3)
    assert make_agent(config).card.startswith("edit ")
