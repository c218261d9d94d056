"""A page as a tree, by the standard library's parser; fails where elements are not closed in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input", "hr"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    def all(self, tag: str = "", **wanted: str) -> Iterator[Node]:
        for child in self.children:
            if isinstance(child, Node):
                named = {name.rstrip("_").replace("_", "-"): value for name, value in wanted.items()}
                if tag in ("", child.tag) and named.items() <= child.attributes.items():
                    yield child
                yield from child.all(tag, **wanted)

    def one(self, tag: str = "", **wanted: str) -> Node:
        (found,) = self.all(tag, **wanted)
        return found

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class Reader(HTMLParser):
    """A tree of the page; fails where elements are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), "an attribute stands twice"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(page: str) -> Node:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1
    return reader.open[0]
