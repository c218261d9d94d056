"""Sort notices into lanes: ``python -m mistune.dispatch FILE...``"""

import sys
from typing import Any, Dict, Iterator, List, Sequence

from . import create_markdown

#: From this size on a notice is read in the quiet hour.
LIMIT = << limit >>
LANE = "<< lane >>"
PLAIN = "plain"

#: What the traffic office reckons with.
NODES = {
    "headings": "heading",
    "paragraphs": "paragraph",
    "list-items": "list_item",
    "links": "link",
    "images": "image",
    "code-blocks": "block_code",
}
NODE = NODES["<< measure >>"]


def size(text: str) -> int:
    """The size of a notice."""
    return sum(node["type"] == NODE for node in _walk(create_markdown(renderer="ast")(text)))


def _walk(nodes: Any) -> Iterator[Dict[str, Any]]:
    for node in nodes:
        yield node
        yield from _walk(node.get("children", ()))


def lane(text: str) -> str:
    """The lane of a notice."""
    return LANE if size(text) > LIMIT else PLAIN


def lines(files: Sequence[str]) -> List[str]:
    """A line for each file, big sizes first. OSError and UnicodeDecodeError as they come."""
    found = []
    for file in files:
        try:
            with open(file, encoding="utf-8") as stream:
                text = stream.read()
        except OSError as error:
            raise SystemExit(_complain(file, str(error.strerror))) from None
        except UnicodeDecodeError:
            raise SystemExit(_complain(file, "not UTF-8")) from None
        found.append((-size(text), file, lane(text)))
    return [f"{file} {-less} {where}" for less, file, where in sorted(found)]


def _complain(file: str, what: str) -> int:
    print(f"mistune.dispatch: {file}: {what}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    for line in lines(sys.argv[1:]):
        print(line)
