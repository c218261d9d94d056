from frond import parse, render

TEST = "air > warm and wind < gust and not rain"


def show(source):
    text = render(parse(source))
    assert parse(text) == parse(source)
    return text.splitlines()


def test_a_long_rule():
    source = f'rule vent when {TEST} do open("roof", 25), note("venting the roof of house 3");'
    assert show(source) == [
        f"rule vent when {TEST} do",
        '    open("roof", 25),',
        '    note("venting the roof of house 3");',
    ]


def test_just_short_enough():
    source = f'rule vent when {TEST} do open("roof"), note("{"x" * 7}");'
    assert len(source) == 88
    assert show(source) == [source]
    assert len(show(source.replace("x", "xx", 1))) == 3


def test_a_single_action():
    source = f'rule vent when {TEST} and {TEST} do open("roof");'
    assert show(source) == [f"rule vent when {TEST} and {TEST} do", '    open("roof");']


def test_definitions_stay():
    source = f"let a = {' + '.join(['1234567'] * 12)};"
    assert show(source) == [source]
