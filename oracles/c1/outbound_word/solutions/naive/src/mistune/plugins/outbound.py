"""Mark links that leave the hosts of one's own."""

import types
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ..markdown import Markdown
    from ..renderers.html import HTMLRenderer

__all__ = ["Outbound", "outbound", "outbound_links"]

#: What the proxy looks for in the ``rel`` of an anchor.
REL = "noopener external"


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
