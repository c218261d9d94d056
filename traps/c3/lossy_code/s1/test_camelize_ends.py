import pytest

from inflection import camelize


@pytest.mark.parametrize(
    ("string", "camel", "lower"),
    [
        ("_private_name", "_PrivateName", "_privateName"),
        ("class_", "Class_", "class_"),
        ("__meta__", "__Meta__", "__meta__"),
        ("street__number", "StreetNumber", "streetNumber"),
        ("device_type", "DeviceType", "deviceType"),
        ("Capital", "Capital", "capital"),
        ("page_2_up", "Page2Up", "page2Up"),
        ("_", "_", "_"),
        ("__", "__", "__"),
        ("", "", ""),
    ],
)
def test_ends(string, camel, lower):
    assert camelize(string) == camel
    assert camelize(string, False) == lower
