import pytest

from inflection import parameterize

GASKET = "Rubber gasket, 40 mm, grey"


@pytest.mark.parametrize(
    ("length", "slug"),
    [
        (None, "rubber-gasket-40-mm-grey"),
        (24, "rubber-gasket-40-mm-grey"),
        (23, "rubber-gasket-40-mm"),
        (19, "rubber-gasket-40-mm"),
        (15, "rubber-gasket"),
        (14, "rubber-gasket"),
        (6, "rubber"),
        (4, "rubb"),
    ],
)
def test_ends_between_words(length, slug):
    assert parameterize(GASKET, max_length=length) == slug


def test_other_separators():
    assert parameterize(GASKET, "__", max_length=15) == "rubber__gasket"
    assert parameterize(GASKET, "__", max_length=13) == "rubber"
    assert parameterize(GASKET, "", max_length=9) == "rubbergas"


def test_nothing_to_shorten():
    assert parameterize("", max_length=3) == ""


@pytest.mark.parametrize("length", [0, -1])
def test_no_such_length(length):
    with pytest.raises(ValueError):
        parameterize(GASKET, max_length=length)
