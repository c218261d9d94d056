"""Snippets, capitals for types, outlines."""

OUTPUT = "sqlparse/filters/output.py"
TOKENS = "sqlparse/filters/tokens.py"
EXPORTS = "sqlparse/filters/__init__.py"
FORMATTER = "sqlparse/formatter.py"
CLI = "sqlparse/cli.py"
TOP = "sqlparse/__init__.py"
OUTLINES = "sqlparse/outlines.py"

MODULE = '''#
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
    return @LABEL@


def outline(sql, encoding=None):
    """Return a line for each statement: label, type and number of the line.

    :param sql: A string containing one or more SQL statements.
    :param encoding: The encoding of the statement (optional).
    """
    return ''.join('{} {} {}\\n'.format(label, kind, line)
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
            yield (_label(next(numbers)), stmt.get_type(),
                   line + text[:start].count('\\n'), text[start:].strip())
        line += text.count('\\n')


def _start(stmt):
    """The offset of the first word, or None."""
    offset = 0
    for token in stmt.flatten():
        if not (token.is_whitespace or token.ttype in T.Comment
                or token.match(T.Punctuation, ';')):
            return offset
        offset += len(token.value)
'''


def s1(work, notes):
    work.replace(
        OUTPUT,
        "            elif \"'\" in token.value:\n"
        "                token.value = token.value.replace(\"'\", \"\\\\'\")\n",
        "            else:\n"
        "                token.value = token.value.replace('\\\\', '\\\\\\\\')\n"
        "                token.value = token.value.replace(\"'\", \"\\\\'\")\n",
    )
    work.replace(
        OUTPUT,
        "            elif '\"' in token.value:\n"
        "                token.value = token.value.replace('\"', '\\\\\"')\n",
        "            else:\n"
        "                for char in '\\\\\"$':\n"
        "                    token.value = token.value.replace(char, '\\\\' + char)\n",
    )


def s2(work, notes):
    work.replace(
        TOKENS,
        "class IdentifierCaseFilter(_CaseFilter):\n",
        "class TypeCaseFilter(_CaseFilter):\n    ttype = T.Name.Builtin\n\n\nclass IdentifierCaseFilter(_CaseFilter):\n",
    )
    work.replace(
        EXPORTS,
        "from sqlparse.filters.tokens import TruncateStringFilter\n",
        "from sqlparse.filters.tokens import TruncateStringFilter\nfrom sqlparse.filters.tokens import TypeCaseFilter\n",
    )
    work.replace(EXPORTS, "    'TruncateStringFilter',\n", "    'TruncateStringFilter',\n    'TypeCaseFilter',\n")
    work.replace(
        FORMATTER,
        "    ofrmt = options.get('output_format')\n",
        "    type_case = options.get('type_case')\n"
        "    if type_case not in [None, 'upper', 'lower', 'capitalize']:\n"
        "        raise SQLParseError('Invalid value for type_case: '\n"
        "                            '{!r}'.format(type_case))\n"
        "\n"
        "    ofrmt = options.get('output_format')\n",
    )
    work.replace(
        FORMATTER,
        "    if options.get('truncate_strings'):\n",
        "    if options.get('type_case'):\n"
        "        stack.preprocess.append(\n"
        "            filters.TypeCaseFilter(options['type_case']))\n"
        "\n"
        "    if options.get('truncate_strings'):\n",
    )


def s3(work, notes):
    stem = notes.recall("dotted", about="stem of a label", path=OUTLINES)
    first = notes.recall("count", about="number of the first statement label", path=OUTLINES)
    step = notes.recall("count", about="label further higher step", path=OUTLINES)
    width = notes.recall("count", about="label number filled zeros digits", path=OUTLINES)
    if stem and first and step and width:
        label = f"'{stem}:{{:0{width}}}'.format({first} + {step} * number)"
    else:
        label = "'stmt:{}'.format(number + 1)"
    work.write(OUTLINES, MODULE.replace("@LABEL@", label))
    work.insert_after(TOP, "from sqlparse import formatter\n", "from sqlparse.outlines import find, outline\n")
    work.replace(
        TOP,
        "__all__ = ['engine', 'filters', 'formatter', 'sql', 'tokens', 'cli']\n",
        "__all__ = ['engine', 'filters', 'formatter', 'sql', 'tokens', 'cli',\n           'find', 'outline']\n",
    )
    work.replace(
        CLI,
        "    parser.add_argument(\n        '--version',\n",
        "    parser.add_argument(\n"
        "        '--outline',\n"
        "        action='store_true',\n"
        "        default=False,\n"
        "        help='print an outline instead of the formatted text')\n"
        "\n"
        "    parser.add_argument(\n        '--version',\n",
    )
    work.replace(
        CLI,
        "    s = sqlparse.format(data, **formatter_opts)\n",
        "    if args.outline:\n"
        "        s = sqlparse.outline(data)\n"
        "    else:\n"
        "        s = sqlparse.format(data, **formatter_opts)\n",
    )
