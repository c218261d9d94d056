import pytest

import inflection
from inflection import camelize, tableize, underscore


@pytest.mark.parametrize("name", ["DeviceType", "deviceType", "_Private", "x", ""])
def test_names_that_come_back(name):
    assert underscore(name, strict=True) == underscore(name)


@pytest.mark.parametrize("name", ["device_type", "_private", "x", ""])
def test_and_in_the_other_direction(name):
    assert camelize(name, strict=True) == camelize(name)
    assert camelize(name, False, strict=True) == camelize(name, False)


def test_a_lossy_name_is_refused():
    with pytest.raises(inflection.LossyName) as caught:
        underscore("IOError", strict=True)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.name, error.back) == ("IOError", "IoError")
    assert str(error) == f"{error.code}: 'IOError' comes back as 'IoError'"


def test_camelize_and_tableize():
    with pytest.raises(inflection.LossyName, match="'page_2_up' comes back as 'page2_up'"):
        camelize("page_2_up", strict=True)
    with pytest.raises(inflection.LossyName, match="'HTMLPage' comes back as 'HtmlPage'"):
        tableize("HTMLPage", strict=True)


def test_list_of_lossy_names():
    names = iter(["IOError", "DeviceType", "sqlURL"])
    assert inflection.lossy(names) == [("IOError", "IoError"), ("sqlURL", "sqlUrl")]


def test_the_default_is_not_strict():
    assert tableize("HTMLPage") == "html_pages"
    assert camelize("page_2_up") == "Page2Up"
