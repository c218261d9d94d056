#
# Copyright (C) 2009-2020 the sqlparse authors and contributors
# <see AUTHORS file>
#
# This module is part of python-sqlparse and is released under
# the BSD License: https://opensource.org/licenses/BSD-3-Clause

"""Outlines of scripts: the label, the type and the line of each statement."""

import itertools

from sqlparse import engine, tokens as T
from sqlparse.exceptions import SQLParseError


def _label(number):
    return '<< stem >>:{:0<< width >>}'.format(<< first >> + << step >> * number)


def outline(sql, encoding=None):
    """Return a line for each statement: label, type and number of the line.

    :param sql: A string containing one or more SQL statements.
    :param encoding: The encoding of the statement (optional).
    """
    return ''.join('{} {} {}\n'.format(label, kind, line)
                   for label, kind, line, _ in _statements(sql, encoding))


def find(sql, label, encoding=None):
    """Return the text of the statement that has this label."""
    for found, _, _, text in _statements(sql, encoding):
        if found == label:
            return text
    raise SQLParseError('no statement is called {!r}'.format(label))


def _statements(sql, encoding):
    """Label, type, line and text of each statement."""
    stack = engine.FilterStack()
    stack.enable_grouping()  # the type of a statement needs it
    numbers, line = itertools.count(), 1
    for stmt in stack.run(sql, encoding):
        text = str(stmt)
        start = _start(stmt)
        if start is not None:
            yield (_label(line + text[:start].count('\n')), stmt.get_type(),
                   line + text[:start].count('\n'), text[start:].strip())
        line += text.count('\n')


def _start(stmt):
    """The offset of the first word, or None."""
    offset = 0
    for token in stmt.flatten():
        if not (token.is_whitespace or token.ttype in T.Comment
                or token.match(T.Punctuation, ';')):
            return offset
        offset += len(token.value)
