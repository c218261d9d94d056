import json

import pytest

from parcels.config import load
from parcels.errors import InvalidInput


def complaint(tmp_path, **settings):
    (tmp_path / "parcels.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path, {})
    return str(caught.value)


@pytest.mark.parametrize("value", ["48", 48.0, True, None, [48]])
def test_whole_numbers(tmp_path, value):
    assert complaint(tmp_path, label_width=value) == (
        "parcels.json: label_width must be a whole number"
    )


@pytest.mark.parametrize("name", ["database", "shop", "currency"])
def test_texts(tmp_path, name):
    assert complaint(tmp_path, **{name: 7}) == f"parcels.json: {name} must be a text"


def test_narrow_labels(tmp_path):
    assert complaint(tmp_path, label_width=23) == (
        "parcels.json: label_width must be at least 24"
    )


def test_a_shop_without_a_street(tmp_path):
    assert complaint(tmp_path, shop="Kiel").startswith("parcels.json: shop: an address is: ")


def test_good_settings(tmp_path):
    text = '{"label_width": 24, "shop": "Filiale Kiel; Kai 2; 24103; Kiel", "currency": "DKK"}'
    (tmp_path / "parcels.json").write_text(text, encoding="utf-8")
    settings = load(tmp_path, {})
    assert (settings.label_width, settings.currency) == (24, "DKK")
