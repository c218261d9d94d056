"""Quoted names, encodings, windows for statements that change the schema."""

TOKENS = "sqlparse/filters/tokens.py"
CLI = "sqlparse/cli.py"
TOP = "sqlparse/__init__.py"
WINDOWS = "sqlparse/windows.py"

MODULE = '''#
# Copyright (C) 2009-2020 the sqlparse authors and contributors
# <see AUTHORS file>
#
# This module is part of python-sqlparse and is released under
# the BSD License: https://opensource.org/licenses/BSD-3-Clause

"""Puts statements that change the schema into windows of the gateway."""

import itertools

from sqlparse import engine, tokens as T
from sqlparse.exceptions import SQLParseError

PERMIT = '@PERMIT@'


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
    return ''.join(line + '\\n' for line in lines)


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
'''


def s1(work, notes):
    work.replace(
        TOKENS,
        "            if ttype in self.ttype and value.strip()[0] != '\"':\n",
        "            if ttype in self.ttype and value.strip()[0] not in '\"`[':\n",
    )


def s2(work, notes):
    text = work.read(CLI)
    start = text.index("    if args.filename == '-':  # read from stdin\n")
    end = text.index("    close_stream = False\n")
    work.replace(
        CLI,
        text[start:end],
        "    try:\n"
        "        data = _read(args.filename, args.encoding)\n"
        "    except LookupError:\n"
        "        return _error('Unknown encoding: {}'.format(args.encoding))\n"
        "    except UnicodeDecodeError:\n"
        "        return _error('{} is not written in {}'.format(\n"
        "            args.filename, args.encoding))\n"
        "    except OSError as e:\n"
        "        return _error(\n"
        "            'Failed to read {}: {}'.format(args.filename, e))\n"
        "\n",
    )
    work.replace(
        CLI,
        "def main(args=None):\n",
        "def _read(filename, encoding):\n"
        '    """Return the text of a file, or of stdin for "-"."""\n'
        "    if filename != '-':\n"
        "        with open(filename, encoding=encoding) as f:\n"
        "            return ''.join(f.readlines())\n"
        "    wrapper = TextIOWrapper(sys.stdin.buffer, encoding=encoding)\n"
        "    try:\n"
        "        return wrapper.read()\n"
        "    finally:\n"
        "        wrapper.detach()\n"
        "\n\n"
        "def main(args=None):\n",
    )


def s3(work, notes):
    permit = notes.recall("tag", about="permit for windows of the formatter", path=WINDOWS)
    work.write(WINDOWS, MODULE.replace("@PERMIT@", permit or "formatter"))
    work.insert_after(TOP, "from sqlparse import formatter\n", "from sqlparse.windows import windowed\n")
    work.replace(
        TOP,
        "__all__ = ['engine', 'filters', 'formatter', 'sql', 'tokens', 'cli']\n",
        "__all__ = ['engine', 'filters', 'formatter', 'sql', 'tokens', 'cli',\n           'windowed']\n",
    )
    work.replace(
        CLI,
        "    parser.add_argument(\n        '--version',\n",
        "    parser.add_argument(\n"
        "        '--windows',\n"
        "        action='store_true',\n"
        "        default=False,\n"
        "        help='put statements that change the schema into windows')\n"
        "\n"
        "    parser.add_argument(\n        '--version',\n",
    )
    work.replace(
        CLI,
        "    s = sqlparse.format(data, **formatter_opts)\n",
        "    s = sqlparse.format(data, **formatter_opts)\n"
        "    if args.windows:\n"
        "        try:\n"
        "            s = sqlparse.windowed(s)\n"
        "        except SQLParseError as e:\n"
        "            return _error('No windows: {}'.format(e))\n",
    )
