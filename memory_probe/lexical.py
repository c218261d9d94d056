"""Words of a text and the measures over them that rank without a model.

Invariant: every measure is a pure function of its texts, the same for every script, and 0 where nothing is shared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from memory_probe.protocol import Query

_TERM = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """Lower-case runs of letters and digits, of any script, in order."""
    return _TERM.findall(text.lower())


def words(text: str) -> frozenset[str]:
    """The different terms of a text."""
    return frozenset(terms(text))


def asked(query: Query) -> str:
    """What a query is looked up by: its prompt and its paths."""
    return f"{query.prompt} {' '.join(query.paths)}"


def share(wanted: Collection[str], text: str) -> float:
    """Share of the wanted words found in a text, 0..1."""
    return len(frozenset(wanted) & words(text)) / len(wanted) if wanted else 0.0


def cosine(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Cosine of two word-count vectors, 0..1."""
    dot = sum(count * other.get(term, 0) for term, count in one.items())
    size = math.sqrt(sum(c * c for c in one.values()) * sum(c * c for c in other.values()))
    return dot / size if dot else 0.0


def cosines(query: str, texts: Sequence[str]) -> list[float]:
    """Cosine of each text with the query, over word counts."""
    wanted = Counter(terms(query))
    return [cosine(wanted, Counter(terms(text))) for text in texts]


def bm25(query: str, texts: Sequence[str], k1: float = 1.5, b: float = 0.75) -> list[float]:
    """Okapi BM25 of each text, with the inverse document frequency that stays above 0 (1 is added in the logarithm)."""
    documents = [Counter(terms(text)) for text in texts]
    sizes = [sum(document.values()) for document in documents]
    mean = sum(sizes) / len(sizes) if any(sizes) else 1.0
    wanted = words(query)
    holders = {term: sum(term in document for document in documents) for term in wanted}
    weight = {t: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for t, n in holders.items() if n}
    return [
        # sorted: a sum of floats must not depend on the order of a set
        sum(
            weight[term] * document[term] * (k1 + 1) / (document[term] + k1 * (1 - b + b * size / mean))
            for term in sorted(weight)
            if term in document
        )
        for document, size in zip(documents, sizes, strict=True)
    ]
