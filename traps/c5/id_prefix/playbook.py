"""Admonitions, scripts and ruby, and ids with a prefix."""

ADMONITION = "src/mistune/directives/admonition.py"
MARKDOWN = "src/mistune/renderers/markdown.py"
CORE = "src/mistune/core.py"
INIT = "src/mistune/__init__.py"
MAIN = "src/mistune/__main__.py"
TOC = "src/mistune/toc.py"
DIRECTIVE = "src/mistune/directives/toc.py"
FOOTNOTES = "src/mistune/plugins/footnotes.py"


def s1(work, notes):
    work.replace(
        ADMONITION,
        '            attrs["class"] = options["class"]\n\n        title',
        '            attrs["class"] = options["class"]\n'
        '        collapse = options.get("collapse")\n'
        '        if collapse not in (None, "", "open"):\n'
        '            raise ValueError("\\"collapse\\" option MUST be empty or open")\n'
        "        title_attrs = {}\n"
        "        if collapse is not None:\n"
        '            attrs["collapse"] = collapse or "closed"\n'
        '            title_attrs["tag"] = "summary"\n\n        title',
    )
    work.replace(
        ADMONITION,
        '                "text": title,\n',
        '                "text": title,\n                "attrs": title_attrs,\n',
    )
    text = work.read(ADMONITION)
    work.replace(
        ADMONITION,
        text[text.index("def render_admonition(self") : text.index("def render_admonition_content")],
        """def render_admonition(self: Any, text: str, name: str, **attrs: Any) -> str:
    collapse = attrs.get("collapse")
    tag = "details" if collapse else "section"
    html = "<" + tag + ' class="admonition ' + name
    _cls = attrs.get("class")
    if _cls:
        html += " " + escape_text(_cls)
    html += '" open>' if collapse == "open" else '">'
    return html + "\\n" + text + "</" + tag + ">\\n"


def render_admonition_title(self: Any, text: str, tag: str = "p") -> str:
    return "<" + tag + ' class="admonition-title">' + text + "</" + tag + ">\\n"


""",
    )


def s2(work, notes):
    work.replace(
        MARKDOWN,
        "    def link(self, token: Dict[str, Any], state: BlockState) -> str:\n",
        "    # Script and ruby plugins\n"
        "    def superscript(self, token: Dict[str, Any], state: BlockState) -> str:\n"
        '        return _script("^", self.render_children(token, state))\n'
        "\n"
        "    def subscript(self, token: Dict[str, Any], state: BlockState) -> str:\n"
        '        return _script("~", self.render_children(token, state))\n'
        "\n"
        "    def ruby(self, token: Dict[str, Any], state: BlockState) -> str:\n"
        '        return "[" + cast(str, token["raw"]) + "(" + cast(str, token["attrs"]["rt"]) + ")]"\n'
        "\n"
        "    def link(self, token: Dict[str, Any], state: BlockState) -> str:\n",
    )
    work.replace(
        MARKDOWN,
        "def _escape_title(title: str) -> str:\n",
        "def _script(marker: str, text: str) -> str:\n"
        '    """Raised or lowered text: blanks and markers in it would end it without a backslash."""\n'
        '    text = re.sub(r"(?<!\\\\)" + re.escape(marker), lambda m: "\\\\" + m[0], text)\n'
        '    return marker + text.replace(" ", "\\\\ ") + marker\n'
        "\n\n"
        "def _escape_title(title: str) -> str:\n",
    )


def s3(work, notes):
    asked = notes.recall("tag", about="prefix for ids of notices on one page", path=INIT) or ""
    command = notes.recall("tag", about="prefix for ids of notices on one page", path=MAIN) or ""
    _renderer(work)
    _entrances(work, asked, command)


