"""The command and its pages: mistakes told in a line, contents as text, whole pages."""

MAIN = "src/mistune/__main__.py"
TOC = "src/mistune/toc.py"
PAGE = "src/mistune/page.py"

MODULE = '''"""A whole page around a text, for the screens on the platforms."""

import re
from typing import Iterable

from . import create_markdown
from .plugins import PluginRef
from .toc import add_toc_hook, render_toc_ul

#: The feed that the screens read.
FEED = "@FEED@"
PLUGINS = ("strikethrough", "footnotes", "table")

_lang_re = re.compile(r"[a-z]{2,3}(?:-[A-Z]{2})?")


def page(text: str, lang: str = "en", plugins: Iterable[PluginRef] = PLUGINS) -> str:
    """The HTML page of a text. ValueError for something that is no language."""
    if not _lang_re.fullmatch(lang):
        raise ValueError(f"bad language {lang!r}")
    md = create_markdown(plugins=plugins)
    add_toc_hook(md)
    html, state = md.parse(text)
    headings = state.env["toc_items"]
    title = headings[0][2] if headings else "Notice"
    contents = [item for item in headings if item[0] <= 2]
    nav = "<nav>\\n" + render_toc_ul(contents) + "</nav>\\n" if len(contents) > 1 else ""
    return (
        f'<!DOCTYPE html>\\n<html lang="{lang}">\\n<head>\\n<meta charset="utf-8">\\n<meta name="feed" content="{FEED}">\\n'
        f"<title>{title}</title>\\n</head>\\n<body>\\n{nav}{html}</body>\\n</html>\\n"
    )
'''


def s1(work, notes):
    work.replace(
        MAIN,
        '    if args.renderer == "rst":\n',
        "    for name in plugins:\n"
        "        try:\n"
        "            import_plugin(name)\n"
        "        except (ImportError, AttributeError, ValueError):\n"
        '            raise Mistake(f"unknown plugin {name!r}") from None\n'
        "\n"
        '    if args.renderer not in ("html", "markdown", "rst"):\n'
        '        raise Mistake(f"unknown renderer {args.renderer!r}")\n'
        '    if args.renderer == "rst":\n',
    )
    work.replace(
        MAIN,
        "def _md(args: argparse.Namespace)",
        "class Mistake(Exception):\n"
        '    """What the user has to mend; its text is all that is shown."""\n'
        "\n\n"
        "def _md(args: argparse.Namespace)",
    )
    work.replace(
        MAIN,
        "from .renderers.markdown import MarkdownRenderer\n",
        "from .plugins import import_plugin\nfrom .renderers.markdown import MarkdownRenderer\n",
    )
    work.replace(
        MAIN,
        "    args = parser.parse_args()\n\n    message = args.message\n",
        "    args = parser.parse_args()\n"
        "    try:\n"
        "        _convert(args)\n"
        "    except Mistake as mistake:\n"
        '        print(f"mistune: {mistake}", file=sys.stderr)\n'
        "        sys.exit(1)\n"
        "\n\n"
        "def _convert(args: argparse.Namespace) -> None:\n"
        "    message = args.message\n",
    )
    work.replace(
        MAIN,
        "        text = md.read(args.file)[0]\n",
        "        try:\n"
        "            text = md.read(args.file)[0]\n"
        "        except OSError as error:\n"
        '            raise Mistake(f"{args.file}: {error.strerror}") from None\n'
        "        except UnicodeDecodeError:\n"
        '            raise Mistake(f"{args.file}: not UTF-8") from None\n',
    )


def s2(work, notes):
    work.append(
        TOC,
        '''

def render_toc_text(toc: Iterable[Tuple[int, str, str]]) -> str:
    """Render a table of contents as lines of text with numbers. The param "toc"
    is the same as that of :func:`render_toc_ul`.
    """
    s = ""
    places: List[Tuple[int, int]] = []  # (level, number) from the top down to the last heading
    for level, _, text in toc:
        number = 0
        while places and places[-1][0] >= level:
            number = places.pop()[1]
        places.append((level, number + 1))
        s += ".".join(str(n) for _, n in places) + " " + unescape(text) + "\\n"
    return s
''',
    )
    work.replace(TOC, "from .util import escape, striptags\n", "from .util import escape, striptags, unescape\n")


def s3(work, notes):
    feed = notes.recall("dotted", about="feed that the platform screens read", path=PAGE)
    work.write(PAGE, MODULE.replace("@FEED@", feed or "notices"))
    work.replace(
        MAIN,
        "def _convert(args: argparse.Namespace) -> None:\n",
        "def _page(text: str, args: argparse.Namespace) -> str:\n"
        "    try:\n"
        "        return page(text, args.lang, args.plugin or PLUGINS)\n"
        "    except ValueError as error:\n"
        "        raise Mistake(str(error)) from None\n"
        "\n\n"
        "def _convert(args: argparse.Namespace) -> None:\n"
        '    if args.page and args.renderer != "html":\n'
        '        raise Mistake("--page needs the renderer html")\n',
    )
    work.replace(
        MAIN,
        "        text = md(message)\n        assert isinstance(text, str)\n",
        "        text = _page(message, args) if args.page else md(message)\n        assert isinstance(text, str)\n",
    )
    work.replace(
        MAIN,
        "            text = md.read(args.file)[0]\n",
        "            if args.page:\n"
        '                with open(args.file, encoding="utf-8", newline="") as f:\n'
        "                    text = _page(f.read(), args)\n"
        "            else:\n"
        "                text = md.read(args.file)[0]\n",
    )
    work.replace(
        MAIN,
        "from .plugins import import_plugin\n",
        "from .page import PLUGINS, page\nfrom .plugins import import_plugin\n",
    )
    work.replace(
        MAIN,
        '    parser.add_argument("--version",',
        '    parser.add_argument("--page", action="store_true", help="write a whole page for the screens")\n'
        '    parser.add_argument("--lang", default="en", help="the language of the page")\n'
        '    parser.add_argument("--version",',
    )
