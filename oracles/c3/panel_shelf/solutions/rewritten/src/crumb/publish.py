"""Panel files of all ovens, with an index that says where each panel fetches its own.

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
SHELF = "<< new_shelf >>"  # where the panels read


def publish(book: Book, folder: Path) -> list[str]:
    """Write what the book says to `folder`; one line for each oven: written, unchanged or removed."""
    folder.mkdir(parents=True, exist_ok=True)
    former = _listed(folder)
    ovens = book.names("oven")
    lines, entries = [], []
    for oven in ovens:
        data = export.render("panel", oven, resolve(book.schema, book.layers(oven))).encode("utf-8")
        lines.append(f"{oven} {_put(folder / _file(oven), data)}")
        entries.append(_entry(oven, data))
    for oven in former:
        if oven not in ovens:
            (folder / _file(oven)).unlink(missing_ok=True)
            lines.append(f"{oven} removed")
    index = {"format": FORMAT, "ovens": entries}
    (folder / INDEX).write_text(json.dumps(index, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return lines


def _file(oven: str) -> str:
    return f"{oven}.json"


def _entry(oven: str, data: bytes) -> dict[str, str | int]:
    return {
        "oven": oven,
        "target": f"{SHELF}/{_file(oven)}",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _listed(folder: Path) -> list[str]:
    """The ovens of the last index, or none."""
    path = folder / INDEX
    if not path.exists():
        return []
    return [entry["oven"] for entry in json.loads(path.read_text(encoding="utf-8"))["ovens"]]


def _put(path: Path, data: bytes) -> str:
    same = path.exists() and path.read_bytes() == data
    path.write_bytes(data)
    return "unchanged" if same else "written"
