"""The scripted model that does a trap's work ends as the reference agent does, wherever its prompt was put."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

import pytest

from containers.sandbox import WORK, Limits, Mount, Result, Sandbox, Spec
from harness.agents.agent import Script, Task
from harness.agents.pull import PULL_INSTRUCTION
from harness.agents.reference import ReferenceAgent
from harness.draw import draw_one
from harness.snapshot import Entry, from_tar, of_tree, overlay, to_tar
from memory_probe.protocol import View
from traps.load import Trap

from .client import BASH, DIALECTS, Talk, User, ask
from .client import Result as Printed
from .formats import SUBMIT
from .script import Call, Message, Say, Seen, Shell
from .server import ModelServer
from .work import ASIDE, DONE, TrapWork
from .work_kit import evidence, loaded, prompt_of, seen, worker

# -- the work itself ---------------------------------------------------------------------------------------------

Tree = Mapping[bytes, Entry]
AROUND: dict[str, Callable[[str], tuple[str, ...]]] = {
    "sh": lambda command: ("sh", "-c", command),
    "login": lambda command: ("bash", "-lc", command),
    "braces": lambda command: ("bash", "-c", f"{{ {command}; }}; code=$?; true; exit $code"),
    "eval": lambda command: ("bash", "-c", 'eval "$0" < /dev/null && pwd -P > /tmp/cwd', command),
}


def start(trap: Trap, step: int) -> Tree:
    return overlay(of_tree(trap.fixture.tree), trap.overlays[step - 1])


def ran(box: Sandbox, tree: Tree, command: tuple[str, ...]) -> tuple[Result, Tree]:
    spec = Spec(command, mounts={WORK: Mount(to_tar(tree), writable=True)}, exports=(WORK,), limits=Limits(wall=60))
    result = box.run(spec)
    return result, from_tar(result.exports[WORK])[0]


def reference(box: Sandbox, trap: Trap, step: int, prompt: str, tree: Tree) -> Tree:
    task = Task(step, prompt, to_tar(tree), "careful", Limits(wall=60), Script(trap.playbook))
    result = box.run(ReferenceAgent().spec(task))
    assert result.exit == 0, result.stdout
    return from_tar(result.exports[WORK])[0]


@pytest.mark.parametrize(
    ("name", "step", "around"),
    [
        ("c1_label", 1, "sh"),
        ("c1_label", 3, "login"),
        ("c1_plan_shelf", 2, "braces"),
        ("c1_plan_shelf", 3, "eval"),
    ],
)
def test_the_tree_is_that_of_the_reference_agent(box: Sandbox, name: str, step: int, around: str) -> None:
    trap = loaded(name)
    draw = draw_one(trap)
    prompt, tree = prompt_of(trap, step, evidence(trap, draw)), start(trap, step)
    turn = worker().turn(seen(f"Please solve this:\n\n{prompt}\n\nUse one command at a time."))
    assert isinstance(turn, Shell)
    assert "\n" not in turn.command
    assert len(turn.command) < 20_000
    result, left = ran(box, tree, AROUND[around](turn.command))
    assert result.exit == 0, result.stderr
    wanted = reference(box, trap, step, prompt, tree)
    assert left == wanted != tree
    if step == 3:
        told = next(value for fact, value in draw.facts.items() if fact in ("mark", "shelf"))
        assert any(told.encode() in entry.data for entry in left.values())
        assert json.loads(result.stdout)["recalled"][0]["value"] == told


def test_notes_that_an_agent_lost_are_lost(box: Sandbox) -> None:
    """What the reference agent does without notes, since the agent cut them off."""
    trap = loaded("c1_label")
    prompt, tree = prompt_of(trap, 3, evidence(trap, draw_one(trap))), start(trap, 3)
    turn = worker().turn(seen(prompt[: prompt.index("[1]")]))
    assert isinstance(turn, Shell)
    _, left = ran(box, tree, ("sh", "-c", turn.command))
    assert left == reference(box, trap, 3, prompt_of(trap, 3, View()), tree) != reference(box, trap, 3, prompt, tree)


def test_a_long_command_comes_in_parts_and_leaves_nothing(box: Sandbox) -> None:
    trap = loaded("c1_label")
    prompt, tree = prompt_of(trap, 3, evidence(trap, draw_one(trap))), start(trap, 3)
    worker, commands = TrapWork({trap.id: trap}, limit=3000), list[str]()
    while isinstance(turn := worker.turn(seen(prompt, turn=len(commands) + 1)), Shell):
        commands.append(turn.command)
    assert turn == DONE
    assert len(commands) > 3
    assert max(map(len, commands)) <= 3000
    each = "import os, subprocess, sys\nfor word in sys.argv[1:]: subprocess.run(['sh', '-c', word], check=True)\n"
    result, left = ran(box, tree, ("python3", "-c", f"{each}print(os.listdir('/tmp'))", *commands))
    assert result.exit == 0, result.stderr
    assert result.stdout.splitlines()[-1] == b"[]"
    assert left == reference(box, trap, 3, prompt, tree)


def test_a_playbook_that_does_not_fit_fails_as_it_does_there(box: Sandbox) -> None:
    trap = loaded("c1_label")
    turn = worker().turn(seen(prompt_of(trap, 2, View())))  # S2 needs the file that S1 makes
    assert isinstance(turn, Shell)
    result, left = ran(box, start(trap, 1), ("sh", "-c", turn.command))
    assert result.exit == 1
    assert json.loads(result.stdout)["error"].startswith("FileNotFoundError")
    assert left == start(trap, 1)


# -- through the model server ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_told_the_same(dialect: str, stream: bool) -> None:
    trap = loaded("c1_plan_shelf")
    prompt = prompt_of(trap, 3, evidence(trap, draw_one(trap)))
    found = worker().find(seen(prompt))
    assert found is not None
    first = Talk((User("Some rules."), User(prompt)), system="You are careful.", tools={"bash": BASH})
    with ModelServer(worker()) as server:
        asked = partial(ask, server.url, dialect, stream=stream)
        title = asked(Talk((User(f"Give this a title: {prompt}"),)))
        nothing = asked(Talk((User("quota"),), tools={"bash": BASH}))
        said = asked(first)
        assert said.model.call is not None
        name, tool, arguments = said.model.call
        items = (*first.items, said.model, Printed(name, tool, "{}"))
        last = asked(Talk(items, first.system, first.tools))
        assert len(server.log.asides()) == 1
    assert json.loads(arguments) == {"command": worker().commands(found.case, prompt)[0]}
    assert (title.model.text, nothing.model.text, last.model.text) == (ASIDE.text, ASIDE.text, DONE.text)


def test_an_agent_that_reads_blocks_and_ends_by_a_command() -> None:
    prompt = prompt_of(loaded("c1_label"), 1, View())
    talk = Talk((User(f"{prompt}\nAnswer with one block:\n```mswea_bash_command\nls\n```"),))
    with ModelServer(worker()) as server:
        first = ask(server.url, "chat", talk).model
        last = ask(server.url, "chat", Talk((*talk.items, first, User("{}")))).model
    found = worker().find(seen(prompt))
    assert found is not None
    assert f"```mswea_bash_command\n{worker().commands(found.case, prompt)[0]}\n```" in first.text
    assert SUBMIT in last.text


# -- a memory that is asked --------------------------------------------------------------------------------------

ANSWERS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "json": lambda text: json.dumps({"content": [{"type": "text", "text": text}]}),
    "told": lambda text: f"Wall time: 0.1 seconds\nOutput:\n{json.dumps([{'type': 'text', 'text': text}])}",
}


@pytest.mark.parametrize("form", ANSWERS)
@pytest.mark.parametrize("tool", ["mcp__memory__search", "memory_search", "mcp_memory_search", "search"])
def test_a_memory_is_asked_and_its_answer_used(tool: str, form: str) -> None:
    trap = loaded("c1_label")
    text = trap.texts["s3.md"].rstrip()
    tools = ("google_web_search", "bash", tool)
    asked = seen(f"{text}\n\n{PULL_INSTRUCTION}", tools=tools)
    assert worker().turn(asked) == Call(tool, {"query": text})
    prompt = prompt_of(trap, 3, evidence(trap, draw_one(trap)))
    told = Message("tool", ANSWERS[form](prompt.removeprefix(f"{text}\n\n")))
    found = worker().find(asked)
    assert found is not None
    commands = worker().commands(found.case, prompt)
    again = Seen("chat", "", (*asked.messages, Message("assistant", "", (tool,)), told), tools, 2)
    assert worker().turn(again) == Shell(commands[0])
    assert worker().turn(Seen("chat", "", again.messages, tools, 3)) == DONE


def test_an_agent_without_the_tool_works_without_notes() -> None:
    prompt = f"{loaded('c1_label').texts['s3.md'].rstrip()}\n\n{PULL_INSTRUCTION}"
    found = worker().find(seen(prompt))
    assert found is not None
    assert found.pull
    assert worker().turn(seen(prompt)) == Shell(worker().commands(found.case, prompt)[0])
    assert isinstance(worker().turn(seen(prompt, turn=2)), Say)
