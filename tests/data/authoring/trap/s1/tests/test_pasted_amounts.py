import pytest

from parcels.errors import InvalidInput
from parcels.units import parse_amount


@pytest.mark.parametrize("text", ["12,50 EUR", "12.5€", "€ 12.50", "eur 12,5", " 12,50 eur "])
def test_one_currency(text):
    assert parse_amount(text) == 1250


@pytest.mark.parametrize("text", ["EUR", "€ 12 EUR", "12 USD", "1€2"])
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidInput):
        parse_amount(text)
