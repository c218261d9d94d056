import pytest

from inflection.shortnames import is_short_name, short_name, short_names


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("LineItem", "line_item"),
        ("colour_code", "colour_code"),
        ("colour_codes", "colour_cods"),
        ("PurchaseOrder", "purchs_ordr"),
        ("purchase_order_line", "prchs_ordr_"),
        ("iso8601", "iso8601"),
        ("strengths_xyzz", "strngths_xy"),
        ("a", "a"),
    ],
)
def test_bodies(name, body):
    found = short_name(name)
    assert found[:-1] == body
    assert found[-1].isalpha() and found[-1].islower()


@pytest.mark.parametrize("name", ["Größe", "two words", "", "a.b"])
def test_no_short_name(name):
    with pytest.raises(ValueError) as caught:
        short_name(name)
    assert str(caught.value) == f"no short name for {name!r}"


def test_is_short_name():
    found = short_name("PurchaseOrder")
    assert is_short_name(found)
    assert not is_short_name(found[:-1] + ("a" if found[-1] != "a" else "b"))
    assert not is_short_name("")
    assert not is_short_name(found[-1])
    assert not is_short_name(found.upper())
    assert not is_short_name(found + "\n")


def test_short_names():
    names = ["iso8601", "LineItem", "iso8601"]
    assert list(short_names(names).items()) == [(name, short_name(name)) for name in names[:2]]


def test_two_names_with_one_short_name():
    with pytest.raises(ValueError, match="(?s)LineItem.*line_item"):
        short_names(["LineItem", "a", "line_item"])
