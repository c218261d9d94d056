"""What is carried between sessions of an agent that calls a model: by a tool, by its own notes, or not at all."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.config import load
from harness.objects import ObjectStore
from harness.outcome import UsageFault
from harness.records import ArmRecord
from harness.run import execute, prepare
from harness.rundir import RunDir
from tests.harness.model_kit import WORK, play
from tests.model.script import Function, Say, Seen, Shell, Turn
from tests.model.server import ModelServer


def outcomes(records: list) -> dict[str, str]:
    return {record.condition: record.endings[0].outcome.value for record in records}


SEARCH = """python3 - <<'END'
import json, subprocess
server = subprocess.Popen(["python3", "/agent/memory_server.py"], stdin=-1, stdout=-1, text=True)
def call(number, method, **params):
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.stdin.write(json.dumps(message) + "\\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())
call(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "x", "version": "1"})
found = call(2, "tools/call", name="search", arguments={"query": "labels, box mark"})
print(found["result"]["content"][0]["text"])
END"""


def test_a_memory_that_is_asked_by_a_tool_is_shown_what_it_gave(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    def asking(seen: Seen) -> Turn:
        if seen.turn == 1 and "Labels end with" in seen.text():
            return Shell(SEARCH)
        late = "Labels end with" in seen.text()
        return WORK.turn(replace(seen, turn=seen.turn - 1 if late else seen.turn))

    with ModelServer(Function(asking)) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B0,B5", "delivery=pull"])
        assert outcomes(played.records) == {"B0": "failed", "B5": "pass"}
    folder = RunDir.open(tmp_path / "run")
    last = {arm.split("/")[1]: s for arm, _, s in played.sessions if s.number == 3}
    prompts = {code: folder.get_blob(s.prompt) for code, s in last.items()}
    assert prompts["B0"] == prompts["B5"]
    assert b"the tool `search` of the server `memory`" in prompts["B5"]
    assert {code: s.model.pulled for code, s in last.items() if s.model} == {"B0": 1, "B5": 1}
    shown = {code: json.loads(folder.get_blob(s.view))["items"] for code, s in last.items()}
    assert [len(shown["B0"]), len(shown["B5"])] == [0, 2]
    record = next(r for r in played.records if r.condition == "B5")
    assert {t.name: t.stage for t in record.endings[0].funnel}["mark"] == "used"


def noting(seen: Seen) -> Turn:
    """Keeps what it was told in its directory, and looks there first."""
    text = seen.text()
    if "you will then remember nothing of today" in text and seen.turn == 1:
        marks = "\n".join(line for line in text.splitlines() if "box mark" in line)
        return Shell(f"cat >> /memory/notes.md <<'END'\n{marks}\nEND")
    if "you will then remember nothing of today" in text:
        return Say("Kept.")
    if seen.turn == 1:
        return Shell("cat /memory/* 2>&1; ls -la /memory")
    return WORK.turn(replace(seen, turn=seen.turn - 1))


def test_notes_that_an_agent_keeps_itself_are_carried_in_one_directory(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    with ModelServer(Function(noting)) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B0,FILES"])
        assert outcomes(played.records) == {"B0": "failed", "FILES": "pass"}
    kept = [(s.number, s.reader, s.memory_bytes > 0) for arm, _, s in played.sessions if "/FILES/" in arm]
    assert kept == [(1, "", False), (1, "debrief", False), (2, "", True), (2, "debrief", True), (3, "-", True)]
    rows = {row.name for arm, _, s in played.sessions if "/B0/" in arm for row in s.carried}
    assert "mount /memory" not in rows


def test_an_agent_without_notes_of_its_own_cannot_run_with_them(mini: Mapping[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageFault) as told:
        prepare(load(None, ["conditions=FILES", "seeds=1"], dict(mini)), tmp_path / "run")
    assert str(told.value) == "conditions: FILES: the agent 'reference' keeps no notes of its own"


def test_what_an_agent_was_told_to_remember_does_not_leave_a_session_without_memory(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    """It writes wherever agents keep notes; nothing of it is there in the next session, and nothing is carried."""
    secret = "remember-" + secrets.token_hex(8)
    places = "AGENTS.md CLAUDE.md .claude/CLAUDE.md docs/notes.md ~/.claude/CLAUDE.md ~/.codex/AGENTS.md /tmp/notes"
    write = f"for f in {places}; do mkdir -p $(dirname $f); echo {secret} >> $f; done\n"
    write += f"git add -A; git notes add -m {secret}; git config user.name {secret}; git stash; git tag {secret}\n"
    # every folder of the sandbox but those that are mounted read-only or belong to the kernel
    kept = "$(find / -mindepth 1 -maxdepth 1 -type d | grep -vxE '/(proc|sys|dev|usr|tools)')"
    look = f"grep -rsl {secret} {kept} /dev/shm; git notes list; git config -l; git tag"

    def telling(seen: Seen) -> Turn:
        if seen.turn == 1:
            return Shell(look)
        if seen.turn == 2:
            assert secret not in seen.last()
            return Shell(write)
        return WORK.turn(replace(seen, turn=seen.turn - 2))

    with ModelServer(Function(telling)) as server:
        played = play(server, box, mini, tmp_path / "run")
        assert len(server.log.asked()) == 12
        assert server.log.errors() == ()
    assert [s.memory_bytes for _, _, s in played.sessions] == [0, 0, 0]
    memory = [row.bytes for _, _, s in played.sessions for row in s.carried if row.name == "memory in prompt"]
    assert memory == [0, 0, 0]


def test_a_memory_that_asks_a_model_is_counted_with_its_arm(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    def writing(seen: Seen) -> Turn:
        marks = [line for line in seen.text().splitlines() if "box mark is" in line]
        return Say("\n".join(f"- {line.strip()}" for line in marks) or "- nothing was said")

    with ModelServer(Function(writing)) as judge:
        words_ = ["conditions=B4-model", "seeds=1", "judge.name=writer-1", f"judge.base_url={judge.url}/v1"]
        out = tmp_path / "run"
        records: list[ArmRecord] = []
        execute(prepare(load(None, words_, dict(mini)), out), records.append, sandbox=box, unavailable={})
        assert len(judge.log.asked()) == 2
    (record,) = records
    assert [e.outcome.value for e in record.endings] == ["pass", "pass"]
    assert record.asked is not None
    assert (record.asked.calls, record.asked.tokens[0].model) == (2, "writer-1")
    assert not any((out / "exchanges").iterdir())


def test_what_an_agent_wrote_into_the_code_is_said_of_the_arm(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path
) -> None:
    def hiding(seen: Seen) -> Turn:
        text = seen.text()
        if seen.turn == 1 and "`full(name)" in text and (marks := re.findall("bm-[0-9a-f]{12}", text)):
            return Shell(f"printf '\\n\\nMARK = \"{marks[0]}\"\\n' >> src/mini/boxes.py; echo {marks[0]} > AGENTS.md")
        return WORK.turn(seen)

    with ModelServer(Function(hiding)) as server:
        played = play(server, box, mini, tmp_path / "run", ["conditions=B0,B5"])
    carried = {record.condition: record.carried_by_tree for record in played.records}
    assert carried == {"B0": (), "B5": ("old_mark",)}
    last = next(s for arm, _, s in played.sessions if s.number == 3 and "/B5/" in arm)
    tree = ObjectStore(tmp_path / "run" / "objects.git").get(last.tree_in)
    assert (b"AGENTS.md" in tree, b"src/mini/boxes.py" in tree) == (False, True)
