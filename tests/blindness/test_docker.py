"""The docker sandbox is as blind as the embedded one: the same world, in one condition."""

from __future__ import annotations

import pytest

from .blindness_kit import heard, pieces_of, search, speaking
from .blindness_runs import Aliased

pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.timeout(900)]


def test_no_session_sees_a_name_a_host_path_or_a_fact_outside_its_view(aliased_docker: Aliased) -> None:
    sessions = aliased_docker.sessions()
    assert len(sessions) == 6
    for session in sessions:
        assert len(session.pieces) > 100
        needles = [*aliased_docker.needles, *aliased_docker.outside(session.view)]
        assert not search(session.pieces, needles), session.name
        assert not speaking(session.pieces, aliased_docker.neutral), session.name


def test_scoring_code_sees_nothing_either(aliased_docker: Aliased) -> None:
    needles = [*aliased_docker.needles, *aliased_docker.outside(b"")]
    seen = [pieces for talk in aliased_docker.scorings() for pieces in heard(bytes(talk.received))]
    assert len(seen) == 6
    for pieces in seen:
        assert not search(pieces, needles)
        assert not speaking(pieces, aliased_docker.neutral)
    for talk in aliased_docker.scorings():
        assert not search({**pieces_of(talk.spec), "questions": bytes(talk.sent)}, needles)


def test_an_empty_container_names_no_host_path(aliased_docker: Aliased) -> None:
    assert not search(aliased_docker.neutral, aliased_docker.needles)
