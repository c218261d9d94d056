import pytest

import sqlparse


@pytest.mark.parametrize('sql', ["select '\\d+'", "select '\\n'", "select 'it''s', \"a\\\\b\"", "select '$day', `$x`"])
def test_python_reads_the_query(sql):
    found = {}
    exec(sqlparse.format(sql, output_format='python'), found)
    assert found['sql'] == sql


@pytest.mark.parametrize('sql, text', [
    ("select '\\d+'", "$sql = \"select '\\\\d+'\";"),
    ("select '$day'", "$sql = \"select '\\$day'\";"),
    ('select "$a\\n"', '$sql = "select \\"\\$a\\\\n\\"";'),
    ('select 1', '$sql = "select 1";'),
])
def test_php(sql, text):
    assert sqlparse.format(sql, output_format='php') == text
