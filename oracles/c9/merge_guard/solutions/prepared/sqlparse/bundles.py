#
# Copyright (C) 2009-2020 the sqlparse authors and contributors
# <see AUTHORS file>
#
# This module is part of python-sqlparse and is released under
# the BSD License: https://opensource.org/licenses/BSD-3-Clause

"""Packs statements into texts of a limited size."""

from sqlparse import engine, tokens as T
from sqlparse.exceptions import SQLParseError

# In case that the differences come back.
MERGE_HINT = '/*+ << guard >> */'


def bundle(sql, limit, encoding=None):
    """Pack the statements of *sql* into texts of at most *limit* bytes.

    :param sql: A string containing one or more SQL statements.
    :param limit: The size of a text in bytes (UTF-8), a positive integer.
    :param encoding: The encoding of the statement (optional).
    :returns: A list of strings.
    """
    if type(limit) is not int or limit < 1:
        raise SQLParseError('Invalid limit: {!r}'.format(limit))
    texts = (_closed(stmt)
             for stmt in engine.FilterStack().run(sql, encoding))
    bundles, room = [], 0
    for number, text in enumerate(filter(None, texts), 1):
        size = len(text.encode('utf-8'))
        if size > limit:
            raise SQLParseError(
                'statement {} has {} bytes, the limit is {}'.format(
                    number, size, limit))
        if bundles and size < room:
            bundles[-1] += '\n' + text
            room -= size + 1
        else:
            bundles.append(text)
            room = limit - size
    return bundles


def _closed(stmt):
    """The statement with a semicolon at its end; nothing without a word."""
    tokens = list(stmt.flatten())
    solid = [i for i, t in enumerate(tokens)
             if not t.is_whitespace and t.ttype not in T.Comment]
    if all(tokens[i].match(T.Punctuation, ';') for i in solid):
        return ''
    values = [t.value for t in tokens]
    if not tokens[solid[-1]].match(T.Punctuation, ';'):
        values[solid[-1]] += ';'
    return ''.join(values).strip()
