"""What every real agent has to show, whatever its program: said once, for a test of each.

Invariant: the values are those of the script and of the relay's rules; no agent has a way of its own to be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from containers.relay import Quota
from containers.sandbox import Sandbox
from harness.agents.agent import Agent
from memory_probe.protocol import View, ViewItem

from ...model.faults import Cut, Fault, Loop, Status, always, at
from ...model.script import Call, Shell, Steps
from .kit import LIMITS, TREE, Played, play

WRITE = Steps((Shell("printf parcel > out.txt"),))
DONE = {**TREE, "out.txt": b"parcel"}
#: Longer than a word of a command line may be; what looks like an option, a command or a variable is text.
LONG = "--help /quit $HOME `id` @README.md {{task}}\n" + "Zeile mit Umlauten äöü and an emoji \U0001f4e6.\n" * 4000


@dataclass(frozen=True)
class Trouble:
    """A script that cannot simply run, and how the session ends: exit status, whether the file was written, and what
    the ledger says."""

    faults: tuple[Fault, ...] = ()
    quota: Quota = field(default_factory=Quota)
    exit: int = 0
    wrote: bool = True
    hit: tuple[str, ...] = ()
    cut: int = 0
    down: bool = False


TROUBLES = pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(Trouble(quota=Quota(calls=1), exit=1, hit=("calls",)), id="quota"),
        pytest.param(
            Trouble((Fault(Loop("true"), always),), Quota(calls=5), 1, wrote=False, hit=("calls",)), id="loop"
        ),
        pytest.param(Trouble((Fault(Status(429), at(1)),)), id="busy"),
        pytest.param(Trouble((Fault(Cut(300), at(1)),), cut=1), id="cut"),
        pytest.param(Trouble((Fault(Status(500), always),), exit=1, wrote=False, down=True), id="down"),
    ],
)


def meet(agent: Agent, box: Sandbox, folder: Path, trouble: Trouble) -> None:
    """The session ends by itself, as it should."""
    played = play(agent, box, WRITE, folder, faults=trouble.faults, quota=trouble.quota)
    ledger = played.ledger
    assert (played.result.exit, played.result.timed_out) == (trouble.exit, False), played.told()
    assert (ledger.hit, ledger.cut, bool(ledger.down)) == (trouble.hit, trouble.cut, trouble.down), played.told()
    assert played.tree() == (DONE if trouble.wrote else dict(TREE))


def ask_memory(agent: Agent, box: Sandbox, folder: Path) -> None:
    """A search reaches the memory, and its answer the model."""
    view = View((ViewItem("Parcels above 2000 grams go by freight."),))
    script = Steps((Call("search", {"query": "heavy parcels"}), *WRITE.turns))
    played = play(agent, box, script, folder, tools=True, view=view)
    assert played.result.exit == 0, played.told()
    assert [shown.query for shown in played.shown] == ["heavy parcels"]
    assert "Parcels above 2000 grams go by freight." in told_back(played)
    assert played.tree() == DONE


def look_for_the_host(agent: Agent, box: Sandbox, folder: Path, planted: Mapping[str, str]) -> None:
    """The agent itself looks around, and no canary reaches a request."""
    look = "env; cat ~/.*/* ~/.*/*/* ../*.md /*.md; find / -name '*.md' -o -name '*.toml'; cat /proc/*/environ"
    played = play(agent, box, Steps((Shell(look),)), folder)
    assert played.result.exit == 0, played.told()
    assert "HOME=/home/dev" in told_back(played)
    assert [place for place, canary in planted.items() if played.log.holding(canary)] == []
    assert played.log.holding(str(folder)) == ()


def two_in_a_row(agent: Agent, box: Sandbox, folder: Path, places: str) -> None:
    """What one session leaves at `places`, outside of the tree, the next does not have."""
    plant = f'for file in {places}; do mkdir -p "$(dirname "$file")"; echo canary81724 > "$file"; done; ls /memory'
    scripts = {"first": Steps((Shell(plant),)), "second": WRITE}
    for name, script in scripts.items():
        (folder / name).mkdir()
        played = play(agent, box, script, folder / name)
        assert played.result.exit == 0, played.told()
        assert sorted(played.result.exports) == ["/work"]
        assert name == "second" or "No such file" in told_back(played)
    assert played.log.holding("canary81724") == ()


def leave_running(agent: Agent, box: Sandbox, folder: Path) -> None:
    """A command in the background, longer than the session may be, is no reason to wait."""
    left = Shell(f"sleep {LIMITS.wall * 5} >/dev/null 2>&1 &")
    played = play(agent, box, Steps((left, *WRITE.turns)), folder)
    assert (played.result.exit, played.result.timed_out, played.tree()) == (0, False, DONE), played.told()


def told_back(played: Played) -> str:
    """What the agent sent back of its first command (it may say more than that)."""
    seen = played.log.asked()[1].seen
    assert seen is not None
    return "\n".join(message.text for message in seen.messages if message.role == "tool")
