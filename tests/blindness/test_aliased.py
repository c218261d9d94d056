"""Nothing of the benchmark can be seen from inside, in any session or scoring, whatever the arm.

The trap, its histories, notes, facts, prompts, fixture and oracle, the conditions, the seed, and the folders of
checkout, run, cache and program are all named by sentinels here; a probe collects what it can see.
"""

from __future__ import annotations

import json
import re

import pytest

from memory_probe.render import HEADING

from .blindness_kit import heard, pieces_of, search, speaking
from .blindness_runs import CONDITIONS, Aliased, toolchain_files

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


def test_the_run_went_through(aliased: Aliased) -> None:
    assert len(aliased.records) == len(CONDITIONS) * 2
    bad = [(r.arm, e.outcome, e.cause) for r in aliased.records for e in r.endings if e.boundary]
    assert not bad
    assert {e.outcome.value for r in aliased.records for e in r.endings} == {"failed"}
    sessions = list(aliased.sessions())
    assert len(sessions) == len(CONDITIONS) * 2 * 3
    for session in sessions:
        assert len(session.pieces) > 100, session.name
        assert "git cat-file --batch-all-objects --batch" in session.pieces


def test_no_session_sees_a_name_or_a_host_path(aliased: Aliased) -> None:
    found = [f"{s.name}: {hit}" for s in aliased.sessions() for hit in search(s.pieces, aliased.needles)]
    assert not found, "\n".join(found[:20])


def test_no_session_sees_a_fact_outside_its_view(aliased: Aliased) -> None:
    shown = 0
    for session in aliased.sessions():
        needles = aliased.outside(session.view)
        shown += len(aliased.secrets) - len(needles)
        assert not search(session.pieces, needles), session.name
        assert not search({"prompt": session.prompt}, needles), session.name
    assert shown > 10, "no view showed a fact: the test looks at nothing"


def test_scoring_code_sees_no_name_no_fact_no_host_path(aliased: Aliased) -> None:
    talks = aliased.scorings()
    # A conversation for each check; in the first the probe looks at import, at a call and in a command.
    seen = [heard(bytes(talk.received)) for talk in talks]
    counts = [len(looks) for looks in seen]
    assert set(counts) == {0, 3}
    # Equal changes in equal histories may share a verdict; the histories do not share one.
    assert counts.count(3) == counts.count(0) >= 2
    needles = [*aliased.needles, *aliased.outside(b"")]
    for pieces in (p for s in seen for p in s):
        assert len(pieces) > 50
        assert not search(pieces, needles)


def test_nothing_that_goes_to_scored_code_holds_a_fact(aliased: Aliased) -> None:
    needles = [*aliased.needles, *aliased.outside(b"")]
    for talk in aliased.scorings():
        assert not search({**pieces_of(talk.spec), "questions": bytes(talk.sent)}, needles)
    # The judge is told the facts, by another pipe.
    judges = [talk for talk in aliased.recorder.talks if talk not in aliased.scorings()]
    assert search({"job": bytes(judges[0].sent)}, needles)


def test_nothing_that_enters_any_sandbox_but_the_judges_is_named(aliased: Aliased) -> None:
    for spec in aliased.recorder.runs:
        assert not search(pieces_of(spec), aliased.needles)


def test_no_word_says_what_is_going_on(aliased: Aliased) -> None:
    found = [f"{s.name}: {hit}" for s in aliased.sessions() for hit in speaking(s.pieces, aliased.neutral)]
    for talk in aliased.scorings():
        for pieces in heard(bytes(talk.received)):
            found += [f"scoring: {hit}" for hit in speaking(pieces, aliased.neutral)]
    assert not found, "\n".join(sorted(set(found))[:20])


def test_an_empty_sandbox_and_its_toolchain_name_no_host_path(aliased: Aliased) -> None:
    assert any(label == "files names /usr" for label in aliased.neutral)
    assert not search(aliased.neutral, aliased.needles)
    files = toolchain_files(aliased.world)
    assert len(files) > 500
    assert not search(files, aliased.needles)


