import pytest

from parcels.errors import InvalidInput
from parcels.numbers import make_number, normalise


@pytest.mark.parametrize("text", ["NPOOOOOOO14DE", "npooo0 00ol 4de", "NP-0000-000I-4-DE"])
def test_letters_among_the_digits(text):
    assert normalise(text) == "NP000000014DE"


@pytest.mark.parametrize(("prefix", "country"), [("LO", "IO"), ("IL", "LI")])
def test_letters_at_both_ends_stay(prefix, country):
    number = make_number(prefix, 73, country)
    assert normalise(number.lower()) == number


@pytest.mark.parametrize("text", ["NPOOOOOOO15DE", "NPSOOOOOO14DE", "0O000000014DE", "O"])
def test_still_refused(text):
    with pytest.raises(InvalidInput):
        normalise(text)
