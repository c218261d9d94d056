from datetime import date

import pytest

from parcels.errors import InvalidInput
from parcels.model import Address


def country(text):
    return Address.parse(f"Ada Brandt; Hafenweg 3; 20457; Hamburg; {text}").country


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("de", "DE"),
        ("Ch", "CH"),
        ("deutschland", "DE"),
        ("GERMANY", "DE"),
        ("österreich", "AT"),
        ("ÖSTERREICH", "AT"),
        ("Switzerland", "CH"),
        ("Niederlande", "NL"),
        ("france", "FR"),
        ("Polen", "PL"),
    ],
)
def test_codes_and_names(text, code):
    assert country(text) == code


@pytest.mark.parametrize("text", ["Atlantis", "D", "D3", "DEU"])
def test_unknown(text):
    with pytest.raises(InvalidInput, match=f"unknown country '{text}'"):
        country(text)


def test_a_small_code_stays_in_the_union(desk):
    to = "Ada Brandt; Hafenweg 3; 20457; Hamburg; de"
    assert not desk.register(to, "1 kg", date(2026, 2, 9)).leaves_eu