def test_every_session_has_the_mounts_of_the_empty_sandbox(aliased: Aliased) -> None:
    # What lies below /usr and /tools is looked through once; here is why that is enough.
    wanted = _mounts(aliased.neutral)
    for session in aliased.sessions():
        assert _mounts(session.pieces) == wanted, session.name
    for talk in aliased.scorings():
        for pieces in heard(bytes(talk.received)):
            assert _mounts(pieces) <= wanted


def _mounts(pieces: dict[str, bytes]) -> set[tuple[str, ...]]:
    """Root, mount point, options and source of each mount of process 1; ids and devices differ by run."""
    rows = [line.split() for line in pieces["processes 1 mountinfo"].decode().splitlines()]
    return {(re.sub(r"^/\d+$", "/N", r[3]), r[4], r[5], *r[r.index("-") + 1 :]) for r in rows}


def test_all_sessions_are_alike_but_for_the_work(aliased: Aliased) -> None:
    same = ("self environ", "self place", "self limits", "system uname", "system users", "system locale", "self python")
    for label in same:
        assert len({s.pieces[label] for s in aliased.sessions()}) == 1, label
    descriptors = {
        tuple(line.split()[0] for line in s.pieces["self descriptors"].splitlines()) for s in aliased.sessions()
    }
    assert descriptors <= {(b"0", b"1", b"2"), (b"0", b"1", b"2", b"3")}


def test_dates_tell_nothing(aliased: Aliased) -> None:
    dates = {
        line.split()[1]
        for s in aliased.sessions()
        for line in s.pieces["files dates"].decode().splitlines()
        if line.startswith("1") and not line.endswith("/seen.z")
    }
    assert len(dates) == 1, dates


def test_the_repository_is_one_neutral_commit(aliased: Aliased) -> None:
    for session in aliased.sessions():
        log = session.pieces["git log --all --format=raw -p"].decode()
        assert log.count("\ncommitter ") == 1
        assert "committer dev <dev@localhost> 1767225600 +0000" in log
        for empty in ("git reflog --all", "git stash list", "git notes list", "git remote -v"):
            assert session.pieces[empty] == b"", empty
        assert b"unreachable" not in session.pieces["git fsck --unreachable --no-progress"]


def test_the_instruction_is_the_same_in_every_arm(aliased: Aliased) -> None:
    for number in (1, 2, 3):
        texts = {
            s.prompt.decode().partition("\n[1]")[0].rstrip() for s in aliased.sessions() if s.record.number == number
        }
        assert len(texts) == 1, number
        assert HEADING in texts.pop()


def test_no_memory_carries_zero_bytes(aliased: Aliased) -> None:
    alias = aliased.world.codes["B0"]
    sessions = [s for s in aliased.sessions() if s.arm.condition == alias]
    assert len(sessions) == 6
    for session in sessions:
        carried = {row.name: row.bytes for row in session.record.carried}
        assert session.record.memory_bytes == 0
        assert carried["memory in prompt"] == 0
        assert set(carried) == {
            *("mount /agent", "mount /task", "mount /work", "prompt", "memory in prompt", "command", "environment")
        }
    others = [s for s in aliased.sessions() if s.arm.condition == aliased.world.codes["ALL"] and s.record.number == 3]
    assert all(s.record.memory_bytes > 0 for s in others)


def test_the_arms_of_a_condition_differ_only_by_the_view(aliased: Aliased) -> None:
    """Same tree, program, command and environment for every arm of one session."""
    for number in (1, 2, 3):
        rows = {
            json.dumps(
                [
                    c.model_dump()
                    for c in s.record.carried
                    if c.name not in ("prompt", "memory in prompt", "mount /task")
                ]
            )
            for s in aliased.sessions()
            if s.record.number == number
        }
        assert len(rows) == 1, number
