import pytest

from boltons.strutils import bytes2human


@pytest.mark.parametrize('size, ndigits, expected', [
    (0, 0, '0B'), (1023, 0, '1023B'), (1024, 0, '1K'), (-1024, 0, '-1K'), (1023, 2, '1023.00B'),
    (1048575, 0, '1M'), (1048575, 3, '1023.999K'), (-1048575, 0, '-1M'), (1048576, 1, '1.0M'),
    (128991, 0, '126K'), (100001221, 0, '95M'), (1024 ** 8, 0, '1Y'), (1024 ** 9, 0, '1024Y'), (3 * 1024 ** 9, 0, '3072Y'),
])
def test_units(size, ndigits, expected):
    assert bytes2human(size, ndigits) == expected
