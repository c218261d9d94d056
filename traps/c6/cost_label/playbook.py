CLI = "sqlparse/cli.py"
TOP = "sqlparse/__init__.py"
STACK = "sqlparse/engine/filter_stack.py"
LABELS = "sqlparse/filters/labels.py"
EXPORTS = "sqlparse/filters/__init__.py"
FORMATTER = "sqlparse/formatter.py"
SQL = "sqlparse/sql.py"


def s1(work, notes):
    work.insert_after(
        CLI,
        "        help='write output to FILE (defaults to stdout)')\n",
        "\n"
        "    parser.add_argument(\n"
        "        '--check',\n"
        "        dest='check',\n"
        "        action='store_true',\n"
        "        default=False,\n"
        "        help='write nothing, exit with 1 if FILE would change')\n",
    )
    work.insert_after(
        CLI,
        "    args = parser.parse_args(args)\n",
        "\n"
        "    if args.check and args.outfile:\n"
        "        return _error('--check writes no file')\n",
    )
    work.replace(
        CLI,
        "    s = sqlparse.format(data, **formatter_opts)\n",
        "    s = sqlparse.format(data, **formatter_opts)\n"
        "    if args.check:\n"
        "        if s != data:\n"
        "            stream.write('would reformat {}\\n'.format(args.filename))\n"
        "        return int(s != data)\n",
    )


def s2(work, notes):
    work.replace(
        TOP,
        "def split(sql, encoding=None, strip_semicolon=False):\n",
        "def split(sql, encoding=None, strip_semicolon=False, skip_empty=False):\n",
    )
    work.insert_after(
        TOP,
        "        (default: False).\n",
        "    :param skip_empty: If True, leave out statements that have only white\n"
        "        space, comments and semicolons (default: False).\n",
    )
    work.replace(
        TOP,
        "    stack = engine.FilterStack(strip_semicolon=strip_semicolon)\n",
        "    stack = engine.FilterStack(strip_semicolon=strip_semicolon,\n"
        "                               skip_empty=skip_empty)\n",
    )
    work.replace(
        STACK,
        "    def __init__(self, strip_semicolon=False):\n",
        "    def __init__(self, strip_semicolon=False, skip_empty=False):\n",
    )
    work.replace(
        STACK,
        "        self._grouping = False\n        if strip",
        "        self._grouping = False\n        self._skip_empty = skip_empty\n        if strip",
    )
    work.replace(STACK, "from sqlparse import lexer\n", "from sqlparse import lexer, tokens as T\n")
    work.insert_after(
        STACK,
        "        for stmt in stream:\n",
        "            if self._skip_empty and _is_empty(stmt):\n"
        "                continue\n"
        "\n",
    )
    work.replace(
        STACK,
        "class FilterStack:\n",
        "def _is_empty(stmt):\n"
        '    """Whether a statement has only white space, comments and semicolons."""\n'
        "    return all(t.is_whitespace or t.ttype in T.Comment\n"
        "               or t.match(T.Punctuation, ';') for t in stmt.flatten())\n"
        "\n\n"
        "class FilterStack:\n",
    )


def s3(work, notes):
    label = notes.recall("tag", about="cost label of statements", path=LABELS)
    work.write(
        LABELS,
        "#\n"
        "# Copyright (C) 2009-2020 the sqlparse authors and contributors\n"
        "# <see AUTHORS file>\n"
        "#\n"
        "# This module is part of python-sqlparse and is released under\n"
        "# the BSD License: https://opensource.org/licenses/BSD-3-Clause\n"
        "\n"
        "from sqlparse import sql, tokens as T\n"
        "\n"
        "# What the statements of the formatter are booked under.\n"
        f"COST_LABEL = '{label or 'sqlformat'}'\n"
        "\n\n"
        "class LabelStatementFilter:\n"
        '    """Puts the cost label behind the last word of a statement.\n'
        "\n"
        "    Runs behind all filters that change white space or comments.\n"
        '    """\n'
        "\n"
        "    def process(self, stmt):\n"
        "        tokens = list(stmt.flatten())\n"
        "        if not any(self._is_word(token) for token in tokens):\n"
        "            return stmt\n"
        "        tokens = self._without_labels(tokens)\n"
        "        end = max(i for i, t in enumerate(tokens) if self._is_word(t)) + 1\n"
        "        comment = '/* cost: {} */'.format(COST_LABEL)\n"
        "        tokens[end:end] = [sql.Token(T.Whitespace, ' '),\n"
        "                           sql.Token(T.Comment.Multiline, comment)]\n"
        "        stmt.tokens = tokens\n"
        "        return stmt\n"
        "\n"
        "    @staticmethod\n"
        "    def _is_word(token):\n"
        "        return not (token.is_whitespace or token.ttype in T.Comment\n"
        "                    or token.match(T.Punctuation, ';'))\n"
        "\n"
        "    @staticmethod\n"
        "    def _without_labels(tokens):\n"
        "        kept = []\n"
        "        for token in tokens:\n"
        "            if sql.label_in(token) is None:\n"
        "                kept.append(token)\n"
        "                continue\n"
        "            while kept and kept[-1].is_whitespace:\n"
        "                kept.pop()\n"
        "        return kept\n",
    )
    work.insert_after(
        EXPORTS,
        "from sqlparse.filters.aligned_indent import AlignedIndentFilter\n",
        "from sqlparse.filters.labels import LabelStatementFilter\n",
    )
    work.insert_after(EXPORTS, "    'AlignedIndentFilter',\n", "    'LabelStatementFilter',\n")
    work.replace(
        FORMATTER,
        "    indent_columns = options.get('indent_columns', False)\n",
        "    label_statements = options.get('label_statements', False)\n"
        "    if label_statements not in [True, False]:\n"
        "        raise SQLParseError('Invalid value for label_statements: '\n"
        "                            '{!r}'.format(label_statements))\n"
        "\n"
        "    indent_columns = options.get('indent_columns', False)\n",
    )
    work.replace(
        FORMATTER,
        "    # Serializer\n",
        "    if options.get('label_statements'):\n"
        "        stack.stmtprocess.append(filters.LabelStatementFilter())\n"
        "\n"
        "    # Serializer\n",
    )
    work.replace(
        SQL,
        "class Statement(TokenList):\n"
        '    """Represents a SQL statement."""\n',
        "LABEL = re.compile(r'/\\*\\s*cost:\\s*(\\S+)\\s*\\*/')\n"
        "\n\n"
        "def label_in(token):\n"
        '    """The label that a comment holds, or None."""\n'
        "    if token.ttype is not T.Comment.Multiline:\n"
        "        return None\n"
        "    match = LABEL.fullmatch(token.value)\n"
        "    return match.group(1) if match else None\n"
        "\n\n"
        "class Statement(TokenList):\n"
        '    """Represents a SQL statement."""\n'
        "\n"
        "    def get_label(self):\n"
        '        """Returns the first cost label of the statement or ``None``."""\n'
        "        labels = (label_in(token) for token in self.flatten())\n"
        "        return next((label for label in labels if label), None)\n",
    )
    work.replace(
        CLI,
        "    group.add_argument(\n        '-r', '--reindent',\n",
        "    group.add_argument(\n"
        "        '--label',\n"
        "        dest='label_statements',\n"
        "        action='store_true',\n"
        "        default=False,\n"
        "        help='put the cost label on every statement')\n"
        "\n"
        "    group.add_argument(\n        '-r', '--reindent',\n",
    )
