import pytest

from inflection import parameterize, transliterate

DANISH = {"æ": "ae", "ø": "o", "å": "aa"}


@pytest.mark.parametrize(
    ("text", "letters", "expected"),
    [
        ("Ærøskøbing", DANISH, "Aeroskobing"),
        ("Århus", DANISH, "Aarhus"),
        ("älämölö", {"ö": "oe"}, "alamoeloe"),
        ("Œuvre", {"œ": "oe", "Œ": "OE"}, "OEuvre"),
        ("ÆØ", {"æ": "", "ø": "o"}, "O"),
        ("Ærø", {}, "r"),
    ],
)
def test_transliterate(text, letters, expected):
    assert transliterate(text, letters=letters) == expected


def test_parameterize():
    assert parameterize("Straße 7", letters={"ß": "ss"}) == "strasse-7"
    assert parameterize("Århus & Ærø", "_", letters=DANISH) == "aarhus_aero"


def test_default():
    assert transliterate("Ærøskøbing") == "rskbing"
    assert parameterize("Straße") == "strae"
