import pytest

import sqlparse
from sqlparse.utils import remove_quotes


@pytest.mark.parametrize('text, expected', [
    ('"a"', 'a'), ('"the ""old"" lock"', 'the "old" lock'), ("'it''s'", "it's"), ('`a``b`', 'a`b'),
    ('"it\'\'s"', "it''s"), ('""', ''), ('""""', '"'), ('a', 'a'), ('"', '"'), ('', ''), ('"a\'', '"a\''),
    ('a""b', 'a""b'),
])
def test_texts(text, expected):
    assert remove_quotes(text) == expected


def test_none():
    assert remove_quotes(None) is None


def test_name():
    column = sqlparse.parse('select "the ""old"" lock" from locks')[0].tokens[2]
    assert column.get_name() == 'the "old" lock'
