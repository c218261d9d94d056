"""What a memory asks a model: one sitting for each arm, counted and limited like the sessions of agents.

A killed arm is begun again, and its memory then asks what it asked before. What was answered is kept until the arm is
in the ledger, so that the same question of the same arm is paid once.

Invariant: a memory gets a model only if its card says that it needs one; what was asked is known when the arm's record
is made, and what never came into a record is counted from what it left behind.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from analysis.cost import PriceTable
from containers.relay import Patience, Quota, Relay
from containers.relay_record import CALLS
from harness.asking import Asked, dialect_of
from harness.config import ModelConfig
from harness.door import EXCHANGES, Halt, spent_out, trouble_of, upstream
from harness.outcome import Boundary, UsageFault
from harness.records import ModelUse
from harness.rundir import RunDir
from harness.spending import Budget, use_of
from memory_probe.model import Answer, Model
from memory_probe.opening import Condition

ANSWERS = "answers"


class Sitting:
    """Of an arm whose memory asks nothing."""

    model: Model | None = None

    def used(self) -> ModelUse | None:
        """What was asked, once the memory is closed. None: it asks none."""
        return None

    def leave(self) -> None:
        """Nothing is asked any more; safe to call twice."""


class Judge:
    """Nobody: for conditions without a model."""

    def sit(self, name: str) -> Sitting:
        """For the arm of that name. Raises Halt when the run may spend no more."""
        return Sitting()

    def settled(self) -> None:
        """All that was asked is in the ledger."""

    def close(self) -> None:
        """End what is open."""


class _Recalling:
    """A model whose answers are kept in a file: what was asked there before is answered from it."""

    def __init__(self, model: Model, path: Path) -> None:
        self._model, self._path = model, path
        self._known: dict[str, list[Answer]] = defaultdict(list)
        if path.exists():
            for line in path.read_bytes().split(b"\n")[:-1]:  # the last one may have been cut
                told = json.loads(line)
                self._known[told.pop("asked")].append(Answer(**told))

    def ask(self, system: str, text: str, most: int) -> Answer:
        """See `Model.ask`."""
        asked = hashlib.sha256(json.dumps([system, text, most]).encode()).hexdigest()
        if self._known[asked]:
            return self._known[asked].pop(0)
        answer = self._model.ask(system, text, most)
        with self._path.open("ab") as file:
            file.write(json.dumps({"asked": asked, **asdict(answer)}).encode() + b"\n")
        return answer


class _ModelSitting(Sitting):
    def __init__(self, judge: ModelJudge, name: str) -> None:
        self._judge = judge
        self._account = judge.budget.open(judge.config.cost)
        self._path = judge.folder.path / EXCHANGES / f"{secrets.token_hex(8)}.jsonl"
        quota = Quota(judge.config.calls or None, judge.config.tokens or None)
        self._asked = Asked(judge.relay, quota, self._path, self._account.gate)
        answers = judge.answers / hashlib.sha256(name.encode()).hexdigest()
        self.model = _Recalling(self._asked, answers)

    def used(self) -> ModelUse | None:
        self.leave()
        ledger = self._asked.ledger()
        exchange = self._judge.folder.put_packed(self._path.read_bytes())
        trouble = trouble_of(ledger)
        use = use_of(ledger, exchange, self._judge.prices, self._account.longest)
        self._judge.told.append(self._path)
        if isinstance(trouble, Halt):
            raise trouble
        return use.model_copy(update={"trouble": trouble.reason if trouble else ""})

    def leave(self) -> None:
        self._asked.close()
        self._account.close(self._asked.ledger())


class ModelJudge(Judge):
    """A relay of its own to the judge's endpoint. `budget` is the run's, shared with the agent's door."""

    def __init__(self, config: ModelConfig, folder: RunDir, prices: PriceTable, budget: Budget) -> None:
        self.config, self.folder, self.prices, self.budget = config, folder, prices, budget
        self.answers = folder.path / ANSWERS
        for place in (self.answers, folder.path / EXCHANGES):
            place.mkdir(mode=0o700, exist_ok=True)
        self.told: list[Path] = []  # exchanges of sittings whose arms have a record
        self.relay = Relay(upstream(config, dialect_of(config), "judge"), Patience(config.attempts, config.wait))

    def sit(self, name: str) -> Sitting:
        if self.budget.exhausted:
            raise Halt(Boundary.MODEL, spent_out(self.budget))
        return _ModelSitting(self, name)

    def settled(self) -> None:
        for path in self.told:
            path.with_suffix(CALLS).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        shutil.rmtree(self.answers)

    def close(self) -> None:
        self.relay.close()


def require_judge(config: ModelConfig, conditions: Iterable[Condition]) -> None:
    """Whether conditions that need a model have one, and none is given in vain. Raises UsageFault."""
    asking = [condition.card.code for condition in conditions if condition.card.needs_model]
    if asking and not config.name:
        raise UsageFault(f"judge.name: {', '.join(asking)} ask a model (also judge.base_url, and judge.key_env)")
    if config.name and not asking:
        raise UsageFault("judge.name: no condition of this run asks a model")
    if asking:
        upstream(config, dialect_of(config), "judge")
