"""The traps of this repository, played by the reference agent: what enters a sandbox names nothing.

Every Spec that was run is looked at: sessions, public checks, and the subjects of scoring.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import pytest

from containers.sandbox import AGENT, TASK, WORK, Spec
from harness.agents.reference import ReferenceAgent
from oracles.wire import loads
from traps.load import CANARY

from .blindness_kit import Needle, Pieces, Talk, name, pieces_of, search, speaking, word
from .blindness_runs import Real, Session

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

#: Histories are named by plain words; as the name of a file, a folder, a variable or an argument they would tell.
PLAIN = ("command", "environment", "cwd", "headers")


def names(real: Real) -> list[Needle]:
    """Trap ids, fold names of traps, condition codes, the canary."""
    found = [word("the canary", CANARY), word("the project", "dreambench")]
    for trap in real.plan.traps.values():
        found.append(name(f"trap {trap.id}", trap.id))
    return found


def spoken_names(real: Real) -> list[Needle]:
    """Codes and histories, which are plain words in a text."""
    histories = {h.name for trap in real.plan.traps.values() for h in trap.spec.history}
    return [name(f"name {n}", n) for n in sorted(histories | set(real.plan.conditions))]


def neutral(real: Real) -> dict[str, bytes]:
    """Files of hosted libraries: others wrote them, and whoever runs the benchmark cannot choose their words."""
    hosted = [t.fixture for t in real.plan.traps.values() if t.fixture.spec.hosted]
    found = {f"{WORK}/{path}": file.data for fixture in hosted for path, file in fixture.tree.items()}
    compiled = re.compile(r"([^/]+)\.py$")
    cached = rf"__pycache__/\1.{sys.implementation.cache_tag}.pyc"
    return found | {compiled.sub(cached, label): data for label, data in found.items()}


def entered(real: Real) -> Iterator[tuple[str, Spec]]:
    """Every Spec whose sandbox runs anything of an agent."""
    yield from (("session" if TASK in spec.mounts else "check", spec) for spec in real.recorder.runs)
    yield from (("subject", talk.spec) for talk in subjects(real))


def subjects(real: Real) -> list[Talk]:
    return [talk for talk in real.recorder.talks if WORK in talk.spec.mounts]


def by_prompt(real: Real) -> dict[bytes, Session]:
    return {session.prompt: session for session in real.sessions()}


def test_every_trap_was_played_in_every_condition(real: Real) -> None:
    assert len(real.plan.traps) >= 10
    assert len(real.records) == len(real.plan.arms)
    assert not [(r.arm, e.cause) for r in real.records for e in r.endings if e.boundary]
    assert subjects(real)


def test_nothing_that_enters_names_a_trap_or_the_project(real: Real) -> None:
    needles = names(real)
    found = {f"{kind}: {hit}" for kind, spec in entered(real) for hit in search(pieces_of(spec), needles)}
    assert not found, "\n".join(sorted(found)[:20])


def test_no_word_says_what_is_going_on(real: Real) -> None:
    known = neutral(real)
    found = {f"{kind}: {hit}" for kind, spec in entered(real) for hit in speaking(pieces_of(spec), known)}
    assert not found, "\n".join(sorted(found)[:20])


def test_no_path_or_argument_is_a_condition_or_a_history(real: Real) -> None:
    needles = spoken_names(real)
    for kind, spec in entered(real):
        assert not search(outline(pieces_of(spec)), needles), kind


def outline(pieces: Pieces) -> Pieces:
    """Names, arguments and variables of a Spec without the texts of its files."""
    return {label: data if label.endswith(PLAIN) else b"" for label, data in pieces.items()}


def test_codes_of_conditions_stand_in_no_prompt(real: Real) -> None:
    for session in real.sessions():
        words = set(session.prompt.decode().split())
        assert not words & set(real.plan.conditions), session.name


def test_no_session_is_given_a_fact_outside_its_view(real: Real) -> None:
    sessions = by_prompt(real)
    shown = 0
    for spec in real.recorder.runs:
        if TASK not in spec.mounts:
            continue
        pieces = pieces_of(spec)
        needles = real.outside(sessions[pieces[f"{TASK}/prompt.md"]].view)
        shown += len(real.secrets) - len(needles)
        assert not search(pieces, needles)
    assert shown > 20, "no view showed a fact: the test looks at nothing"


def test_all_arms_of_a_trap_get_the_same_instruction(real: Real) -> None:
    for trap in real.plan.traps:
        for number in (1, 2, 3):
            texts = {
                s.prompt.decode().partition("\n[1]")[0].rstrip()
                for s in real.sessions()
                if s.arm.trap == trap and s.record.number == number
            }
            assert len(texts) == 1, (trap, number)


def test_no_memory_carries_zero_bytes(real: Real) -> None:
    for session in real.sessions():
        if session.arm.condition == "B0":
            carried = {row.name: row.bytes for row in session.record.carried}
            assert (session.record.memory_bytes, carried["memory in prompt"]) == (0, 0), session.name


def test_the_reference_agents_program_is_the_same_everywhere(real: Real) -> None:
    """One program for all; only the playbook differs, by trap, and nothing in it by condition or history."""
    expected = {f"{AGENT}/{path}" for path in ReferenceAgent()._program} | {f"{AGENT}/playbook.py"}
    for spec in real.recorder.runs:
        if AGENT in spec.mounts:
            pieces = pieces_of(spec)
            assert {p for p in pieces if p.startswith(AGENT + "/")} == expected
    assert len({tuple(sorted(spec.env.items())) for spec in real.recorder.runs}) == 1
    commands = {spec.command for spec in real.recorder.runs if TASK in spec.mounts}
    assert {(c[-2], c[-1]) for c in commands} == {
        ("s1", "careful"),
        ("s2", "careful"),
        ("s3", "careful"),
        ("s3", "credulous"),
    }


def test_scored_code_is_told_no_secret_that_it_does_not_hold(real: Real) -> None:
    needles = [*real.outside(b""), *derived(real)]
    assert len(needles) > 20
    for talk in subjects(real):
        pieces = pieces_of(talk.spec)
        own = b"\n".join(data for label, data in pieces.items() if label.startswith(WORK + "/"))
        foreign = {label: data for label, data in pieces.items() if not label.startswith(WORK + "/")}
        told = [needle for needle in needles if needle.at(own.lower()) is None]
        assert not search({**foreign, "questions": spelled(talk.sent)}, told)


def spelled(sent: bytearray) -> bytes:
    """What the judge asked, with JSON's escapes of letters undone (twice: values travel as JSON in JSON)."""
    text = sent.decode("ascii")
    for _ in range(2):
        text = text.replace("\\\\", "\\").encode("ascii", "backslashreplace").decode("raw_unicode_escape")
    return text.encode("utf-8", "backslashreplace")


