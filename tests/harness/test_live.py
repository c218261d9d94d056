"""`trap check --live`: a trap before a real agent, here ours before a scripted model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.main import cli
from harness.outcome import UsageFault
from tests.harness.model_kit import AGENT, MODEL, WORK
from tests.model.faults import Fault, Status, always
from tests.model.script import Function, Say, Script, Seen, Turn
from tests.model.server import ModelServer


def check(server: ModelServer, mini: Mapping[str, str], out: Path, *more: str) -> tuple[int, str]:
    command = json.dumps(["python3", "/agent/main.py", "{prompt}", "{url}", "{model}"])
    words = [f"agent.command={command}", f"agent.program={AGENT}", f"model.name={MODEL}", "seeds=1", "jobs=1"]
    words += [f"model.base_url={server.url}/v1", "model.attempts=1", *more]
    places = ["--traps", mini["traps_dir"], "--oracles", mini["oracles_dir"], "--out", str(out)]
    arguments = ["trap", "check", "c1_label", "--live", "command", *places, *words]
    told = CliRunner().invoke(cli, arguments, standalone_mode=False)
    if isinstance(told.exception, UsageFault):
        return 1, str(told.exception)
    return told.return_value, told.output


def idle(seen: Seen) -> Turn:
    return Say("There is nothing to do.")


def test_a_trap_that_the_agent_can_do_with_the_evidence_and_not_without(
    mini: Mapping[str, str], tmp_path: Path
) -> None:
    with ModelServer(WORK) as server:
        code, said = check(server, mini, tmp_path / "run")
    assert "ok  c1_label: without memory 0/1, with the evidence 1/1, warm-up 4/4" in said
    assert code == 0


@pytest.mark.parametrize(
    ("script", "faults", "problems"),
    [
        (Function(idle), [], ["never done with the evidence (0/1)", "the public checks of S1 and S2 hold in 0/4 only"]),
        (WORK, [Fault(Status(503), always)], ["2 arms are invalid, 0/0 and 0/0 could be measured"]),
    ],
    ids=["an agent that cannot", "an endpoint that is down"],
)
def test_what_was_not_seen_to_work_is_a_problem(
    script: Script, faults: list[Fault], problems: list[str], mini: Mapping[str, str], tmp_path: Path
) -> None:
    with ModelServer(script, faults=faults) as server:
        code, said = check(server, mini, tmp_path / "run")
    assert [line.strip() for line in said.splitlines() if "    live: " in line] == [f"live: {p}" for p in problems]
    assert code == 3


def test_keys_that_it_sets_itself_are_refused(mini: Mapping[str, str], tmp_path: Path) -> None:
    with ModelServer(WORK) as server:
        assert check(server, mini, tmp_path / "run", "conditions=B5") == (
            1,
            "'conditions=B5': a live check sets this itself",
        )
