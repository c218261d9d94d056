OTHERS = "sqlparse/filters/others.py"
FILTERS = "sqlparse/filters/tokens.py"
EXPORTS = "sqlparse/filters/__init__.py"
FORMATTER = "sqlparse/formatter.py"
CLI = "sqlparse/cli.py"
TOP = "sqlparse/__init__.py"


def s1(work, notes):
    work.replace(
        OTHERS,
        "        def get_next_comment():\n"
        "            # TODO(andi) Comment types should be unified, see related issue38\n"
        "            return tlist.token_next_by(i=sql.Comment, t=T.Comment)\n",
        "        def get_next_comment(idx=-1):\n"
        "            # TODO(andi) Comment types should be unified, see related issue38\n"
        "            tidx, token = tlist.token_next_by(i=sql.Comment, t=T.Comment,\n"
        "                                              idx=idx)\n"
        "            while token and _is_hint(token):\n"
        "                tidx, token = tlist.token_next_by(\n"
        "                    i=sql.Comment, t=T.Comment, idx=tidx)\n"
        "            return tidx, token\n"
        "\n"
        "        def _is_hint(token):\n"
        "            # A group of comments is looked into before it is reached here,\n"
        "            # so what is left of it may be hints and white space.\n"
        "            parts = [t for t in token.flatten() if not t.is_whitespace]\n"
        "            return bool(parts) and all(\n"
        "                t.ttype in (T.Comment.Single.Hint, T.Comment.Multiline.Hint)\n"
        "                for t in parts)\n",
    )


def s2(work, notes):
    work.replace(
        CLI,
        "    group.add_argument(\n        '-r', '--reindent',\n",
        "    group.add_argument(\n"
        "        '--truncate-strings',\n"
        "        dest='truncate_strings',\n"
        "        metavar='N',\n"
        "        help='cut strings that are longer than N characters')\n"
        "\n"
        "    group.add_argument(\n"
        "        '--truncate-char',\n"
        "        dest='truncate_char',\n"
        "        metavar='TEXT',\n"
        "        default='[...]',\n"
        "        help='what stands for the rest of a cut string '\n"
        "             '(defaults to \"[...]\")')\n"
        "\n"
        "    group.add_argument(\n        '-r', '--reindent',\n",
    )


def s3(work, notes):
    mask = notes.recall("tag", about="mask for literals in logged statements", path=FILTERS)
    work.replace(
        FILTERS,
        "from sqlparse import tokens as T\n",
        "from sqlparse import tokens as T\n"
        "\n"
        "# What the readers of our logs look for between the quotes of a string.\n"
        f"LITERAL_MASK = '{mask or 'masked'}'\n",
    )
    work.append(
        FILTERS,
        "\n\n"
        "class MaskLiteralsFilter:\n"
        '    """Replaces strings and numbers, so that only the shape is left."""\n'
        "\n"
        "    def process(self, stream):\n"
        "        for ttype, value in stream:\n"
        "            if ttype in T.String.Single or ttype is T.Literal:\n"
        "                value = \"'{}'\".format(LITERAL_MASK)\n"
        "            elif ttype in T.Number:\n"
        "                value = '-0' if value.startswith('-') else '0'\n"
        "            yield ttype, value\n",
    )
    work.insert_after(
        EXPORTS,
        "from sqlparse.filters.tokens import TruncateStringFilter\n",
        "from sqlparse.filters.tokens import MaskLiteralsFilter\n",
    )
    work.insert_after(EXPORTS, "    'TruncateStringFilter',\n", "    'MaskLiteralsFilter',\n")
    work.replace(
        FORMATTER,
        "    indent_columns = options.get('indent_columns', False)\n",
        "    mask_literals = options.get('mask_literals', False)\n"
        "    if mask_literals not in [True, False]:\n"
        "        raise SQLParseError('Invalid value for mask_literals: '\n"
        "                            '{!r}'.format(mask_literals))\n"
        "\n"
        "    indent_columns = options.get('indent_columns', False)\n",
    )
    work.replace(
        FORMATTER,
        "    if options.get('use_space_around_operators', False):\n",
        "    if options.get('mask_literals'):  # behind the cut, so that no mask is cut\n"
        "        stack.preprocess.append(filters.MaskLiteralsFilter())\n"
        "\n"
        "    if options.get('use_space_around_operators', False):\n",
    )
    work.replace(
        CLI,
        "    group.add_argument(\n        '-r', '--reindent',\n",
        "    group.add_argument(\n"
        "        '--mask-literals',\n"
        "        dest='mask_literals',\n"
        "        action='store_true',\n"
        "        default=False,\n"
        "        help='replace strings and numbers')\n"
        "\n"
        "    group.add_argument(\n        '-r', '--reindent',\n",
    )
    work.append(
        TOP,
        "\n\n"
        "def fingerprint(sql, encoding=None):\n"
        '    """A form of *sql* in which statements that differ in literals are equal.\n'
        "\n"
        "    :param sql: A string containing one or more SQL statements.\n"
        "    :param encoding: The encoding of the statement (optional).\n"
        "    :returns: One line, statements joined with a semicolon and a blank.\n"
        '    """\n'
        "    masked = format(sql, encoding, keyword_case='upper', strip_comments=True,\n"
        "                    strip_whitespace=True, mask_literals=True)\n"
        "    parts = [' '.join(part.split())\n"
        "             for part in split(masked, strip_semicolon=True)]\n"
        "    return '; '.join(part for part in parts if part)\n",
    )
