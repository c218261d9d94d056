import pytest

from frond import check, parse
from frond.errors import CheckFault


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mni", "there is no function mni; did you mean min?"),
        ("dewpoint", "there is no function dewpoint; did you mean dew_point?"),
        ("is_nigth", "there is no function is_nigth; did you mean is_night?"),
        ("sqrt", "there is no function sqrt"),
    ],
)
def test_suggestions(name, message):
    with pytest.raises(CheckFault) as caught:
        check(parse(f"let a = {name}(1, 2);"))
    assert str(caught.value) == f"1:9: {message}"
