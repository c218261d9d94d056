import pytest

from quaybook.handlers import answer
from quaybook.model import Vessel
from quaybook.wire import Request


@pytest.fixture
def full(harbour):
    for reg, name in (("SE-1", "Ålgård"), ("SE-2", "Weißer Hai"), ("SE-10", "Gannet"), ("gan-3", "Zoe")):
        harbour.register(Vessel(reg, name, 700))
    return harbour


@pytest.mark.parametrize(
    ("text", "regs"),
    [
        ("GANN", ["NOR-4411", "SE-10"]),
        ("gan", ["NOR-4411", "SE-10", "gan-3"]),
        ("åLG", ["SE-1"]),
        ("weisser", ["SE-2"]),
        ("se-1", ["SE-10", "SE-1"]),
        ("nowhere", []),
        ("%", []),
    ],
)
def test_what_is_found(full, text, regs):
    assert [vessel.reg for vessel in full.find(text)] == regs


def test_at_most_twenty(harbour):
    for number in range(30):
        harbour.register(Vessel(f"X-{number:02}", "Tern", 700))
    assert [vessel.reg for vessel in harbour.find("tern")] == [f"X-{number:02}" for number in range(20)]


def test_the_verb(full):
    response = answer(full, Request("1", "vessel.find", {"text": "hai"}))
    assert response.body == {"vessels": [{"reg": "SE-2", "name": "Weißer Hai"}]}