def derived(real: Real) -> list[Needle]:
    """The derived facts, as the judges announced them."""
    found = set()
    for talk in real.recorder.talks:
        if WORK not in talk.spec.mounts:
            values = loads(json.loads(bytes(talk.received).partition(b"\n")[0])["derived"])
            found |= {v for v in values.values() if isinstance(v, str) and len(v) >= 8}
    return [word("a derived fact", value) for value in found]


def test_scored_trees_hold_only_what_was_in_the_sessions(real: Real) -> None:
    known = set()
    for session in real.sessions():
        if session.record.number == 3:
            for tree in (session.record.tree_in, session.record.tree_out):
                known |= {(p, e.data) for p, e in real.tree(tree).items()}
    for talk in subjects(real):
        for label, data in pieces_of(talk.spec).items():
            if label.startswith(f"{WORK}/"):
                assert (label.removeprefix(f"{WORK}/").encode(), data) in known, label


def test_the_search_would_see_each_name(real: Real) -> None:
    """The needles of this module, each put where it must not be."""
    spec = real.recorder.runs[0]
    for needle in names(real):
        planted = {**pieces_of(spec), "/agent/playbook.py": b"# for " + needle.value + b"\n"}
        assert search(planted, [needle])
    for needle in spoken_names(real):
        assert search(outline({**pieces_of(spec), "/work/" + needle.value.decode() + "/x": b""}), [needle])
    assert speaking({"/task/prompt.md": b"This is a trap (C7)."}, {}) == [
        "C7 in /task/prompt.md",
        "trap in /task/prompt.md",
    ]
