"""The stage on which every attack is played."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from containers.sandbox import Sandbox

from .forgery_kit import Stage


@pytest.fixture(scope="session")
def stage(mini: Mapping[str, str], box: Sandbox) -> Stage:
    return Stage(mini, box)
