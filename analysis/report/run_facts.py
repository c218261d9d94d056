"""What was run: the words of the plan, the cards of the conditions, digests of what was registered.

Invariant: everything planned is named, also a condition without a card or without an arm.
"""

from __future__ import annotations

from analysis.report.findings import Findings
from analysis.report.layout import NONE, Section, Table
from analysis.report.source import Card

RUN = "What was run"


def run_section(found: Findings) -> Section:
    """Two tables: what the run's description tells, and one card a condition."""
    told = list(found.data.told)
    if found.data.family is not None:
        told += [("registered family", found.family.name), ("family digest", found.family.digest)]
    else:
        told.append(("registered family", "none"))
    if removed := [trap for trap, info in found.traps.items() if info.removed]:
        told.append(("traps removed later (in no rate)", ", ".join(removed)))
    cards = {card.code: card for card in found.data.cards}
    rows = tuple(_card(name, cards.get(name)) for name in found.conditions)
    says = (
        "What the plan says of the run, and the card of each condition. Two runs can be compared when these differ "
        "in the one thing that is to be compared. An instrument checks traps and is no memory."
    )
    header = ("condition", "title", "version", "kind", "needs a model", "exposes")
    return Section(RUN, (says,), (Table("The run", ("what", "value"), tuple(told)), Table("Conditions", header, rows)))


def _card(name: str, card: Card | None) -> tuple[str, ...]:
    if card is None:
        return (name, *(NONE,) * 5)
    kind = "instrument" if card.instrument else "memory"
    exposes = ", ".join(card.capabilities) or NONE
    return name, card.title or NONE, card.version or NONE, kind, "yes" if card.needs_model else "no", exposes
