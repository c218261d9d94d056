"""A store file as text for people: the log, every memory with its state, evidence and links, and its lifecycle.

Invariant: it only reads, and what it prints comes from the file alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from memory_probe.protocol import MemoryFault, Scope
from memory_probe.store import raw_log
from memory_probe.store.derived import lifecycle, load
from memory_probe.store.schema import connect, foreign, guarded
from memory_probe.store.view import StoreView


def inspect(path: Path) -> str:
    """The text. Raises MemoryFault for a file that is missing, foreign or damaged."""
    if not path.is_file():
        raise MemoryFault(f"store {path.name}: no such file")
    with guarded(path), closing(connect(path)) as connection:
        if why := foreign(connection):
            raise MemoryFault(f"store {path.name}: {why}")
        raw_log.require_whole(connection)
        meta = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        episodes = list(raw_log.since(connection, 0))
        view, log = load(connection), lifecycle(connection)
    lines = [f"owner {meta['owner']}", f"episodes {len(episodes)}, slept to {meta['slept']}, memories {len(view)}", ""]
    lines += [
        f"{r.id}  {r.episode.date.isoformat()}  {r.episode.repository}  {r.episode.task}  "
        f"{len(r.episode.notes)} notes, shown {list(r.viewed)}"
        for r in episodes
    ]
    for number in view.ids():
        lines += ["", *_memory(view, number, log.get(number, []))]
    return "\n".join(lines) + "\n"


def _memory(view: StoreView, number: int, log: list[tuple[str, str, str, str]]) -> Iterator[str]:
    memory, held = view.memory(number), view.standing(number)
    yield f"memory {number}  {memory.type}  {held.status}  {memory.valid_from.isoformat()}"
    yield from (f"    | {line}" for line in memory.content.splitlines())
    yield f"    written: {memory.write_reason}; told by {memory.author or 'nobody'} (authority {memory.authority})"
    yield f"    scope: {_scope(memory.scope)} in {memory.repository}"
    yield (
        f"    confidence {held.confidence:.2f}, utility {held.utility:.2f}, risk {held.risk:.2f}, "
        f"staleness {held.staleness:.2f}, used {held.use_count}"
        + (f", valid until {held.valid_until.isoformat()}" if held.valid_until else "")
    )
    yield f"    evidence: {memory.provenance or 'none'}"
    for link in sorted(view.links, key=lambda k: (k.source, k.kind, k.target)):
        if link.source == number:
            yield f"    {link.kind} memory {link.target}"
        elif link.target == number:
            yield f"    is {'superseded' if link.kind == 'supersedes' else 'contradicted'} by memory {link.source}"
    yield from (f"    {date}  {operator}: {reason}  {entry}" for date, operator, reason, entry in log)


def _scope(scope: Scope) -> str:
    said = [", ".join(scope.files), ", ".join(scope.symbols), scope.task]
    return "; ".join(s for s in said if s) or "everywhere"
