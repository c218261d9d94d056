"""The registered family: its slots with exact and Holm p, gates, falsifiers, and a forest of all contrasts.

Invariant: the primary contrast is the first row of every table and figure, whatever it shows; where nothing was
registered the section says so, and its figure has exploratory rows only.
"""

from __future__ import annotations

from dataclasses import replace

from analysis.hygiene import METRICS
from analysis.inference_tables import falsifiers_table, family_table, gates_table
from analysis.records import Endpoint
from analysis.report.figures import Forest, ForestRow
from analysis.report.findings import Findings, titled
from analysis.report.layout import Section, Table
from analysis.report.numbers import p_value
from analysis.result import Slot

REGISTERED = "Registered family"


def registered_section(found: Findings) -> Section:
    """Tables at every reader level and endpoint; a forest a reader level, at the primary endpoint."""
    tables = [table for reader in found.readers for endpoint in found.endpoints
              for table in _tables(found, reader, endpoint)]  # fmt: skip
    forests = tuple(_forest(found, reader) for reader in found.readers)
    return Section(REGISTERED, (_says(found),), tuple(tables), tuple(f for f in forests if f.rows))


def _says(found: Findings) -> str:
    if not found.registered:
        return (
            "Nothing was registered before the run. All contrasts below are exploratory: they may suggest what to "
            "register for another run, and nothing is claimed from them."
        )
    about = f" ({found.family.about})" if found.family.about else ""
    return (
        f"Registered before the run: {found.family.name}{about}, primary endpoint {found.primary}, alpha "
        f"{found.family.alpha:g}, digest {found.family.digest[:16]}. p is exact; Holm p takes the number of slots into "
        "account; a slot that is not available keeps p = 1 and its place. A verdict is of one reader level "
        "and needs the gates to hold; the headline joins the levels to a claim. A falsifier that does not hold "
        "withdraws the claim that it names. The other endpoint is printed and is not the registered one. Below six "
        "traps with a difference nothing can separate at .05."
    )


def _tables(found: Findings, reader: str, endpoint: Endpoint) -> list[Table]:
    reading = found.readings[reader, endpoint]
    slots = found.slots(reader, endpoint)
    tables = [family_table(found.family.name, slots)] if slots else []
    tables.append(gates_table(reading, slots))
    if reading.falsifiers:
        table = falsifiers_table(reading)
        tables.append(replace(table, notes=(*table.notes, *_published_names(found))))
    return [replace(table, title=titled(table.title, reader, endpoint)) for table in tables]


def _published_names(found: Findings) -> tuple[str, ...]:
    """Bounds on published metrics, which a judge or another formula measured, are not taken for those of tracers."""
    traced = {metric.name.removesuffix("_traced"): metric.name for metric in METRICS}
    asked = dict.fromkeys(b.metric for f in found.family.falsifier for b in f.bound if b.metric in traced)
    if not asked:
        return ()
    names = ", ".join(f"{name} (tracers measure {traced[name]})" for name in asked)
    return (f"Published metrics that a run does not measure under that name: {names}.",)


def _forest(found: Findings, reader: str) -> Forest:
    reading = found.readings[reader, found.primary]
    rows = [_row(slot, "registered") for slot in found.slots(reader, found.primary)]
    rows += [_row(slot, "exploratory") for slot in reading.exploratory]
    return Forest(
        titled("Contrasts", reader, found.primary),
        "Share of paired cells by which the first condition leads the second, with a trap-cluster BCa interval. An "
        "interval is no test: the exact p is. Exploratory rows are not adjusted and carry no claim.",
        "difference",
        "the second passes more",
        "the first passes more",
        tuple(rows),
    )


def _row(slot: Slot, group: str) -> ForestRow:
    test, interval = slot.test, slot.difference
    registered = group == "registered"
    note = f"p {p_value(slot.p)}, Holm {p_value(slot.holm)}: {slot.verdict}" if registered else f"p {p_value(slot.p)}"
    return ForestRow(
        label=f"{slot.id}: {slot.first} - {slot.second}" if registered else slot.id,
        group=group,
        value=test.D / test.paired if test is not None and test.paired else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        note=note,
        primary=slot.primary,
    )
