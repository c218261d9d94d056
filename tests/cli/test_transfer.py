"""`dreambench transfer` over real runs of the mini trap, by a program that does its work well, badly, or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from containers.sandbox import Sandbox
from harness.cli.main import cli
from harness.config import load
from harness.outcome import UsageFault
from harness.run import execute, prepare

#: Does S1 and S2 as asked; puts the mark that the notes name last into the labels only if `good`.
AGENT = """
import re, sys
from pathlib import Path
good, prompt = sys.argv[1] == "good", Path(sys.argv[2]).read_text()
boxes, labels = Path("src/mini/boxes.py"), Path("src/mini/labels.py")
if "Labels end with" in prompt:
    marks = re.findall(r"The box mark is `(bm-[0-9a-f]{12})`", prompt)
    mark = marks[-1] if marks and good else "box"
    text = labels.read_text().replace('return f"{name}"', f'return f"{{name}} {mark}"')
    labels.write_text(text + "\\n\\ndef bare(name: str) -> str:\\n    return name\\n")
elif sys.argv[1] == "idle":
    pass
elif "`full(name)" in prompt:
    boxes.write_text(boxes.read_text() + "\\n\\ndef full(name):\\n    return not empty(name)\\n")
else:
    boxes.write_text("def empty(name):\\n    return not any(c.isalpha() for c in name)\\n")
"""
FAMILY = """schema = 1
name = "mini"
[gates]
min_traps = 1
min_paired_seeds = 1
[[contrast]]
id = "M1"
first = "EVIDENCE"
second = "B0"
"""


@pytest.fixture(scope="module")
def runs(mini: Mapping[str, str], box: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """`good` reads the notes, `poor` does not, `idle` does nothing in S1 and S2; `fewer` has other conditions
    and was not begun."""
    home = tmp_path_factory.mktemp("transfer")
    (home / "agent").mkdir()
    (home / "agent" / "agent.py").write_text(AGENT)
    (home / "family.toml").write_text(FAMILY)
    found: dict[str, Path] = {}

    def play(name: str, how: str, *words: str) -> None:
        command = json.dumps(["python3", "/agent/agent.py", how, "{prompt}"])
        own = [f"agent.command={command}", "agent.name=command", f"agent.program={home / 'agent'}"]
        base: dict[str, Any] = {**mini, "conditions": "B0,EVIDENCE", "seeds": 1, "family": str(home / "family.toml")}
        facts = [f"facts_from={found['good']}"] if found else []
        ready = prepare(load(None, [*own, *facts, *words], base), home / name)
        found[name] = home / name
        if name == "fewer":
            ready.folder.unlock()
        else:
            execute(ready, lambda _: None, sandbox=box, unavailable={})

    play("good", "good")
    play("poor", "poor")
    play("idle", "idle")
    play("fewer", "poor", "conditions=B0", "family=")
    return found


def call(*words: object) -> Result:
    found = CliRunner().invoke(cli, ["transfer", *map(str, words)], standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    return found


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_real_runs_side_by_side(runs: dict[str, Path]) -> None:
    three = [runs[name] for name in ("good", "poor", "idle")]
    before = [contents(path) for path in three]
    found = call(*three, "--json")
    assert found.return_value == 0
    assert [contents(path) for path in three] == before, "nothing is written into a run"
    data = json.loads(found.stdout)
    assert data["complete"] is True
    assert data["transfer"]["columns"] == ["command #1", "command #2", "command #3"]
    assert data["setting"]["notes"][0] == "All runs drew the same facts."
    lines = {one["condition"]: one["cells"] for one in data["transfer"]["lines"] if one["endpoint"] == "main"}
    assert [one["rate"] and one["rate"]["value"] for one in lines["EVIDENCE"]] == [1.0, 0.0, None]
    assert [one["why"] for one in lines["EVIDENCE"]] == ["", "", "not interpretable: warm-up (B0)"]
    assert lines["EVIDENCE"][0]["contrasts"][0]["p"] == {"exact": "1/1", "value": 1.0}
    text = call(*three, "--markdown").stdout
    assert "not interpretable: warm-up" in text
    assert "EVIDENCE | the harness | 1/1 = 1.000" in text
    assert str(runs["good"].parent) not in text, "a report names no folder of the host"
    page = runs["good"].parent / "page.html"
    assert call(*three, "--html", page).stdout == ""
    assert "Author by wake agent" in page.read_text(encoding="utf-8")


def test_what_cannot_be_set_side_by_side_is_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match=r"(?s)differ in more than who worked.*config\.conditions"):
        call(runs["good"], runs["fewer"])
    with pytest.raises(UsageFault, match="are one run"):
        call(runs["good"], runs["good"])
    with pytest.raises(UsageFault, match="name two or more"):
        call(runs["good"])
    with pytest.raises(UsageFault, match="no run here"):
        call(runs["good"], tmp_path)
    with pytest.raises(UsageFault, match="name one"):
        call(runs["good"], runs["poor"], "--json", "--markdown")


def test_a_repeat_is_for_compare(runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    for path in runs["good"].iterdir():
        (tmp_path / "again" / path.name).symlink_to(path)
    (tmp_path / "again" / "run.json").unlink()
    told = json.loads((runs["good"] / "run.json").read_text())
    (tmp_path / "again" / "run.json").write_text(json.dumps({**told, "label": "0" * 16}))
    with pytest.raises(UsageFault, match=r"a repeat \(remedy: dreambench compare\)"):
        call(runs["good"], tmp_path / "again")
