CLI = "sqlparse/cli.py"
SQL = "sqlparse/sql.py"
TOP = "sqlparse/__init__.py"
BUNDLES = "sqlparse/bundles.py"


def s1(work, notes):
    work.replace(
        CLI,
        "    parser.add_argument('filename')\n",
        "    parser.add_argument('filename', metavar='FILE', nargs='+')\n",
    )
    work.replace(
        CLI,
        "    if args.filename == '-':  # read from stdin\n"
        "        wrapper = TextIOWrapper(sys.stdin.buffer, encoding=args.encoding)\n"
        "        try:\n"
        "            data = wrapper.read()\n"
        "        finally:\n"
        "            wrapper.detach()\n"
        "    else:\n"
        "        try:\n"
        "            with open(args.filename, encoding=args.encoding) as f:\n"
        "                data = ''.join(f.readlines())\n"
        "        except OSError as e:\n"
        "            return _error(\n"
        "                'Failed to read {}: {}'.format(args.filename, e))\n",
        "    texts = []\n"
        "    for filename in args.filename:\n"
        "        try:\n"
        "            texts.append(_read(filename, args.encoding))\n"
        "        except OSError as e:\n"
        "            return _error('Failed to read {}: {}'.format(filename, e))\n",
    )
    work.replace(
        CLI,
        "    s = sqlparse.format(data, **formatter_opts)\n",
        "    results = [sqlparse.format(text, **formatter_opts) for text in texts]\n"
        "    s = ''.join(r if r.endswith('\\n') else r + '\\n' for r in results[:-1])\n"
        "    s += results[-1]\n",
    )
    work.replace(
        CLI,
        "def main(args=None):\n",
        "def _read(filename, encoding):\n"
        '    """The text of a file, or of stdin for "-"."""\n'
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


TYPE_OF = """\
        return _type_of(self.tokens)


def _type_of(tokens):
    \"\"\"The type of a statement of these tokens; one in parentheses has the
    type of what is in them.\"\"\"
    solid = [t for t in tokens
             if not t.is_whitespace and not imt(t, i=Comment, t=T.Comment)]
    if not solid:
        # An "empty" statement that either has not tokens at all
        # or only whitespace tokens.
        return 'UNKNOWN'

    token = solid[0]
    if token.is_group:
        in_parentheses = isinstance(token, Parenthesis)
        return _type_of(token.tokens[1:-1] if in_parentheses else token.tokens)

    elif token.ttype in (T.Keyword.DML, T.Keyword.DDL):
        return token.normalized

    elif token.ttype == T.Keyword.CTE:
        # The WITH keyword should be followed by either an Identifier or
        # an IdentifierList containing the CTE definitions;  the actual
        # DML keyword (e.g. SELECT, INSERT) will follow next.
        for token, next_ in zip(solid[1:], solid[2:]):
            if (isinstance(token, (Identifier, IdentifierList))
                    and next_.ttype == T.Keyword.DML):
                return next_.normalized

    # Hmm, probably invalid syntax, so return unknown.
    return 'UNKNOWN'
"""


def s2(work, notes):
    text = work.read(SQL)
    start = text.index("        token = self.token_first(skip_cm=True)\n        if token is None:\n")
    end = text.index("class Identifier(NameAliasMixin, TokenList):\n")
    work.write(SQL, text[:start] + TYPE_OF + "\n\n" + text[end:])


def s3(work, notes):
    guard = notes.recall("tag", about="guard hint for MERGE statements in bundles for the loader", path=BUNDLES)
    work.write(
        BUNDLES,
        "#\n"
        "# Copyright (C) 2009-2020 the sqlparse authors and contributors\n"
        "# <see AUTHORS file>\n"
        "#\n"
        "# This module is part of python-sqlparse and is released under\n"
        "# the BSD License: https://opensource.org/licenses/BSD-3-Clause\n"
        "\n"
        '"""Packs statements into texts of a limited size."""\n'
        "\n"
        "from sqlparse import engine, tokens as T\n"
        "from sqlparse.exceptions import SQLParseError\n"
        "\n\n"
        "def bundle(sql, limit, encoding=None):\n"
        '    """Pack the statements of *sql* into texts of at most *limit* bytes.\n'
        "\n"
        "    :param sql: A string containing one or more SQL statements.\n"
        "    :param limit: The size of a text in bytes (UTF-8), a positive integer.\n"
        "    :param encoding: The encoding of the statement (optional).\n"
        "    :returns: A list of strings.\n"
        '    """\n'
        "    if type(limit) is not int or limit < 1:\n"
        "        raise SQLParseError('Invalid limit: {!r}'.format(limit))\n"
        "    texts = (_closed(stmt)\n"
        "             for stmt in engine.FilterStack().run(sql, encoding))\n"
        "    bundles, room = [], 0\n"
        "    for number, text in enumerate(filter(None, texts), 1):\n"
        "        size = len(text.encode('utf-8'))\n"
        "        if size > limit:\n"
        "            raise SQLParseError(\n"
        "                'statement {} has {} bytes, the limit is {}'.format(\n"
        "                    number, size, limit))\n"
        "        if bundles and size < room:\n"
        "            bundles[-1] += '\\n' + text\n"
        "            room -= size + 1\n"
        "        else:\n"
        "            bundles.append(text)\n"
        "            room = limit - size\n"
        "    return bundles\n"
        "\n\n"
        "def _closed(stmt):\n"
        '    """The statement with a semicolon at its end; nothing without a word."""\n'
        "    tokens = list(stmt.flatten())\n"
        "    solid = [i for i, t in enumerate(tokens)\n"
        "             if not t.is_whitespace and t.ttype not in T.Comment]\n"
        "    if all(tokens[i].match(T.Punctuation, ';') for i in solid):\n"
        "        return ''\n"
        "    values = [t.value for t in tokens]\n"
        "    if not tokens[solid[-1]].match(T.Punctuation, ';'):\n"
        "        values[solid[-1]] += ';'\n"
        "    return ''.join(values).strip()\n",
    )
    if guard:
        write_guard(work, guard)
    work.replace(
        TOP,
        "from sqlparse import formatter\n",
        "from sqlparse import formatter\nfrom sqlparse.bundles import bundle\n",
    )
    work.replace(
        TOP,
        "__all__ = ['engine', 'filters', 'formatter', 'sql', 'tokens', 'cli']\n",
        "__all__ = ['bundle', 'engine', 'filters', 'formatter', 'sql', 'tokens', 'cli']\n",
    )
    work.insert_after(
        CLI,
        "        help='write output to FILE (defaults to stdout)')\n",
        "\n"
        "    parser.add_argument(\n"
        "        '--bundle',\n"
        "        dest='bundle',\n"
        "        metavar='N',\n"
        "        type=int,\n"
        "        help='write bundles of at most N bytes, a line GO after each')\n",
    )
    work.insert_after(
        CLI,
        "    s += results[-1]\n",
        "    if args.bundle is not None:\n"
        "        try:\n"
        "            bundles = sqlparse.bundle(s, args.bundle)\n"
        "        except SQLParseError as e:\n"
        "            return _error('Cannot bundle: {}'.format(e))\n"
        "        s = ''.join('{}\\nGO\\n'.format(text) for text in bundles)\n",
    )


def write_guard(work, guard):
    work.insert_after(
        BUNDLES,
        "from sqlparse.exceptions import SQLParseError\n",
        "from sqlparse.sql import Token\n"
        "\n"
        "# Keeps the warehouse from taking a cached plan for the one of our MERGE.\n"
        f"MERGE_HINT = '/*+ {guard} */'\n",
    )
    work.replace(
        BUNDLES,
        "    texts = (_closed(stmt)\n"
        "             for stmt in engine.FilterStack().run(sql, encoding))\n",
        "    stack = engine.FilterStack()\n"
        "    stack.enable_grouping()  # the type of a statement needs it\n"
        "    texts = (_closed(_guarded(stmt)) for stmt in stack.run(sql, encoding))\n",
    )
    work.append(
        BUNDLES,
        "\n\n"
        "def _guarded(stmt):\n"
        '    """The statement, with the hint behind the word MERGE if it is one."""\n'
        "    if stmt.get_type() == 'MERGE':\n"
        "        idx, _ = stmt.token_next_by(m=(T.DML, 'MERGE'))\n"
        "        stmt.tokens[idx + 1:idx + 1] = [\n"
        "            Token(T.Whitespace, ' '),\n"
        "            Token(T.Comment.Multiline.Hint, MERGE_HINT)]\n"
        "    return stmt\n",
    )
