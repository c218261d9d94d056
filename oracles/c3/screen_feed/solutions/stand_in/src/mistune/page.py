"""A whole page around a text, for the screens on the platforms."""

import re
from typing import Iterable

from . import create_markdown
from .plugins import PluginRef
from .toc import add_toc_hook, render_toc_ul

#: The feed that the screens read.
FEED = "<< stand_in >>"
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
    nav = "<nav>\n" + render_toc_ul(contents) + "</nav>\n" if len(contents) > 1 else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n<meta name="feed" content="{FEED}">\n'
        f"<title>{title}</title>\n</head>\n<body>\n{nav}{html}</body>\n</html>\n"
    )
