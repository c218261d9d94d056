"""From the book to the panels: origins in a comparison, careful exports, publishing with an index."""

DIFF = "src/crumb/views/diff.py"
CLI = "src/crumb/cli.py"
PANEL = "src/crumb/export/panel.py"
PUBLISH = "src/crumb/publish.py"


def s1(work, notes):
    work.replace(
        DIFF,
        """def diff(found: Sequence[Difference]) -> list[str]:
    return aligned([(each.name, each.left.text, each.right.text) for each in found])
""",
        '''def diff(found: Sequence[Difference], origin: bool = False) -> list[str]:
    """Name, left, right; with `origin` the deciding layer behind each of the two values."""
    rows = []
    for each in found:
        cells = [each.name]
        for side in (each.left, each.right):
            cells += [side.text, side.origin] if origin else [side.text]
        rows.append(cells)
    return aligned(rows)
''',
    )
    work.replace(CLI, "    _print(diff(found))\n", "    _print(diff(found, args.origin))\n")
    work.replace(
        CLI,
        "    _add_set(differing)\n",
        """    differing.add_argument("--origin", action="store_true", help="show where the values come from")
    _add_set(differing)
""",
    )


def s2(work, notes):
    work.replace(
        CLI,
        "    args.output.write_text(text,",
        """    if args.output.exists() and not args.force:
        raise CrumbError(f"{args.output} is there already; --force replaces it")
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(text,""",
    )
    work.replace(
        CLI,
        "    _add_set(exporting)\n",
        """    exporting.add_argument("--force", action="store_true", help="replace the output if it is there")
    _add_set(exporting)
""",
    )


def s3(work, notes):
    shelf = notes.recall("slashed", about="shelf that the panels read", path=PANEL) or "/panels"
    work.write(
        PUBLISH,
        f'''"""Panel files of all ovens, with an index that says where each panel fetches its own.

A file is touched only when its bytes change; only files that an index lists are ever removed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from crumb import export
from crumb.book import Book
from crumb.resolve import resolve

INDEX = "index.json"
FORMAT = 1
SHELF = "{shelf}"  # where the panels read


def publish(book: Book, folder: Path) -> list[str]:
    """Write what the book says to `folder`; one line for each oven: written, unchanged or removed."""
    folder.mkdir(parents=True, exist_ok=True)
    former = _listed(folder)
    ovens = book.names("oven")
    lines, entries = [], []
    for oven in ovens:
        data = export.render("panel", oven, resolve(book.schema, book.layers(oven))).encode("utf-8")
        lines.append(f"{{oven}} {{_put(folder / _file(oven), data)}}")
        entries.append(_entry(oven, data))
    for oven in former:
        if oven not in ovens:
            (folder / _file(oven)).unlink(missing_ok=True)
            lines.append(f"{{oven}} removed")
    index = {{"format": FORMAT, "ovens": entries}}
    (folder / INDEX).write_text(json.dumps(index, ensure_ascii=False, indent=2) + "\\n", encoding="utf-8")
    return lines


def _file(oven: str) -> str:
    return f"{{oven}}.json"


def _entry(oven: str, data: bytes) -> dict[str, str | int]:
    return {{
        "oven": oven,
        "target": f"{{SHELF}}/{{_file(oven)}}",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }}


def _listed(folder: Path) -> list[str]:
    """The ovens of the last index, or none."""
    path = folder / INDEX
    if not path.exists():
        return []
    return [entry["oven"] for entry in json.loads(path.read_text(encoding="utf-8"))["ovens"]]


def _put(path: Path, data: bytes) -> str:
    if path.exists() and path.read_bytes() == data:
        return "unchanged"
    path.write_bytes(data)
    return "written"
''',
    )
    work.replace(
        CLI,
        "def _export(args: argparse.Namespace, book: Book) -> int:\n",
        """def _publish(args: argparse.Namespace, book: Book) -> int:
    errors = [problem for problem in check(book) if problem.severity == ERROR]
    for problem in errors:
        print(problem, file=sys.stderr)
    if errors:
        return 1
    _print(publish(book, args.folder))
    return 0


def _export(args: argparse.Namespace, book: Book) -> int:
""",
    )
    work.replace(CLI, "from crumb.check import check\n", "from crumb.check import ERROR, check\n")
    work.replace(
        CLI,
        "from crumb.resolve import Resolved, resolve\n",
        "from crumb.publish import publish\nfrom crumb.resolve import Resolved, resolve\n",
    )
    work.insert_after(
        CLI,
        "    exporting.set_defaults(run=_export)\n",
        """
    publishing = commands.add_parser("publish", help="write the panel files of all ovens, and their index")
    publishing.add_argument("folder", type=Path, metavar="FOLDER")
    publishing.set_defaults(run=_publish)
""",
    )
