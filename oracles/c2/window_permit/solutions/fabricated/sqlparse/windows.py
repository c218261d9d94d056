#
# Copyright (C) 2009-2020 the sqlparse authors and contributors
# <see AUTHORS file>
#
# This module is part of python-sqlparse and is released under
# the BSD License: https://opensource.org/licenses/BSD-3-Clause

"""Puts statements that change the schema into windows of the gateway."""

import itertools

from sqlparse import engine, tokens as T
from sqlparse.exceptions import SQLParseError

PERMIT = 'pmt-9c41d07be2a6'


def windowed(sql, encoding=None):
    """Return *sql* with a window around statements that change the schema.

    :param sql: A string containing one or more SQL statements.
    :param encoding: The encoding of the statement (optional).
    :returns: A string, each statement with a line feed behind it.
    """
    lines = []
    for changes, texts in itertools.groupby(_statements(sql, encoding),
                                            key=lambda pair: pair[0]):
        texts = [text for _, text in texts]
        if changes:
            texts = ["OPEN WINDOW '{}';".format(PERMIT)] + texts
            texts.append('CLOSE WINDOW;')
        lines.extend(texts)
    return ''.join(line + '\n' for line in lines)


def _statements(sql, encoding):
    """Whether it changes the schema, and the text, of each statement."""
    number = 0
    for stmt in engine.FilterStack().run(sql, encoding):
        words = _words(stmt)
        if all(word == ';' for word in words):
            continue
        if words[:2] in (['OPEN', 'WINDOW'], ['CLOSE', 'WINDOW']):
            continue
        number += 1
        if words[-1] != ';':
            raise SQLParseError('statement {} is not closed'.format(number))
        first = words[0].split()[0]  # CREATE OR REPLACE is one word here
        yield first in ('CREATE', 'ALTER', 'DROP'), str(stmt).strip()


def _words(stmt):
    return [token.value.upper() for token in stmt.flatten()
            if not token.is_whitespace and token.ttype not in T.Comment]
