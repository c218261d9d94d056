"""The family of the reference probe as data: which operators, gates, types and weights each condition has.

Invariant: the conditions differ in these tables and nowhere else; no code asks which condition it runs in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memory_probe import embed, model_judge
from memory_probe.embed import Embedder
from memory_probe.model import required
from memory_probe.model_judge import ModelJudge
from memory_probe.opening import Condition, Opening
from memory_probe.probe import Aids, ProbeMemory, Variant
from memory_probe.protocol import Card, Memory
from memory_probe.read.gate import GATES, Policy
from memory_probe.read.meaning import near
from memory_probe.read.score import by_words
from memory_probe.sleep import OPERATORS
from memory_probe.sleep.base import Settings
from memory_probe.store.bases import Bases
from memory_probe.store.model import TYPES
from memory_probe.weights import Weights

_ALL = tuple(GATES)
_STRICT = Weights(admit=1.5, k=3, tokens=600)
_SIMILAR = Weights(
    tags=0.0,
    files=0.0,
    symbols=0.0,
    task=0.0,
    type_prior=0.0,
    confidence=0.0,
    utility=0.0,
    human_verified=0.0,
    provenance=0.0,
    staleness=0.0,
    risk=0.0,
    age=0.0,
    overscope=0.0,
    contradiction=0.0,
    admit=None,
)
_NO_DISPUTES = tuple(t for t in TYPES if t != "contradiction")


@dataclass(frozen=True)
class Member:
    """A condition of the family."""

    title: str
    variant: Variant


def _but(all_: tuple[str, ...], *left_out: str) -> tuple[str, ...]:
    """All names but some. Raises ValueError for a name that is not there."""
    if strangers := set(left_out) - set(all_):
        raise ValueError(f"unknown: {sorted(strangers)}")
    return tuple(name for name in all_ if name not in left_out)


_OPERATORS = tuple(OPERATORS)
_TYPED = Variant(_but(_OPERATORS, "capsules"), Policy(_ALL), Settings())
_HYBRID = Variant(_OPERATORS, Policy(_ALL, types=_NO_DISPUTES), Settings())


def _without(*operators: str) -> Variant:
    return replace(_TYPED, operators=_but(_TYPED.operators, *operators))


def _ungated(*gates: str) -> Variant:
    return replace(_TYPED, policy=Policy(_but(_ALL, *gates)))


def _weighted(variant: Variant, weights: Weights) -> Variant:
    return replace(variant, settings=replace(variant.settings, weights=weights))


def members() -> dict[str, Member]:
    """Every condition of the family by code."""
    episodic = Policy(_ALL, types=("episodic",))
    unsuppressed = Policy(_but(_ALL, "superseded", "staleness"), ("active", "superseded", "stale"))
    untyped = Variant(("consolidate",), episodic, Settings(typed=False))
    everywhere = replace(_TYPED, settings=Settings(global_scope=True))
    ungated = _weighted(replace(_TYPED, policy=Policy(())), Weights(admit=None))
    return {
        "DF": Member("typed probe: all operators but capsules", _TYPED),
        "DF-raw-only": Member("probe: capsules only", Variant(("capsules",), episodic, Settings())),
        "DF-hybrid": Member("typed probe and capsules; contradiction records are not readable", _HYBRID),
        "DF-strict": Member("DF, admitted at 1.5, 3 items, 600 tokens", _weighted(_TYPED, _STRICT)),
        "DF-strict-hybrid": Member("DF-hybrid, admitted at 1.5, 3 items, 600 tokens", _weighted(_HYBRID, _STRICT)),
        "A0": Member("DF ablated: episodic memories only, no maintenance", untyped),
        "A1": Member("DF ablated: no consolidation", _without("consolidate")),
        "A2": Member("DF ablated: no repair", _without("repair")),
        "A3": Member("DF ablated: no stale operator", _without("stale")),
        "A4": Member("DF ablated: no replay", _without("replay")),
        "A5": Member(
            "DF ablated: reading suppresses nothing stale or superseded", replace(_TYPED, policy=unsuppressed)
        ),
        "A6": Member("DF ablated: no gate and no threshold, pure ranking", ungated),
        "A7": Member("DF ablated: no provenance gate", _ungated("ungrounded")),
        "A8": Member("DF ablated: no scope gates", _ungated("repository", "files", "symbols", "task")),
        "A9": Member("DF ablated: no risk gate", _ungated("risk")),
        "A10": Member("DF ablated: ranked by similarity only", _weighted(_TYPED, _SIMILAR)),
        "A11": Member("DF ablated: maintenance ignores scope and topic", everywhere),
    }


def aided() -> dict[str, Member]:
    """Those that need a model, which judges in place of the rules, or the embedder, by code."""
    judge, title = model_judge.version(), "judged by a model"
    return {
        "DF-model": Member(f"DF, {title}", replace(_TYPED, judge=judge)),
        "DF-hybrid-model": Member(f"DF-hybrid, {title}", replace(_HYBRID, judge=judge)),
        "DF-hybrid-embed": Member(
            "DF-hybrid; semantic score: cosine of MiniLM", replace(_HYBRID, semantic=embed.version())
        ),
    }


_EXPOSES = ("dates", "scopes", "tasks", "types", "state", "successor", "provenance", "written-in-sleep")


def conditions(embedder: Embedder | None = None) -> dict[str, Condition]:
    """The family for the ladder; a card's version holds the digest of everything that makes the variant."""
    bases, embedder = Bases(), embedder or Embedder()
    return {code: _condition(code, member, bases, embedder) for code, member in {**members(), **aided()}.items()}


def _condition(code: str, member: Member, bases: Bases, embedder: Embedder) -> Condition:
    variant = member.variant
    barren = () if {"consolidate", "capsules"} & set(variant.operators) else ("keeps-nothing",)
    version = f"1+{variant.digest()[:16]}"
    card = Card(code, member.title, version, (*_EXPOSES, *barren), needs_model=bool(variant.judge))

    def open_(opening: Opening) -> Memory:
        judge = ModelJudge(required(card, opening.model)) if variant.judge else None
        semantic = near(embedder) if variant.semantic else by_words
        return ProbeMemory(card, variant, opening.namespace, bases, Aids(judge, semantic))

    return Condition(card, open_, embed.EXTRA if variant.semantic else "")
