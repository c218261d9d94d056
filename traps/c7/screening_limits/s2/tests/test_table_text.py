from boltons.tableutils import Table


def text(table, **kwargs):
    return table.to_text(**kwargs).split('\n')


def test_columns_line_up():
    table = Table([['oak', 36], ['hornbeam', 7]], headers=['tree', 'age'])
    assert text(table) == [
        '  tree   | age',
        '---------|----',
        '  oak    |  36',
        'hornbeam |  7 ',
    ]


def test_headers_are_texts():
    lines = text(Table([[1, 2]], headers=[2024, None]))
    assert lines[0] == '2024 | None'


def test_maxlen_holds_for_headers():
    lines = text(Table([['oak', 1]], headers=['name of the tree', 'n']), maxlen=8)
    assert lines[0] == 'name ... | n'
    assert {len(line) for line in lines} == {12}


def test_no_headers():
    assert text(Table([['oak', 36], ['ash', 4]], headers=None)) == ['oak | 36', 'ash | 4 ']


def test_fewer_headers():
    table = Table([['oak', 36]], headers=None)
    table.headers = ['tree']
    lines = text(table)
    assert lines[0].startswith('tree | ')
    assert len({len(line) for line in lines}) == 1


def test_without_the_header_lines():
    table = Table([['oak', 36]], headers=['tree of the year', 'age'])
    assert text(table, with_headers=False) == ['oak | 36']
