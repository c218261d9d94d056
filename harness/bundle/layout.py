"""The members of a bundle by name: what stands in the open, what is sealed, and how each is coded.

Invariant: freeze and thaw know members by the names in this file alone.
"""

from __future__ import annotations

from dataclasses import dataclass

RUN, COMMITMENTS, SANDBOXES = "run.json", "commitments.json", "sandbox.json"
PLAN, AMENDMENTS = "plan.json", "amendments.json"
ANALYSIS, REPORT = "analysis.json", "report.md"
ARMS, SESSIONS, SPENT = "public/arms.jsonl", "public/sessions.jsonl", "public/spent.json"
SOURCES, SOURCE_PACK = "sources/index.json", "sources/pack"
SEALED_ARMS, SEALED_SESSIONS = "sealed/arms.jsonl", "sealed/sessions.jsonl"
LOST, SEALED_LOST = "public/lost.jsonl", "sealed/lost.jsonl"
FACTS, BACKGROUND = "sealed/facts.json", "sealed/background.json"
TREES, FILE_PACK = "sealed/trees.jsonl", "sealed/files"
BLOB_PACK, CHUNK_PACK = "sealed/blobs", "sealed/chunks"
PAGE = "sealed/report.html"
KEY = "seal.key"

#: Members as they lie in the run directory.
AS_IS = (PLAN, AMENDMENTS, COMMITMENTS, SANDBOXES)
#: What has to be there, revealed or not.
NEEDED = (
    RUN,
    COMMITMENTS,
    ANALYSIS,
    REPORT,
    ARMS,
    SESSIONS,
    SPENT,
    SOURCES,
    SEALED_ARMS,
    SEALED_SESSIONS,
    FACTS,
    TREES,
)
_OPTIONAL = (PLAN, AMENDMENTS, SANDBOXES, LOST, SEALED_LOST, BACKGROUND, PAGE, KEY)
_PACKS = (SOURCE_PACK, FILE_PACK, BLOB_PACK, CHUNK_PACK)
#: Members that a person may want to read without any program of ours are not packed.
_READABLE = (RUN, *AS_IS, ANALYSIS, REPORT, KEY)


@dataclass(frozen=True)
class Coding:
    """How a member is stored: packed (zlib) first, then sealed."""

    sealed: bool
    packed: bool


def coding(name: str) -> Coding:
    """The one coding that a member of this name has."""
    sealed = name.startswith("sealed/")
    return Coding(sealed, name not in _READABLE and not name.startswith(CHUNK_PACK))


def numbered(pack: str, number: int) -> str:
    """The name of a pack."""
    return f"{pack}-{number:05d}"


def strange(names: list[str]) -> list[str]:
    """Names that no member has, and packs out of their numbers."""
    packs = {p: [n for n in names if n.startswith(f"{p}-")] for p in _PACKS}
    wanted = {numbered(p, number) for p, found in packs.items() for number in range(len(found))}
    return [n for n in names if n not in (*NEEDED, *_OPTIONAL) and n not in wanted]
