"""Links and included files: addresses with parentheses, lines of a file, links that leave the house."""

URL = "src/mistune/plugins/url.py"
INCLUDE = "src/mistune/directives/include.py"
OUTBOUND = "src/mistune/plugins/outbound.py"
PLUGINS = "src/mistune/plugins/__init__.py"
MAIN = "src/mistune/__main__.py"

MODULE = '''"""Mark links that leave the hosts of one's own."""

import types
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ..markdown import Markdown
    from ..renderers.html import HTMLRenderer

__all__ = ["Outbound", "outbound", "outbound_links"]

#: What the proxy looks for in the ``rel`` of an anchor.
REL = "@REL@"


def _leaves(url: str, hosts: Iterable[str]) -> bool:
    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host:
        return False
    return not any(host == own or host.endswith("." + own) for own in hosts)


class Outbound:
    """A plugin for the HTML renderer that marks links to other hosts.

    :param hosts: names of hosts of one's own; each includes what lies below it
    """

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self.hosts = [host.lower() for host in hosts]

    def __call__(self, md: "Markdown") -> None:
        hosts = self.hosts

        def link(renderer: "HTMLRenderer", text: str, url: str, title: Optional[str] = None) -> str:
            href = renderer.sanitize_url(url)
            attrs: Dict[str, object] = {"href": href}
            if title:
                attrs["title"] = title
            if _leaves(href, hosts):
                attrs["rel"] = REL
            return "<a" + renderer.render_attrs(attrs) + ">" + text + "</a>"

        if md.renderer and md.renderer.NAME == "html":
            # a registered method would not go before the renderer's own
            md.renderer.link = types.MethodType(link, md.renderer)  # type: ignore[attr-defined]


#: The plugin without hosts of one's own.
outbound = Outbound()


def outbound_links(text: str, hosts: Iterable[str] = ()) -> List[str]:
    """The addresses of the links in *text* that leave the hosts, each once, in the order of the text."""
    from .. import create_markdown

    own = [host.lower() for host in hosts]
    return list(dict.fromkeys(url for url in _urls(create_markdown(renderer="ast")(text)) if _leaves(url, own)))


def _urls(nodes: Any) -> Iterable[str]:
    for node in nodes:
        if node["type"] == "link":
            yield node["attrs"]["url"]
        yield from _urls(node.get("children", ()))
'''


def s1(work, notes):
    work.replace(
        URL,
        '''URL_LINK_PATTERN = r"""https?:\\/\\/[^\\s<]+[^<.,:;"')\\]\\s]"""\n''',
        '''URL_LINK_PATTERN = r"""https?:\\/\\/[^\\s<]+[^<.,:;"'\\]\\s]"""\n''',
    )
    work.replace(
        URL,
        "    pos = m.end()\n    if state.brackets:\n",
        "    text = _without_open_end(text)\n    pos = m.start() + len(text)\n    if state.brackets:\n",
    )
    work.replace(
        URL,
        "def parse_url_link(",
        '''def _without_open_end(text: str) -> str:
    """The address without closing parentheses at its end that were not opened in it."""
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1].rstrip(".,:;\\"'")
    return text


def parse_url_link(''',
    )


def s2(work, notes):
    work.insert_after(
        INCLUDE,
        "                content = f.read().decode(encoding)\n",
        '''
            if "lines" in attrs:
                lines = attrs.pop("lines")
                chosen = _choose_lines(content, lines)
                if chosen is None:
                    return {"type": "block_error", "raw": "Bad lines: " + lines}
                content = chosen
''',
    )
    work.replace(
        INCLUDE,
        "import os\nfrom typing import TYPE_CHECKING, Any, Dict, List, Match, Union\n",
        "import os\nimport re\nfrom typing import TYPE_CHECKING, Any, Dict, List, Match, Optional, Union\n",
    )
    work.insert_after(
        INCLUDE,
        "    from ..renderers.html import HTMLRenderer\n",
        '''
_lines_re = re.compile(r"(\\d*)(-?)(\\d*)")


def _choose_lines(content: str, lines: str) -> Optional[str]:
    """The lines `3-7`, `3-`, `-7` or `3` of the content, or None when that is no range."""
    m = _lines_re.fullmatch(lines)
    if not m or not (m[1] or m[3]):
        return None
    first = int(m[1] or 1)
    last = int(m[3]) if m[3] else None if m[2] else first
    if first < 1 or (last is not None and last < first):
        return None
    return "".join(content.splitlines(keepends=True)[first - 1 : last])
''',
    )


def s3(work, notes):
    word = notes.recall("tag", about="word in rel of outbound links for the proxy", path=OUTBOUND)
    work.write(OUTBOUND, MODULE.replace("@REL@", word or "external"))
    work.insert_after(PLUGINS, '    "url": "mistune.plugins.url.url",\n', '    "outbound": "mistune.plugins.outbound.outbound",\n')
    work.replace(
        MAIN,
        '        plugins = ["strikethrough", "footnotes", "table"]\n',
        '        plugins = ["strikethrough", "footnotes", "table"]\n'
        "    if args.own_host:\n"
        '        # with hosts the plugin takes the place of the one without\n'
        '        plugins = [name for name in plugins if name != "outbound"] + [Outbound(args.own_host)]\n',
    )
    work.replace(
        MAIN,
        "from .renderers.markdown import MarkdownRenderer\n",
        "from .plugins.outbound import Outbound\nfrom .renderers.markdown import MarkdownRenderer\n",
    )
    work.replace(
        MAIN,
        '    parser.add_argument(\n        "--escape",\n',
        '    parser.add_argument(\n        "--own-host",\n        metavar="HOST",\n        action="append",\n'
        '        help="mark links to all hosts but this one",\n    )\n'
        '    parser.add_argument(\n        "--escape",\n',
    )
