"""Pull delivery inside: an MCP client in a real sandbox, the relay, and a memory that is read outside."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from containers.relay import PORT, Dialect, Ledger, Quota, Relay, Upstream, routes
from containers.relay_session import Session
from containers.sandbox import AGENT, WORK, Limits, Mount, Result, Sandbox, Spec
from harness.agents.agent import PROMPT, Task, session_spec
from harness.agents.pull import CALLS, PULL_INSTRUCTION, SERVER, TARGET, Pull, Shown
from harness.config import load
from harness.draw import draw_one
from harness.items import items
from harness.snapshot import from_tar, of_tree, overlay, to_tar
from memory_probe.ladder import Opening, conditions
from memory_probe.protocol import Budget, Episode, MemoryFault, Note, Query, Scope, View
from memory_probe.render import render
from traps.fixtures import File
from traps.fixtures import to_tar as files_tar
from traps.load import Trap, load_trap

from ...model.server import ModelServer
from ...model.work import TrapWork
from .pull_kit import DAY, VIEW, Reads

SERVER_FILES = {"memory_server.py": File(SERVER)}


CLIENT = """
import json, subprocess, sys
program = subprocess.Popen(["python3", "/agent/memory_server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
count = 0
def ask(method, **params):
    global count
    count += 1
    message = {"jsonrpc": "2.0", "id": count, "method": method, "params": params}
    program.stdin.write(json.dumps(message).encode() + b"\\n")
    program.stdin.flush()
    said = json.loads(program.stdout.readline())
    assert said["id"] == count, said
    return said["result"]
def search(query):
    found = ask("tools/call", name="search", arguments={"query": query})
    (part,) = found["content"]
    assert part["type"] == "text"
    return [found["isError"], part["text"]]
version = ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "c", "version": "1"})
program.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\\n')
(tool,) = ask("tools/list")["tools"]
def show(*what): print(json.dumps(what), flush=True)
"""
END = "\nprogram.stdin.close()\nshow(program.wait(20))\n"


def inside(box: Sandbox, pull: Pull, code: str, folder: Path) -> tuple[list[Any], Ledger, list[dict[str, Any]]]:
    """What a client shows, the ledger and the transcript."""
    with Relay(None) as relay:
        session = relay.open(Quota(), folder / "one.jsonl", local=[pull.local()])
        spec = Spec(
            ("python3", "-c", CLIENT + code + END),
            mounts={WORK: Mount(), AGENT: Mount(files_tar(SERVER_FILES))},
            limits=Limits(wall=60),
            endpoint=session,
        )
        result = pull.during(lambda: box.run(spec))
        ledger = session.ledger()
    assert result.exit == 0, result.stderr.decode()
    rows = [json.loads(line) for line in (folder / "one.jsonl").read_text().splitlines()]
    return [json.loads(line) for line in result.stdout.splitlines()], ledger, rows


def test_a_client_inside_asks_and_is_answered(box: Sandbox, tmp_path: Path) -> None:
    pull = Pull(Reads(), DAY)
    code = "show(version['protocolVersion'], tool['name'])\nshow(*search('the mark é'))"
    shown, ledger, rows = inside(box, pull, code, tmp_path)
    assert shown == [["2025-06-18", "search"], [False, render(VIEW, DAY)], [0]]
    assert pull.shown == (Shown("the mark é", VIEW),)
    assert (ledger.pulled, ledger.calls, ledger.usage, ledger.refusals, ledger.fault) == (1, 0, (), 0, "")
    ((request, response),) = [(row["request"], row["response"]) for row in rows]
    assert json.loads(request) == {"query": "the mark é"}
    assert response == render(VIEW, DAY)


def test_a_query_of_a_megabyte_and_one_too_many_are_refused(box: Sandbox, tmp_path: Path) -> None:
    pull = Pull(Reads(View()), DAY)
    code = f"""
