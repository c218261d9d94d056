import pytest

from parcels.errors import InvalidInput
from parcels.units import parse_weight


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("1,2 kg", 1200),
        ("0,75kg", 750),
        ("1 kg 200 g", 1200),
        ("2 KG 50 g", 2050),
        ("1 t 2 kg 3 g", 1_002_003),
        ("1 kg 0,5 g", 1001),
        ("0,0004 kg 0.1 g", 1),
    ],
)
def test_as_people_write_it(text, grams):
    assert parse_weight(text) == grams


@pytest.mark.parametrize("text", ["200 g 1 kg", "1 kg 1 kg", "1 kg, 200 g", "1,2,3 kg", "1 kg 200"])
def test_still_refused(text):
    with pytest.raises(InvalidInput, match="cannot read the weight"):
        parse_weight(text)
