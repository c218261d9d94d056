"""Nothing of the host, the benchmark or another arm reaches a request that the model sees."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.config import load
from harness.draw import load as load_draws
from harness.run import execute, prepare
from memory_probe.ladder import conditions
from memory_probe.opening import Condition
from tests.harness.model_kit import WORK, words
from tests.model.script import Function, Say, Seen, Shell, Turn
from tests.model.server import ModelServer

#: Everything that an agent can look at from inside, printed to the model.
LOOK = """exec 2>&1; env; id; hostname; uname -a; pwd
cat /proc/self/mountinfo /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'
ls -la / /home /home/* ~ /tmp /var/tmp /work /work/.. /task /agent /memory /opt; cat /task/* /agent/* ~/.* /.*
git log --all --format=fuller -p | head -500; git config -l; cat .git/config /etc/passwd /etc/hosts /etc/resolv.conf
grep -rlE 'canary-[0-9a-f]{16}' /home /tmp /var /opt /root /etc /work /agent /task /dev/shm 2>/dev/null | head"""


def looking(seen: Seen) -> Turn:
    """Look around first, then do the work."""
    if seen.turn == 1:
        return Shell(LOOK)
    return WORK.turn(replace(seen, turn=seen.turn - 1))


def planted(home: Path) -> list[str]:
    """Canaries where agents keep what they remember; their texts."""
    found = []
    for place in (".claude/CLAUDE.md", ".claude.json", ".codex/AGENTS.md", ".codex/config.toml", ".gemini/GEMINI.md"):
        path = home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        found.append(f"canary-{secrets.token_hex(8)}")
        path.write_text(found[-1])
    for folder in (home, home.parent):
        for name in ("CLAUDE.md", "AGENTS.md", ".env"):
            found.append(f"canary-{secrets.token_hex(8)}")
            (folder / name).write_text(found[-1])
    return found


def test_no_canary_no_name_of_ours_and_no_fact_of_another_arm_reaches_a_request(
    box: Sandbox, mini: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "ancestor" / "home"
    home.mkdir(parents=True)
    canaries = planted(home)
    inside = f"canary-{secrets.token_hex(8)}"
    cache = load(None).cache_dir
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SOME_TOKEN", inside)
    monkeypatch.chdir(home)
    sentinel = f"COND{secrets.token_hex(4)}"
    verbatim = conditions()["B5"]
    known = {
        "B0": conditions()["B0"],
        sentinel: Condition(replace(verbatim.card, code=sentinel), verbatim.open),
    }
    out = home / "run"
    with ModelServer(Function(looking)) as server:
        config = load(None, words(server, f"conditions=B0,{sentinel}", "seeds=2", f"cache={cache}"), dict(mini))
        outcomes = []
        execute(prepare(config, out, known), outcomes.append, sandbox=box)
        log = server.log
        assert len(log.entries()) == 2 * 2 * 3 * 3
        ours = [sentinel, "c1_label", "dreambench", "convention-learning", str(tmp_path), str(Path.cwd()), "trap"]
        for word in (*canaries, inside, *ours):
            assert log.holding(word) == (), word
        draws = [[*draw.facts.values()] for draw in load_draws(out / "facts.json").values()]
        assert [len(values) for values in draws] == [2, 2]
        for entry in log.entries():
            assert sum(any(entry.holds(value) for value in values) for values in draws) <= 1, "two draws in one request"
        assert all(log.holding(value) for values in draws for value in values), (
            "the right ones were shown what they may"
        )
    assert {(r.condition, r.endings[0].outcome.value) for r in outcomes} == {("B0", "failed"), (sentinel, "pass")}


def test_a_look_around_shows_what_is_there(box: Sandbox, mini: Mapping[str, str], tmp_path: Path) -> None:
    """The test above could not fail if looking around showed nothing."""
    seen: list[str] = []

    def look(seen_: Seen) -> Turn:
        if seen_.turn == 2:
            seen.append(seen_.last())
        return Say("Done.") if seen_.turn > 1 else Shell(LOOK)

    with ModelServer(Function(look)) as server:
        execute(
            prepare(load(None, words(server, "conditions=B0"), dict(mini)), tmp_path / "run"),
            lambda _: None,
            sandbox=box,
        )
    assert len(seen) == 3
    for text in ("PATH=/tools/bin", "HOME=", "prompt.md", "main.py", "dev@localhost", "`empty(name)"):
        assert text in seen[0], text