show(*search("a" * (1 << 20)))
for number in range({CALLS}): assert search(f"number {{number}}")[0] is False
show(*search("one more"))
import http.client
link = http.client.HTTPConnection("127.0.0.1", {PORT}, timeout=20)
link.request("POST", "{TARGET}", json.dumps({{"query": "a" * (1 << 20)}}))
show(link.getresponse().status)
show(ask("ping"))
"""
    shown, ledger, _ = inside(box, pull, code, tmp_path)
    assert shown == [
        [True, "a query has at most 8000 characters, not 1048576"],
        [True, f"this is asked at most {CALLS} times in a session"],
        [413],
        [{}],
        [0],
    ]
    assert (ledger.pulled, len(pull.shown)) == (CALLS, CALLS)
    assert [one.status for one in ledger.refused] == [429, 413]


def test_a_memory_that_breaks_and_one_that_is_not_there(box: Sandbox, tmp_path: Path) -> None:
    def broken(query: str) -> View:
        raise LookupError(query)

    (tmp_path / "a").mkdir()
    pull = Pull(broken, DAY)
    with pytest.raises(LookupError, match="the mark"):
        inside(box, pull, "assert search('the mark') == [True, 'the memory gives no answer']", tmp_path / "a")
    assert json.loads((tmp_path / "a/one.jsonl").read_text())["status"] == 422
    alone = Spec(
        ("python3", "-c", CLIENT + "show(*search('the mark'))" + END),
        mounts={WORK: Mount(), AGENT: Mount(files_tar(SERVER_FILES))},
    )
    first, *_ = box.run(alone).stdout.splitlines()
    assert json.loads(first) == [True, "the memory cannot be reached (ConnectionRefusedError)"]


def test_a_store_is_asked_as_it_would_be_for_the_prompt(box: Sandbox, tmp_path: Path) -> None:
    """A real memory, whose connection to its store allows one thread."""
    note = Note("The mail mark is `m-1`.", "human_feedback", "desk", 2, DAY, None, Scope(("src/mail.py",)))
    memory = conditions()["DF"].open(Opening(tmp_path / "store"))
    memory.record(Episode(1, "demo", "mail", DAY, "prompt", "steps", "diff", True, "", (note,)))
    memory.settle(10)
    memory.sleep(DAY)

    def read(query: str) -> View:
        return memory.read(Query(query, ("src/mail.py",), (), "demo", "mail", DAY), Budget())

    with ThreadPoolExecutor(1) as other, pytest.raises(MemoryFault, match="thread"):
        other.submit(read, "mail").result()
    pull = Pull(read, DAY)
    (error, text), *_ = inside(box, pull, "show(*search('which mark has mail?'))", tmp_path)[0]
    memory.close()
    assert error is False
    assert "The mail mark is `m-1`." in text
    assert text == render(pull.shown[0].view, DAY)


# -- an agent that asks ------------------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parent.parent.parent
AGENT_PROGRAM = """
import http.client, subprocess
TOOLS = {"bash": {"command": {"type": "string"}}, "mcp__memory__search": tool["inputSchema"]["properties"]}
told = [{"type": "function", "function": {"name": n, "parameters": {"type": "object", "properties": p}}}
        for n, p in TOOLS.items()]
messages = [{"role": "user", "content": "Your task:\\n\\n" + open("/task/prompt.md").read()}]
while True:
    link = http.client.HTTPConnection("127.0.0.1", 4141, timeout=60)
    link.request("POST", "/v1/chat/completions", json.dumps({"model": "m", "messages": messages, "tools": told}))
    message = json.loads(link.getresponse().read())["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        given = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "bash":
            said = subprocess.run(["bash", "-c", given["command"]], capture_output=True, text=True).stdout
        else:
            said = search(given["query"])[1]
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
show(len(messages), messages[-1]["content"])
"""


@pytest.fixture(scope="module")
def trap() -> Trap:
    folder = ROOT / "data/mini/traps"
    return load_trap(folder / "c1/label", folder / "fixtures", load(None).cache_dir)


def play(box: Sandbox, trap: Trap, session: Session, prompt: str) -> Result:
    tree = to_tar(overlay(of_tree(trap.fixture.tree), trap.overlays[2]))
    task = Task(3, prompt, tree, "careful", Limits(wall=60))
    spec = session_spec(task, ("python3", "-c", CLIENT + AGENT_PROGRAM + END), SERVER_FILES)
    assert PROMPT in AGENT_PROGRAM
    return box.run(replace(spec, endpoint=session))


def test_an_agent_that_asks_is_as_good_as_one_that_was_told(box: Sandbox, trap: Trap, tmp_path: Path) -> None:
    view = View(items(trap, trap.evidence("given"), draw_one(trap)))
    text, date = trap.texts["s3.md"].rstrip(), trap.spec.session[2].date
    reads = Reads(view)
    pull = Pull(reads, date)
    with ModelServer(TrapWork({trap.id: trap})) as model:
        upstream = Upstream(f"{model.url}/v1", "", routes(Dialect.CHAT))
        with Relay(upstream) as relay:
            pushed = relay.open(Quota(), tmp_path / "push.jsonl", local=[pull.local()])
            push = play(box, trap, pushed, f"{text}\n\n{render(view, date)}")
            pulled = relay.open(Quota(), tmp_path / "pull.jsonl", local=[pull.local()])
            drawn = pull.during(lambda: play(box, trap, pulled, f"{text}\n\n{PULL_INSTRUCTION}"))
            counts = [(one.ledger().calls, one.ledger().pulled) for one in (pushed, pulled)]
    assert push.exit == drawn.exit == 0, push.stderr + drawn.stderr
    assert counts == [(2, 0), (3, 1)]
    assert [query for query, _ in reads.asked] == [text]
    trees = [from_tar(result.exports[WORK])[0] for result in (push, drawn)]
    assert trees[0] == trees[1]
    assert b'return f"{name} bm-' in trees[0][b"src/mini/labels.py"].data
