import pytest

from inflection import titleize

SMALL = ["from", "The", "a", "without", "of"]


@pytest.mark.parametrize(
    ("word", "title"),
    [
        ("man from the boondocks", "Man from the Boondocks"),
        ("the_way_of_the", "The Way of The"),
        ("x-men: the last stand", "X Men: The Last Stand"),
        ("TheManWithoutAPast", "The Man without a Past"),
        ("of", "Of"),
        ("", ""),
    ],
)
def test_small_words(word, title):
    assert titleize(word, small=SMALL) == title


def test_any_iterable_and_none():
    assert titleize("man from the boondocks", small=iter(["the"])) == "Man From the Boondocks"
    assert titleize("man from the boondocks") == "Man From The Boondocks"
