import pytest

from inflection import ordinalize

WORDS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()


@pytest.mark.parametrize(("number", "word"), list(enumerate(WORDS, 1)))
def test_words(number, word):
    assert ordinalize(number, words=True) == word


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0th"), (13, "13th"), (22, "22nd"), (-1, "-1st"), ("13", "13th")]
)
def test_figures(number, text):
    assert ordinalize(number, words=True) == text


def test_digits_in_a_text():
    assert ordinalize("3", words=True) == "third"


def test_default():
    assert [ordinalize(n) for n in (1, 3, 12)] == ["1st", "3rd", "12th"]
