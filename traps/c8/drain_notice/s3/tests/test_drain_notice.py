import pytest

import wirespec
from wirespec import routes
from wirespec.catalog import describe
from wirespec.errors import WireError, error_for_code

NOTICE = {"reason": "update", "grace_s": 60, "back_at": 1_760_003_600}


def test_round_trip():
    data = wirespec.encode("drain_notice", NOTICE)
    assert data[4:6] == b"\x00\x23"
    assert wirespec.decode(data).plain()["values"] == NOTICE


@pytest.mark.parametrize("grace_s", [4, 901])
def test_grace_is_limited(grace_s):
    with pytest.raises(WireError, match="grace_s"):
        wirespec.encode("drain_notice", {**NOTICE, "grace_s": grace_s})


def test_relocation_has_no_return():
    with pytest.raises(WireError, match="E8 rule_violated: .*relocation"):
        wirespec.encode("drain_notice", {**NOTICE, "reason": "relocation"})
    assert wirespec.encode("drain_notice", {**NOTICE, "reason": "relocation", "back_at": 0})


def test_error_says_that_a_retry_helps():
    error = error_for_code(9)
    assert (error.name, error.retry) == ("draining", True)


def test_route():
    assert routes.route_for("drain_notice") == "commands.out"


def test_description():
    assert "  reason: service|update|relocation" in describe("drain_notice").splitlines()
