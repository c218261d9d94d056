#
# Copyright (C) 2009-2020 the sqlparse authors and contributors
# <see AUTHORS file>
#
# This module is part of python-sqlparse and is released under
# the BSD License: https://opensource.org/licenses/BSD-3-Clause

"""What a script weighs, and the queue of the scheduler that it waits in."""

import sqlparse
from sqlparse import tokens as T

#: Points of a statement by its kind, as the scheduler has them.
POINTS = {
    'SELECT': << select >>,
    'INSERT': << insert >>,
    'UPDATE': << update >>,
    'DELETE': << delete >>,
}
REST = 1

HEAVY_FROM = << limit >>
HEAVY_QUEUE = '<< draft_queue >>'
QUEUE = 'day'


def weigh(sql, encoding=None):
    """Return the weight of a script and the name of its queue.

    :param sql: A string containing one or more SQL statements.
    :param encoding: The encoding of the statement (optional).
    :returns: A tuple of an integer and a string.
    """
    kinds = [_kind(stmt) for stmt in sqlparse.parse(sql, encoding)
             if _has_words(stmt)]
    weight = _weight(kinds) if kinds else 0
    return weight, HEAVY_QUEUE if weight >= HEAVY_FROM else QUEUE


def _weight(kinds):
    points = [POINTS.get(kind, REST) for kind in kinds]
    return << {'greatest': 'max(points)', 'greatest-two': 'sum(sorted(points)[-2:])', 'first-and-last': 'points[0] + (points[-1] if len(points) > 1 else 0)', 'each-kind-once': 'sum(POINTS.get(kind, REST) for kind in set(kinds))', 'greatest-neighbours': 'max(sum(points[n:n + 2]) for n in range(len(points)))'}[way] >>


def _kind(stmt):
    kind = stmt.get_type()
    return kind if kind in POINTS else 'REST'


def _has_words(stmt):
    return any(not token.is_whitespace and token.ttype not in T.Comment
               and not token.match(T.Punctuation, ';')
               for token in stmt.flatten())
