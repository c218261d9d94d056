"""The audit of a finished run, by rule and without a model: findings, what was looked at, what could not be.

Invariant: a rule that was not asked, and bytes that could not be read, are said; silence of a rule that was asked means
that it found nothing in all the rest. The same run gives the same audit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from analysis.report.layout import Document, Section, Table, as_text
from harness.auditing.audit_finding import Finding, Rule
from harness.auditing.audit_material import Material
from harness.auditing.audit_outcomes import Pass, passes, shares
from harness.auditing.audit_reading import gather
from harness.auditing.audit_rules import RULES
from harness.bundle.opened import Opened

SCHEMA = 1
LINES = 20  # of a rule that are printed
_WHERE = 3  # places that are printed of equal findings
_LOOKED = ("arms", "sessions", "blobs", "stores", "trees", "files", "bytes")


@dataclass(frozen=True)
class Proof:
    """The passes of a condition where something had to be known: how many hold all, a part, or none of it in view."""

    condition: str
    passes: int
    whole: int
    part: int
    none: int


@dataclass(frozen=True)
class Audited:
    """What an audit found.

    rules     those that were asked, then those that could not be, each with a question
    looked    what was looked at: arms, sessions, blobs, stores, trees, files, bytes (after decompression)
    unseen    (what, why, how often) of what could not be looked at
    proofs    one row a condition with passes
    shared    S3 changes: how many, how many of them equal another of the same trap and seed, how many different ones
    """

    findings: tuple[Finding, ...]
    asked: tuple[Rule, ...]
    left: tuple[Rule, ...]
    looked: dict[str, int]
    unseen: tuple[tuple[str, str, int], ...]
    proofs: tuple[Proof, ...] = ()
    shared: dict[str, int] = field(default_factory=dict)

    @property
    def breaches(self) -> int:
        """How many findings are no mere notes."""
        return sum(finding.level == "breach" for finding in self.findings)

    def counts(self) -> dict[str, tuple[int, int]]:
        """Rule that was asked -> (breaches, notes)."""
        found = Counter((finding.rule, finding.level) for finding in self.findings)
        return {rule.name: (found[rule.name, "breach"], found[rule.name, "note"]) for rule in self.asked}

    def as_data(self) -> dict[str, Any]:
        """Everything as plain data for JSON."""
        return {
            "schema": SCHEMA,
            "breaches": self.breaches,
            "rules": {n: {"breaches": b, "notes": c} for n, (b, c) in self.counts().items()},
            "not_asked": [rule.name for rule in self.left],
            "looked_at": self.looked,
            "not_looked_at": [{"what": what, "why": why, "times": n} for what, why, n in self.unseen],
            "passes": [asdict(proof) for proof in self.proofs],
            "shared_changes": self.shared,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def document(self) -> Document:
        """What is printed: at most LINES lines a rule, equal findings in one."""
        told = (
            f"{self.breaches} breaches, {len(self.findings) - self.breaches} notes. A breach says that the run cannot "
            "be what it claims to be, or that a session saw what it may not see; a note is for a person to look at.",
            "Looked at: " + ", ".join(f"{self.looked.get(name, 0)} {name}" for name in _LOOKED) + ".",
        )
        sections = [Section("Rules", (), (self._rules(),))]
        if found := tuple(self._found()):
            sections.append(Section("Findings", (), found))
        if self.proofs or self.shared:
            sections.append(Section("Passes where something had to be known", (), (self._proofs(),)))
        if self.unseen:
            rows = tuple((what, why, str(n)) for what, why, n in self.unseen)
            table = Table("Not looked at", ("what", "why", "times"), rows[:LINES], _more(len(rows)))
            sections.append(Section("What could not be looked at", (), (table,)))
        return Document("Audit", told, tuple(sections))

    def _rules(self) -> Table:
        counts = self.counts()
        asked = [(rule.name, rule.asks, *map(str, counts[rule.name])) for rule in self.asked]
        left = [(rule.name, rule.asks, "not asked", "not asked") for rule in self.left]
        notes = ("Not asked: the facts, views, trees and transcripts are not there.",) if left else ()
        return Table("What was asked", ("rule", "question", "breaches", "notes"), (*asked, *left), notes)

    def _found(self) -> Iterator[Table]:
        groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for finding in self.findings:
            groups[finding.rule, finding.level, finding.message].append(finding.where)
        for rule in self.asked:
            lines = [(level, message, where) for (name, level, message), where in groups.items() if name == rule.name]
            lines.sort(key=lambda line: line[0])  # breaches first
            rows = tuple((level, message, str(len(where)), _places(where)) for level, message, where in lines[:LINES])
            if rows:
                yield Table(rule.name, ("level", "what", "times", "where"), rows, _more(len(lines)))

    def _proofs(self) -> Table:
        rows = tuple((p.condition, *map(str, (p.passes, p.whole, p.part, p.none))) for p in self.proofs)
        note = (
            f"S3 changes: {self.shared.get('changes', 0)}, {self.shared.get('different', 0)} different ones by trap, "
            "seed, history and reader level; a deterministic agent that is shown the same makes the same change."
        )
        head = ("condition", "passes", "all of the evidence in view", "a part", "none")
        return Table("Evidence in the view of passing endings", head, rows, (note,))


def audit(run: Opened) -> Audited:
    """Ask every rule that can be asked. Raises UsageFault, Fault where the run cannot be read at all."""
    material = gather(run)
    asked = tuple(rule for rule in RULES if run.revealed or not rule.facts)
    findings = tuple(finding for rule in asked for finding in sorted(set(rule.look(material))))
    return Audited(
        findings=findings,
        asked=asked,
        left=tuple(rule for rule in RULES if rule not in asked),
        looked={name: material.counted[name] for name in _LOOKED},
        unseen=tuple((what, why, n) for (what, why), n in sorted(material.unseen.items())),
        proofs=_proofs(material) if run.revealed else (),
        shared=dict(shares(material)) if run.revealed else {},
    )


def audit_text(audited: Audited) -> str:
    """The audit as plain text; texts from a sandbox are on one line and without control characters."""
    return as_text(audited.document())


def _proofs(material: Material) -> tuple[Proof, ...]:
    groups: dict[str, list[Pass]] = defaultdict(list)
    for each in passes(material):
        groups[each.case.record.condition].append(each)
    return tuple(
        Proof(
            condition,
            len(some),
            sum(not p.lacking for p in some),
            sum(bool(p.lacking and p.held) for p in some),
            sum(bool(p.lacking and not p.held) for p in some),
        )
        for condition, some in groups.items()
    )


def _places(where: list[str]) -> str:
    return ", ".join(where[:_WHERE]) + (f" and {len(where) - _WHERE} more" if len(where) > _WHERE else "")


def _more(count: int) -> tuple[str, ...]:
    return (f"and {count - LINES} more",) if count > LINES else ()
