#
# Copyright (C) 2009-2020 the sqlparse authors and contributors
# <see AUTHORS file>
#
# This module is part of python-sqlparse and is released under
# the BSD License: https://opensource.org/licenses/BSD-3-Clause

"""Packs statements into texts of a limited size."""

from sqlparse import engine, tokens as T
from sqlparse.exceptions import SQLParseError
from sqlparse.sql import Token

# Keeps the warehouse from taking a cached plan for the one of our MERGE.
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
    stack = engine.FilterStack()
    stack.enable_grouping()  # the type of a statement needs it
    texts = (_closed(_guarded(stmt)) for stmt in stack.run(sql, encoding))
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


def _guarded(stmt):
    """The statement, with the hint behind the word MERGE if it is one."""
    if stmt.get_type() == 'MERGE':
        idx, _ = stmt.token_next_by(m=(T.DML, 'MERGE'))
        stmt.tokens[idx + 1:idx + 1] = [
            Token(T.Whitespace, ' '),
            Token(T.Comment.Multiline.Hint, MERGE_HINT)]
    return stmt
