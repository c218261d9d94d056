import pytest

from inflection import demodulize, foreign_key


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("shop.orders.LineItem", "LineItem"),
        ("Shop::LineItem", "LineItem"),
        ("Shop::orders.LineItem", "LineItem"),
        ("LineItem", "LineItem"),
        ("::Item", "Item"),
        ("", ""),
    ],
)
def test_demodulize(path, name):
    assert demodulize(path) == name


@pytest.mark.parametrize("path", ["shop.orders.LineItem", "LineItem", "Shop::LineItem"])
def test_foreign_key(path):
    assert foreign_key(path) == "line_item_id"
    assert foreign_key(path, separate=False) == "line_itemid"
