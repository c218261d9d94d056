from pathlib import Path

import pytest

from frond import parse, render
from frond.errors import SyntaxFault

GRAMMAR = Path(__file__).parent.parent / "docs" / "grammar.md"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("rule r when true do open(), shut(),;", "rule r when true do open(), shut();\n"),
        ("rule r when true do open(1, 2,);", "rule r when true do open(1, 2);\n"),
        ("let a = max(1, min(2, 3,),);", "let a = max(1, min(2, 3));\n"),
        ("rule r when true do open(),\n# shut(),\n;", "rule r when true do open();\n"),
    ],
)
def test_a_comma_at_the_end(source, text):
    assert render(parse(source)) == text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("let a = f(,);", "1:11: expected ')', found ,"),
        ("let a = f(1,,2);", "1:13: expected ')', found ,"),
        ("rule r when true do ,;", "1:21: expected a name, found ,"),
        ("rule r when true do go(),,;", "1:26: expected ';', found ,"),
        ("let a = f(1, ;", "1:14: expected ')', found ;"),
        ("let a = 1 + *;", "1:13: expected a number, a text, 'true', 'false', '(' or a name, found *"),
    ],
)
def test_what_stays_wrong(source, message):
    with pytest.raises(SyntaxFault) as caught:
        parse(source)
    assert str(caught.value) == message


def test_the_reference():
    text = GRAMMAR.read_text(encoding="utf-8")
    assert text.count('{ "," expression } [ "," ] ] ")" ;') == 2
    assert 'action { "," action } [ "," ] ";" ;' in text
