import pytest

from parcels.errors import InvalidInput
from parcels.model import Status


@pytest.mark.parametrize("text", ["in transit", " In   transit", "in-transit", "in_transit"])
def test_spaces_are_taken(text):
    assert Status.parse(text) is Status.IN_TRANSIT


def test_the_message_names_what_there_is():
    with pytest.raises(InvalidInput) as refused:
        Status.parse("lost")
    known = "created, handed_over, in_transit, delivered, returned"
    assert str(refused.value) == f"unknown status 'lost'; known: {known}"
