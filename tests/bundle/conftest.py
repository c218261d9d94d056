"""Frozen runs of the mini trap: made once, copied for each test that changes one."""

from __future__ import annotations

from pathlib import Path

import pytest

from containers.sandbox import Sandbox

from .bundle_kit import Fold, play
from .plan_kit import Planned, copied, done, make


@pytest.fixture(scope="session")
def frozen_once(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    return make(tmp_path_factory.mktemp("frozen"))


@pytest.fixture(scope="session")
def ran_once(frozen_once: Planned, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The same, executed to its end."""
    place = copied(frozen_once, tmp_path_factory.mktemp("ran"))
    done(place.start())
    return place


@pytest.fixture(scope="session")
def amended_once(frozen_once: Planned, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Three amendments, nothing run."""
    place = copied(frozen_once, tmp_path_factory.mktemp("amended"))
    for number, word in enumerate(("budget.k=5", "seeds=2", "budget.k=4"), 1):
        done(place.amend(word, reason=f"reason {number}"))
    return place


@pytest.fixture
def place(frozen_once: Planned, tmp_path: Path) -> Planned:
    return copied(frozen_once, tmp_path)


@pytest.fixture
def ran(ran_once: Planned, tmp_path: Path) -> Planned:
    return copied(ran_once, tmp_path)


@pytest.fixture
def amended(amended_once: Planned, tmp_path: Path) -> Planned:
    return copied(amended_once, tmp_path)


@pytest.fixture(scope="session")
def fold(tmp_path_factory: pytest.TempPathFactory, box: Sandbox) -> Fold:
    """A run of the mini trap under a frozen plan, and its bundle in both forms."""
    return play(tmp_path_factory.mktemp("fold"), box)
