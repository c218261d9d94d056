"""Shortened strings, quoted names, weights of scripts."""

TOKENS = "sqlparse/filters/tokens.py"
UTILS = "sqlparse/utils.py"
CLI = "sqlparse/cli.py"
TOP = "sqlparse/__init__.py"
WEIGHTS = "sqlparse/weights.py"

#: How a way of the manual is worked out from (kind, points) of each statement.
WAYS = {
    "total": "sum(points)",
    "greatest": "max(points)",
    "greatest-two": "sum(sorted(points)[-2:])",
    "first-and-last": "points[0] + (points[-1] if len(points) > 1 else 0)",
    "each-kind-once": "sum(POINTS.get(kind, REST) for kind in set(kinds))",
    "greatest-neighbours": "max(sum(points[n:n + 2]) for n in range(len(points)))",
}

MODULE = '''#
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
    'SELECT': @SELECT@,
    'INSERT': @INSERT@,
    'UPDATE': @UPDATE@,
    'DELETE': @DELETE@,
}
REST = 1

HEAVY_FROM = @LIMIT@
HEAVY_QUEUE = '@QUEUE@'
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
    return @WAY@


def _kind(stmt):
    kind = stmt.get_type()
    return kind if kind in POINTS else 'REST'


def _has_words(stmt):
    return any(not token.is_whitespace and token.ttype not in T.Comment
               and not token.match(T.Punctuation, ';')
               for token in stmt.flatten())
'''


def s1(work, notes):
    work.replace(
        TOKENS,
        "                value = ''.join((quote, inner[:self.width], self.char, quote))\n",
        "                value = ''.join((quote, self._cut(inner), self.char, quote))\n",
    )
    work.append(
        TOKENS,
        "\n"
        "    def _cut(self, inner):\n"
        '        """The first characters; an escaped quote is whole or not there."""\n'
        "        end = 0\n"
        "        while end < self.width:\n"
        '            step = 2 if inner[end:end + 2] in ("\'\'", "\\\\\'") else 1\n'
        "            if end + step > self.width:\n"
        "                break\n"
        "            end += step\n"
        "        return inner[:end]\n",
    )


def s2(work, notes):
    work.replace(
        UTILS,
        "    if val[0] in ('\"', \"'\", '`') and val[0] == val[-1]:\n        val = val[1:-1]\n",
        "    if len(val) > 1 and val[0] in ('\"', \"'\", '`') and val[0] == val[-1]:\n"
        "        quote = val[0]\n"
        "        val = val[1:-1].replace(quote * 2, quote)\n",
    )


def s3(work, notes):
    way = notes.recall("word", about="weight of a script from its statements", path=WEIGHTS)
    found = {
        "@SELECT@": notes.recall("count", about="SELECT points script", path=WEIGHTS),
        "@INSERT@": notes.recall("count", about="INSERT points script", path=WEIGHTS),
        "@UPDATE@": notes.recall("count", about="UPDATE points script", path=WEIGHTS),
        "@DELETE@": notes.recall("count", about="DELETE points script", path=WEIGHTS),
        "@LIMIT@": notes.recall("count", about="heavy script from points on", path=WEIGHTS),
        "@QUEUE@": notes.recall("tag", about="queue of heavy scripts", path=WEIGHTS),
    }
    plain = {"@SELECT@": "1", "@INSERT@": "2", "@UPDATE@": "3", "@DELETE@": "3", "@LIMIT@": "100", "@QUEUE@": "night"}
    text = MODULE.replace("@WAY@", WAYS.get(way, WAYS["total"]))
    for slot, value in found.items():
        text = text.replace(slot, value or plain[slot])
    work.write(WEIGHTS, text)
    work.append(TOP, "\n\nfrom sqlparse.weights import weigh  # noqa: E402  (needs parse)\n")
    work.replace(
        TOP,
        "__all__ = ['engine', 'filters', 'formatter', 'sql', 'tokens', 'cli']\n",
        "__all__ = ['engine', 'filters', 'formatter', 'sql', 'tokens', 'cli',\n           'weigh']\n",
    )
    work.replace(
        CLI,
        "    parser.add_argument(\n        '--version',\n",
        "    parser.add_argument(\n"
        "        '--weigh',\n"
        "        action='store_true',\n"
        "        default=False,\n"
        "        help='print weight and queue instead of the formatted text')\n"
        "\n"
        "    parser.add_argument(\n        '--version',\n",
    )
    work.replace(
        CLI,
        "    s = sqlparse.format(data, **formatter_opts)\n",
        "    if args.weigh:\n"
        "        s = '{} {}\\n'.format(*sqlparse.weigh(data))\n"
        "    else:\n"
        "        s = sqlparse.format(data, **formatter_opts)\n",
    )
