"""The eleven gates, in their order: what may not be shown, and why.

Invariant: a memory is rejected by the first gate that refuses it, and no gate looks at how well it would rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from memory_probe.read.candidates import Asked
from memory_probe.store.columns import Array
from memory_probe.store.model import STATUSES, TYPES, Status
from memory_probe.store.view import StoreView
from memory_probe.weights import Weights


@dataclass(frozen=True)
class Policy:
    """What a variant gates by: the names of its gates, the readable statuses and types."""

    gates: tuple[str, ...]
    statuses: tuple[Status, ...] = ("active",)
    types: tuple[str, ...] = TYPES


Gate = Callable[[StoreView, Asked, Policy, Weights], Array]


def status(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """The status is not readable; with history only deleted ones are not."""
    shown = set(STATUSES) - {"deleted"} if ask.history else set(policy.statuses)
    return ~np.isin(view.columns["status"], [STATUSES.index(s) for s in shown])


def expired(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """Its last day is over."""
    mask: Array = view.columns["until"] < ask.query.now.toordinal()
    return mask & (not ask.history)


def repository(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """It belongs to another repository; a side that names none does not refuse."""
    wanted, held = ask.query.repository, view.columns.repositories.values
    other = np.fromiter((bool(r and wanted) and r != wanted for r in held), bool, len(held))
    return _spread(other, view.columns["repository"])


def files(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """Both sides state files and share none."""
    scopes, wanted = view.columns.files, ask.query.paths
    return _spread((scopes.common(wanted) == 0) & ~scopes.empty() & bool(wanted), view.columns["files"])


def symbols(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """Both sides state symbols and share none."""
    scopes, wanted = view.columns.symbols, ask.query.symbols
    return _spread((scopes.common(wanted) == 0) & ~scopes.empty() & bool(wanted), view.columns["symbols"])


def task(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """Both sides name a task and the names share no content word."""
    tasks = view.columns.tasks
    return _spread((tasks.common(ask.task) == 0) & (tasks.sizes() > 0) & bool(ask.task), view.columns["task"])


def superseded(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """An active superseder exists."""
    mask = np.zeros(view.columns.size, bool)
    for number in () if ask.history else view.superseders:
        mask[number - 1] = view.outdone(number)
    return mask


def risk(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """Risk at or above the bound."""
    mask: Array = view.columns["risk"] >= weights.gate_risk
    return mask


def staleness(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """Staleness at or above the bound."""
    mask: Array = view.columns["staleness"] >= weights.gate_staleness
    return mask & (not ask.history)


def ungrounded(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """No field of its provenance says anything."""
    mask: Array = view.columns["populated"] == 0
    return mask


def type_policy(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """The condition does not read this type."""
    return ~np.isin(view.columns["type"], [TYPES.index(t) for t in policy.types])


GATES: Mapping[str, Gate] = MappingProxyType(
    {
        "status": status,
        "expired": expired,
        "repository": repository,
        "files": files,
        "symbols": symbols,
        "task": task,
        "superseded": superseded,
        "risk": risk,
        "staleness": staleness,
        "ungrounded": ungrounded,
        "type": type_policy,
    }
)

_DETAILS = 16  # more than there are statuses or types
_SAID = {
    "expired": "its last day is over",
    "repository": "it belongs to another repository",
    "files": "its files are not among the asked ones",
    "symbols": "its symbols are not among the asked ones",
    "task": "its task is another one",
    "superseded": "an active memory supersedes it",
    "risk": "its risk is too high",
    "staleness": "it is too stale",
    "ungrounded": "it names no evidence",
}


def refusals(view: StoreView, ask: Asked, policy: Policy, weights: Weights) -> Array:
    """For each row -1, or a code for `reason`: the first gate that refuses it and what that gate saw."""
    first = np.full(view.columns.size, -1, np.int64)
    for place, (name, gate) in enumerate(GATES.items()):
        if name in policy.gates:
            seen = view.columns[name] if name in ("status", "type") else 0
            first = np.where((first < 0) & gate(view, ask, policy, weights), place * _DETAILS + seen, first)
    return first


def reason(code: int) -> str:
    """Machine word, colon, plain words."""
    place, detail = divmod(code, _DETAILS)
    name = tuple(GATES)[place]
    if name == "status":
        return f"status: it is {STATUSES[detail]}"
    if name == "type":
        return f"type: the condition does not read {TYPES[detail]}"
    return f"{name}: {_SAID[name]}"


def _spread(verdicts: Array, column: Array) -> Array:
    """From one verdict a distinct value to one a row."""
    found: Array = verdicts[column]
    return found
