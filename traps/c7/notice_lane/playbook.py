"""Tables in ReST, tasks that are open, and the lanes of notices."""

RST = "src/mistune/renderers/rst.py"
TASKS = "src/mistune/plugins/task_lists.py"
DISPATCH = "src/mistune/dispatch.py"
DOCS = "docs/cli.rst"

NODES = {
    "headings": "heading",
    "paragraphs": "paragraph",
    "list-items": "list_item",
    "links": "link",
    "images": "image",
    "code-blocks": "block_code",
}

COUNTED = '''#: What the traffic office reckons with.
NODE = "@NODE@"


def size(text: str) -> int:
    """The size of a notice."""
    return sum(node["type"] == NODE for node in _walk(create_markdown(renderer="ast")(text)))


def _walk(nodes: Any) -> Iterator[Dict[str, Any]]:
    for node in nodes:
        yield node
        yield from _walk(node.get("children", ()))
'''

WORDS = '''def size(text: str) -> int:
    """The size of a notice."""
    return len(text.split())
'''

MODULE = '''"""Sort notices into lanes: ``python -m mistune.dispatch FILE...``"""

import sys
from typing import Any, Dict, Iterator, List, Sequence

from . import create_markdown

#: From this size on a notice is read in the quiet hour.
LIMIT = @LIMIT@
LANE = "@LANE@"
PLAIN = "plain"

@SIZE@

def lane(text: str) -> str:
    """The lane of a notice."""
    return LANE if size(text) >= LIMIT else PLAIN


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
'''


def s1(work, notes):
    work.replace(
        RST,
        "    def list(self, token: Dict[str, Any], state: BlockState) -> str:\n",
        '''    def table(self, token: Dict[str, Any], state: BlockState) -> str:
        head, *bodies = token["children"]
        rows = [head] + [row for body in bodies for row in body["children"]]
        out = ".. list-table::\\n   :header-rows: 1\\n\\n"
        for row in rows:
            bullet = "   * -"
            for cell in row["children"]:
                out += (bullet + " " + self.render_children(cell, state)).rstrip() + "\\n"
                bullet = "     -"
        return out + "\\n"

    def list(self, token: Dict[str, Any], state: BlockState) -> str:
''',
    )


def s2(work, notes):
    work.replace(
        TASKS,
        '    return _rewrite_all_list_items(state.tokens)\n',
        '    items = _rewrite_all_list_items(state.tokens)\n'
        '    state.env["tasks"] = list(_tasks(items))\n'
        '    return items\n',
    )
    work.append(
        TASKS,
        '''

def _tasks(tokens: Iterable[Dict[str, Any]]) -> Iterable[Tuple[bool, str]]:
    for tok in tokens:
        children = tok.get("children", [])
        if tok["type"] == "task_list_item":
            yield tok["attrs"]["checked"], " ".join(line.strip() for line in children[0]["text"].splitlines())
        yield from _tasks(children)


def open_tasks(text: str) -> List[str]:
    """The texts of the tasks in *text* that are not done."""
    from .. import create_markdown

    _, state = create_markdown(plugins=[task_lists]).parse(text)
    return [task for done, task in state.env["tasks"] if not done]
''',
    )
    work.replace(
        TASKS,
        "from typing import TYPE_CHECKING, Any, Dict, Iterable\n",
        "from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Tuple\n",
    )
    work.replace(TASKS, '__all__ = ["task_lists"]\n', '__all__ = ["task_lists", "open_tasks"]\n')


def s3(work, notes):
    measure = notes.recall("word", about="what tells how big a notice is", path=DISPATCH)
    limit = notes.recall("count", about="from which size notices come to the reading room", path=DISPATCH)
    lane = notes.recall("tag", about="lane of the reading room for notices from a size on", path=DISPATCH)
    node = NODES.get(measure or "")
    code = MODULE.replace("@LIMIT@", limit or "20").replace("@LANE@", lane or "reading-room")
    code = code.replace("@SIZE@", COUNTED.replace("@NODE@", node) if node else WORDS)
    work.write(DISPATCH, code)
    work.append(
        DOCS,
        """
Sorting notices
---------------

``mistune.dispatch`` prints the size and the lane of each notice, big ones first::

    $ python -m mistune.dispatch notices/*.md
""",
    )
