"""What a run needs to call models: the agent's door, the memory's judge, one budget for both, and what is paid already.

Invariant: everything that a configuration lacks is said before the run has a directory; everything that was ever paid
for, in sessions, arms and what was killed, is known before the next call is let through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from analysis.cost import PriceTable
from containers.layer import Layer
from containers.relay import check
from harness import leftovers
from harness.agents.agent import Agent
from harness.config import RunConfig
from harness.door import Door, open_door, price_table, upstream
from harness.judge import Judge, ModelJudge, require_judge
from harness.ledger import Ledger
from harness.outcome import UsageFault
from harness.records import ArmRecord, SessionRecord, uses
from harness.rundir import RunDir
from harness.spending import Budget, require_prices, total
from harness.stage import Key, paid_sessions
from memory_probe.opening import Condition


@dataclass
class Means:
    """See the module. `paid` has sessions of owed arms that need not be run again, by arm."""

    door: Door
    judge: Judge
    paid: Mapping[str, Mapping[Key, tuple[int, SessionRecord]]] = field(default_factory=dict)


def require(config: RunConfig, agent: Agent, conditions: Iterable[Condition]) -> None:
    """Whether agent and conditions can get at what they need. Raises UsageFault with the key, or the remedy."""
    needs, found = agent.needs, list(conditions)
    if needs.dialect is None and config.model.name:
        raise UsageFault(f"model.name: the agent {config.agent.name!r} calls no model")
    if (needs.dialect or config.judge.name) and (problem := check()):
        raise UsageFault(problem)
    if needs.dialect is not None:
        upstream(config.model, needs.dialect)
    require_judge(config.judge, found)
    if config.delivery == "pull" and not (needs.pull and needs.dialect):
        raise UsageFault(f"delivery: the agent {config.agent.name!r} has no tool to ask a memory by (remedy: push)")
    kept = [condition.card.code for condition in found if condition.kept_by_agent]
    if kept and not needs.files:
        raise UsageFault(f"conditions: {', '.join(kept)}: the agent {config.agent.name!r} keeps no notes of its own")
    for one in (config.model, config.judge):
        price_table(one.prices)


@contextmanager
def means(
    config: RunConfig,
    conditions: Iterable[Condition],
    agent: Agent,
    folder: RunDir,
    layer: Layer | None,
    ledger: Ledger,
    owed: Iterable[str],
    limit: Decimal | None,
) -> Iterator[Means]:
    """Open while the run goes on. Raises UsageFault for what a person can mend."""
    asking = any(condition.card.needs_model for condition in conditions)
    prices = _prices(config)
    if agent.needs.dialect is None and not asking:
        if limit is not None:
            raise UsageFault("--max-cost: neither the agent nor a memory of this run calls a model")
        with open_door(config, agent, folder, layer, prices, Budget(None, None, prices)) as door:
            yield Means(door, Judge())
        return
    for named in [config.model] * (agent.needs.dialect is not None) + [config.judge] * asking:
        require_prices(named, prices, limit)
    sessions = ledger.all_sessions()
    budget = Budget(limit, _spent(folder, ledger, sessions, prices), prices)
    with ExitStack() as stack:
        door = stack.enter_context(open_door(config, agent, folder, layer, prices, budget))
        judge = ModelJudge(config.judge, folder, prices, budget) if asking else Judge()
        stack.callback(judge.close)
        yield Means(door, judge, paid_sessions(sessions, owed) if agent.needs.dialect else {})
        judge.settled()


def _spent(
    folder: RunDir, ledger: Ledger, sessions: Mapping[tuple[str, int], list[SessionRecord]], prices: PriceTable
) -> Decimal | None:
    """What the run has used so far; what killed sessions left is taken in first."""
    committed: list[SessionRecord | ArmRecord] = [record for found in sessions.values() for record in found]
    known = list(uses([*committed, *ledger.all_arms()]))
    leftovers.take_in(folder, prices, {use.exchange for use in known})
    return total([*known, *leftovers.lost(folder)])


def _prices(config: RunConfig) -> PriceTable:
    """The prices of both models; the agent's table holds where both name one."""
    own, judge = (price_table(one.prices) for one in (config.model, config.judge))
    if own.version == judge.version:
        return own
    return own.model_copy(update={"version": f"{own.version}, {judge.version}", "model": {**judge.model, **own.model}})
