"""The fold of sixty: its make-up, and that no draw tells anything about another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.admitted import attempts, standing
from harness.cli.trap import QUOTAS
from harness.config import load
from harness.draw import draw_one
from harness.plan import load_oracles, select
from traps.diversity import MOST
from traps.facts import digest
from traps.folds import load_fold, member_digest
from traps.load import Trap

WHOLE = "c1-c10"


@pytest.fixture(scope="module")
def members() -> Mapping[str, Trap]:
    config = load(None, [f"fold={WHOLE}"])
    return select(config, config.cache_dir)


def test_constructs_have_their_quotas(members: Mapping[str, Trap]) -> None:
    assert Counter(trap.construct for trap in members.values()) == QUOTAS
    assert sum(QUOTAS.values()) == 60


def test_every_member_is_as_it_was_frozen_and_admitted(members: Mapping[str, Trap]) -> None:
    config = load(None, [f"fold={WHOLE}"])
    root = Path(config.traps_dir)
    oracles = load_oracles(config, members)
    digests = {name: member_digest(trap.digest, oracles[name].digest) for name, trap in members.items()}
    assert load_fold(root, WHOLE).changed(digests) == []
    assert set(standing(digests, attempts(root)).values()) == {"admitted"}


def test_caps_of_skeletons_and_fixtures(members: Mapping[str, Trap]) -> None:
    assert max(Counter(trap.spec.skeleton for trap in members.values()).values()) <= MOST
    per_fixture = Counter(trap.spec.fixture for trap in members.values())
    assert max(per_fixture.values()) <= len(members) / 3
    fixtures = defaultdict(set)
    for trap in members.values():
        fixtures[trap.construct].add(trap.spec.fixture)
    assert {construct: len(found) >= 2 for construct, found in fixtures.items()} == dict.fromkeys(QUOTAS, True)


def test_hosted_own_and_clean_starts(members: Mapping[str, Trap]) -> None:
    hosted = [trap for trap in members.values() if trap.fixture.spec.package]
    own = {trap.spec.fixture for trap in members.values() if not trap.fixture.spec.package}
    assert len(hosted) >= 12
    assert len({trap.spec.fixture for trap in hosted}) >= 4
    assert len(own) >= 6
    assert sum(trap.spec.clean_start for trap in members.values()) >= 10


def test_two_draws_share_no_token_and_every_commitment_opens(members: Mapping[str, Trap]) -> None:
    for trap in members.values():
        one, other = draw_one(trap), draw_one(trap)
        tokens = {name for name, fact in trap.spec.facts.items() if fact.kind == "token"}
        assert tokens, trap.id
        left, right = ({draw.facts[name] for name in tokens} | set(draw.refs.values()) for draw in (one, other))
        assert not left & right, trap.id
        for name, commitment in one.commitments().items():
            value = one.refs[name.removeprefix("ref:")] if name.startswith("ref:") else one.facts[name]
            assert digest(name, value, one.salts[name]) == commitment
            assert digest(name, value, other.salts[name]) != commitment