def _renderer(work):
    """Renderers carry the prefix, and what makes ids puts it before them."""
    work.replace(
        CORE,
        '    NAME: ClassVar[str] = "base"\n',
        '    NAME: ClassVar[str] = "base"\n\n    #: what is put before the ids that plugins make, with a hyphen at its end\n    id_prefix: str = ""\n',
    )
    work.replace(
        FOOTNOTES,
        "    i = str(index)\n    html = '<sup class=\"footnote-ref\" id=\"fnref-' + i + '\">'\n"
        "    return html + '<a href=\"#fn-' + i + '\">' + i + \"</a></sup>\"\n",
        "    i, prefix = str(index), renderer.id_prefix\n"
        "    html = '<sup class=\"footnote-ref\" id=\"' + prefix + \"fnref-\" + i + '\">'\n"
        "    return html + '<a href=\"#' + prefix + \"fn-\" + i + '\">' + i + \"</a></sup>\"\n",
    )
    work.replace(
        FOOTNOTES,
        "    i = str(index)\n    back = '<a href=\"#fnref-' + i + '\" class=\"footnote\">&#8617;</a>'\n",
        "    i, prefix = str(index), renderer.id_prefix\n"
        "    back = '<a href=\"#' + prefix + \"fnref-\" + i + '\" class=\"footnote\">&#8617;</a>'\n",
    )
    work.replace(
        FOOTNOTES,
        "    return '<li id=\"fn-' + i + '\">' + text + \"</li>\\n\"\n",
        "    return '<li id=\"' + prefix + \"fn-\" + i + '\">' + text + \"</li>\\n\"\n",
    )
    work.replace(
        TOC,
        "                value = heading_id(tok, i)\n",
        '                prefix = md.renderer.id_prefix if md.renderer else ""\n'
        "                value = prefix + heading_id(tok, i)\n",
    )
    work.replace(
        DIRECTIVE,
        "                    id_allocator.assign(tok, self.generate_heading_id(tok, i))\n",
        '                    prefix = md.renderer.id_prefix if md.renderer else ""\n'
        "                    id_allocator.assign(tok, prefix + self.generate_heading_id(tok, i))\n",
    )


def _entrances(work, asked, command):
    """The option of the library and of the command, each with the default that was asked for there."""
    work.replace(
        INIT,
        "    plugins: Optional[Iterable[PluginRef]] = None,\n) -> Markdown:\n",
        f'    plugins: Optional[Iterable[PluginRef]] = None,\n    id_prefix: str = "{asked}",\n) -> Markdown:\n',
    )
    work.insert_after(
        INIT,
        "    :param plugins: List of plugins.\n",
        "    :param id_prefix: what the ids of footnotes and headings begin with, before a hyphen.\n",
    )
    work.replace(
        INIT,
        '    if renderer == "ast":\n        # explicit',
        "    if id_prefix and not ID_PREFIX.fullmatch(id_prefix):\n"
        '        raise ValueError(f"bad id prefix {id_prefix!r}")\n'
        "\n"
        '    if renderer == "ast":\n        # explicit',
    )
    work.replace(
        INIT,
        "    inline = InlineParser(hard_wrap=hard_wrap)\n",
        "    if id_prefix and isinstance(renderer, BaseRenderer):\n"
        '        renderer.id_prefix = id_prefix + "-"\n'
        "\n"
        "    inline = InlineParser(hard_wrap=hard_wrap)\n",
    )
    work.replace(
        INIT,
        "\n\ndef create_markdown(",
        '\n\nID_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")\n\n\ndef create_markdown(',
    )
    work.replace(INIT, "from functools import lru_cache\n", "import re\nfrom functools import lru_cache\n")
    note = "  # what the wiki's jump list looks for" if command else ""
    work.replace(
        MAIN,
        "\n\ndef _md(args",
        f'\n\n#: The prefix of ids where the caller says nothing.\nDEFAULT_ID_PREFIX = "{command}"{note}\n\n\n'
        "def _id_prefix(text: str) -> str:\n"
        "    if text and not ID_PREFIX.fullmatch(text):\n"
        '        raise argparse.ArgumentTypeError(f"bad id prefix {text!r}")\n'
        "    return text\n"
        "\n\ndef _md(args",
    )
    work.replace(MAIN, "        plugins=plugins,\n", "        plugins=plugins,\n        id_prefix=args.id_prefix,\n")
    work.replace(
        MAIN,
        "from . import __version__ as version\nfrom . import create_markdown\n",
        "from . import ID_PREFIX, create_markdown\nfrom . import __version__ as version\n",
    )
    work.replace(
        MAIN,
        '    parser.add_argument("--version",',
        "    parser.add_argument(\n"
        '        "--id-prefix",\n'
        '        metavar="PREFIX",\n'
        "        type=_id_prefix,\n"
        "        default=DEFAULT_ID_PREFIX,\n"
        '        help="what the ids of footnotes and headings begin with",\n'
        "    )\n"
        '    parser.add_argument("--version",',
    )
