"""The aliased world: the mini trap with every name of its own replaced by a sentinel, in places named so too."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from memory_probe.ladder import Condition, conditions

from .blindness_kit import INSIDE, MINI, sentinel

_TRAP = """\
schema = 1
id = "c1_{slug}"
construct = "C1"
family = "convention-learning"
skeleton = "{skeleton}"
authors = ["{author}"]
title = "{title}"
reason = "{reason}"
fixture = "{fixture}"
evidence = "verbatim"
clean_start = false
allow = ["src/**"]

[facts.{old_fact}]
kind = "token"
format = "bm-{{hex:12}}"

[facts.{fact}]
kind = "token"
format = "bm-{{hex:12}}"
supersedes = "{old_fact}"

[facts.{bad_fact}]
kind = "token"
format = "bm-{{hex:12}}"

[[session]]
date = 2026-01-05
prompt = "{first_prompt}.md"
paths = ["src/mini/boxes.py"]
task = "boxes"
check = ["python", "-c", "import sys; sys.path.insert(0, 'src'); from mini.boxes import empty; assert empty('')"]

[[session]]
date = 2026-01-12
prompt = "{second_prompt}.md"
paths = ["src/mini/boxes.py"]
task = "boxes"
check = ["python", "-c", "import sys; sys.path.insert(0, 'src'); from mini.boxes import full; assert full('a')"]

[[session]]
date = 2026-01-19
prompt = "{third_prompt}.md"
paths = ["src/mini/labels.py"]
symbols = ["label"]
task = "box labels"
check = ["python", "-c", "pass"]

[[event]]
id = "{old_event}"
after = 1
kind = "human_feedback"
author = "box desk"
authority = 2
date = 2026-01-05
text = "{old_event}.md"
scope = {{ files = ["src/mini/labels.py"], symbols = ["label"], task = "box labels" }}
carries = ["{old_fact}"]

[[event]]
id = "{event}"
after = 2
kind = "human_feedback"
author = "box desk"
authority = 2
date = 2026-01-12
text = "{event}.md"
scope = {{ files = ["src/mini/labels.py"], symbols = ["label"], task = "box labels" }}
carries = ["{fact}"]

[[poison]]
id = "{poison}"
kind = "human_feedback"
author = "box desk"
authority = 2
date = 2026-01-06
text = "{poison}.md"
scope = {{ files = ["src/mini/labels.py"], symbols = ["label"], task = "box labels" }}
carries = ["{bad_fact}"]

[[history]]
name = "{history}"
expect = "use"
roles = {{ {old_event} = "superseded", {event} = "governing" }}

[[history]]
name = "{other_history}"
expect = "abstain"
roles = {{ {old_event} = "superseded" }}
"""

_ORACLE = """\
\"\"\"{oracle_text}\"\"\"

from oracles.contract import forbids, requires


@requires("{check_text}")
def {check}(subject, facts):
    subject.call("mini.seen:first")
    subject.call("mini.seen:now")
    subject.run(["python3", "src/mini/seen.py", "/tmp/out", "bare"])
    subject.call("mini.seen:left", "/tmp/out")
    assert subject.call("mini.labels:label", "tin") == f"tin {{facts.{fact}}}"


@forbids("the old one is used")
def {other_check}(subject, facts):
    return subject.mentions(facts.{old_fact})
"""

_EXPECT = """\
schema = 1

[[solution]]
name = "{solution}"
outcome = "pass"

[[solution]]
name = "nothing"
outcome = "failed"
"""

_NAMES = (
    *("slug", "skeleton", "author", "title", "reason", "fixture", "old_fact", "fact", "bad_fact"),
    *("first_prompt", "second_prompt", "third_prompt", "old_event", "event", "poison", "history", "other_history"),
    *("oracle_text", "check_text", "check", "other_check", "solution"),
    *("checkout", "run", "cache", "program", "label", "environment", "user", "standing", "codes", "condition_title"),
)


@dataclass(frozen=True)
class World:
    """Where it lies, its sentinels by what they name, and the conditions under other codes."""

    base: Path
    names: dict[str, str]
    seed: int
    known: dict[str, Condition]  # by alias
    codes: dict[str, str]  # B0, … -> alias

    @property
    def checkout(self) -> Path:
        return self.base / self.names["checkout"]

    @property
    def out(self) -> Path:
        return self.base / self.names["run"]

    @property
    def cache(self) -> Path:
        return self.base / self.names["cache"]

    def words(self, *wanted: str) -> list[str]:
        """The configuration, for the conditions of these codes."""
        return [
            f"traps_dir={self.checkout / 'traps'}",
            f"oracles_dir={self.checkout / 'oracles'}",
            f"cache={self.cache}",
            f"first_seed={self.seed}",
            "seeds=1",
            "conditions=" + ",".join(self.codes[code] for code in wanted),
            "agent.name=command",
            f"agent.program={self.checkout / self.names['program']}",
            'agent.command=["python3", "/agent/agent.py"]',
        ]


def build(base: Path, seed: int) -> World:
    """Write the world below `base`."""
    names = {name: sentinel() for name in _NAMES}
    codes = {code: sentinel() for code in conditions()}
    known = {
        codes[code]: Condition(replace(c.card, code=codes[code], title=names["condition_title"]), c.open)
        for code, c in conditions().items()
    }
    world = World(base, names, seed, known, codes)
    _write_trap(world)
    _write_oracle(world)
    shutil.copytree(INSIDE, world.checkout / names["program"])
    return world


def _write_trap(world: World) -> None:
    names, source = world.names, MINI / "traps" / "c1" / "label"
    folder = world.checkout / "traps" / "c1" / names["slug"]
    folder.mkdir(parents=True)
    (folder / "trap.toml").write_text(_TRAP.format_map(names))
    shutil.copyfile(source / "playbook.py", folder / "playbook.py")
    for old, new in {"s1": "first_prompt", "s2": "second_prompt", "s3": "third_prompt"}.items():
        shutil.copyfile(source / f"{old}.md", folder / f"{names[new]}.md")
    for event, fact in {"old_event": "old_fact", "event": "fact", "poison": "bad_fact"}.items():
        slots = f"Note << ref >> by the box desk, on `src/mini/labels.py`.\n\nThe box mark is `<< {names[fact]} >>`.\n"
        canary = (source / "e1.md").read_text().splitlines()[0]
        (folder / f"{names[event]}.md").write_text(f"{canary}\n{slots}")
    fixture = world.checkout / "traps" / "fixtures" / names["fixture"]
    shutil.copytree(MINI / "traps" / "fixtures" / "mini", fixture)
    text = (fixture / "fixture.toml").read_text()
    (fixture / "fixture.toml").write_text(text.replace('name = "mini"', f"name = {json.dumps(names['fixture'])}"))


def _write_oracle(world: World) -> None:
    names = world.names
    folder = world.checkout / "oracles" / "c1" / names["slug"]
    source = MINI / "oracles" / "c1" / "label" / "solutions" / "reference"
    shutil.copytree(source, folder / "solutions" / names["solution"])
    labels = folder / "solutions" / names["solution"] / "src" / "mini" / "labels.py"
    labels.write_text(labels.read_text().replace("<< mark >>", f"<< {names['fact']} >>"))
    (folder / "oracle.py").write_text(_ORACLE.format_map(names))
    (folder / "expect.toml").write_text(_EXPECT.format_map(names))
