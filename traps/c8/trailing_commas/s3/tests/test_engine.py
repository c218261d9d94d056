import pytest

from frond import parse
from frond._parser import Parser
from frond.errors import SyntaxFault


def kinds(source):
    parser = Parser(source)
    found = []
    while not parser.sees("END"):
        found.append(parser.advance().kind)
    return found


def test_words_and_signs_are_their_own_kind():
    assert kinds("let a <= 1.5 # tail\n != \"b c\"") == ["let", "NAME", "<=", "NUMBER", "!=", "TEXT"]


def test_a_word_inside_a_name_is_no_word():
    assert kinds("letter order _do") == ["NAME"] * 3


def test_nothing_but_blanks_and_comments():
    assert kinds(" \t\r\n# all gone") == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("let a = 1", "1:10: expected ';', found the end"),
        ("let = 1;", "1:5: expected a name, found ="),
        ("\n  let a 1;", "2:9: expected '=', found 1"),
        ("let a = ;", "1:9: expected a number, a text, 'true', 'false', '(' or a name, found ;"),
        ("rule r when true do ;", "1:21: expected a name, found ;"),
        ("let a = 1; 7", "1:12: expected the end, found 7"),
        ("let a = 1 % 2;", "1:11: '%' has no meaning here"),
        ('let a = "b;', "1:9: '\"' has no meaning here"),
    ],
)
def test_faults_say_where_and_what(source, message):
    with pytest.raises(SyntaxFault) as caught:
        parse(source)
    assert str(caught.value) == message


def test_the_end_does_not_run_away():
    parser = Parser("")
    assert parser.advance() == parser.advance()
    assert parser.place == (1, 1)
