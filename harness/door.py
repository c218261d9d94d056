"""The door to a model: one relay for a run, one session of it for each sandbox, and what each of them used.

Sessions of agents that call no model go through a door that is shut, so that the way of a session is one.

Invariant: the key is read from the environment variable that the configuration names, given to the relay, and kept
nowhere else; the exchange of a session lies in the run directory from its first call on, so that what a killed run
had asked for is counted when it is taken up again.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from analysis.cost import PriceError, PriceTable, parse_prices, shipped_prices
from containers.layer import Layer
from containers.layer_build import build_layer, own_version
from containers.relay import Local, Patience, Quota, Relay, Upstream, routes
from containers.relay_record import CALLS
from containers.relay_rules import Ledger
from containers.relay_usage import Dialect
from containers.sandbox import Endpoint, Sandbox, SandboxError
from harness.agents.agent import Agent
from harness.alive import broken, is_of_the_request
from harness.config import ModelConfig, RunConfig
from harness.outcome import ERRORS, Boundary, Fault, UsageFault
from harness.records import ModelUse
from harness.rundir import RunDir
from harness.spending import MAX_COST, Budget, use_of


class Halt(Fault):
    """Why a run stops although arms are owed: none of them is touched by it."""


@dataclass(frozen=True)
class Used:
    """What a session used of the model (None: it had none), and what of ours went wrong there."""

    use: ModelUse | None = None
    trouble: Fault | None = None
    _exchange: Path | None = None

    def settled(self) -> None:
        """The session is in the ledger: its exchange need not be counted any more if the run is killed."""
        if self._exchange is not None:
            self._exchange.with_suffix(CALLS).unlink(missing_ok=True)
            self._exchange.unlink(missing_ok=True)


class Visit:
    """One session at the door. `endpoint` goes into the session's Spec; `used` may be asked once it is over."""

    endpoint: Endpoint | None = None

    def used(self) -> Used:
        """What was used. Raises Fault when the exchange cannot be kept."""
        return Used()


class Door:
    """Shut: for agents without a model. `layer` has the programs of the agent."""

    layer: Layer | None = None

    @contextmanager
    def visit(self, seconds: float, local: Sequence[Local] = ()) -> Iterator[Visit]:
        """A session of at most `seconds` wall time; `local` are targets that the harness answers itself.

        Raises Halt when the run may spend no more.
        """
        yield Visit()

    def close(self) -> None:
        """End what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _ModelVisit(Visit):
    def __init__(self, door: ModelDoor, seconds: float, local: Sequence[Local]) -> None:
        self._door, self._seconds = door, seconds
        self._path = door.exchanges / f"{secrets.token_hex(8)}.jsonl"
        model = door.config
        quota = Quota(model.calls or None, model.tokens or None, seconds)
        self._account = door.budget.open(model.cost)
        self._session = door.relay.open(quota, self._path, self._account.gate, local)
        self.endpoint: Endpoint = self._session

    def used(self) -> Used:
        self._session.release()
        ledger = self._session.ledger()
        self._account.close(ledger)
        exchange = self._door.folder.put_packed(self._path.read_bytes())
        if ledger.down and is_of_the_request(self._door.relay, self._door.config.name, self._path):
            ledger = replace(ledger, down="", hit=(*ledger.hit, ERRORS))
        use = use_of(ledger, exchange, self._door.prices, self._account.longest)
        trouble = trouble_of(ledger) or self._broken(ledger)
        return Used(use.model_copy(update={"trouble": trouble.reason if trouble else ""}), trouble, self._path)

    def _broken(self, ledger: Ledger) -> Fault | None:
        """What the exchange alone tells: an endpoint that did not finish, or said nothing until the time was up."""
        why = broken(self._path)
        if ledger.wall >= ENDED * self._seconds and ledger.silent >= SILENT * self._seconds:
            why = f"the endpoint said nothing in the last {ledger.silent:.0f} s of the session"
        return Fault(Boundary.MODEL, why) if why else None

    def leave(self) -> None:
        """Whatever happened: nothing is asked any more, and what was used is counted."""
        self._session.release()
        self._account.close(self._session.ledger())


class ModelDoor(Door):
    """Open: for an agent that calls a model. `budget` is the run's.

    Raises UsageFault for a configuration that cannot be, SandboxError when the relay cannot work.
    """

    def __init__(
        self,
        config: ModelConfig,
        dialect: Dialect,
        folder: RunDir,
        layer: Layer | None,
        prices: PriceTable,
        budget: Budget,
    ) -> None:
        self.config, self.folder, self.layer, self.prices, self.budget = config, folder, layer, prices, budget
        self.exchanges = folder.path / EXCHANGES
        self.exchanges.mkdir(mode=0o700, exist_ok=True)
        self._lock = threading.Lock()
        self.relay = Relay(upstream(config, dialect), Patience(config.attempts, config.wait))

    @contextmanager
    def visit(self, seconds: float, local: Sequence[Local] = ()) -> Iterator[Visit]:
        if self.budget.exhausted:
            raise Halt(Boundary.MODEL, spent_out(self.budget))
        visit = _ModelVisit(self, seconds, local)
        try:
            yield visit
        finally:
            visit.leave()

    def close(self) -> None:
        self.relay.close()


#: The part of a session in which an endpoint says nothing, to its end, that makes the session's timeout the endpoint's.
SILENT = 0.5
ENDED = 0.95  # the part of its time after which a session was not ended by anything else
#: Where exchanges lie while their sessions run; what is found there at a start belongs to sessions that were killed.
EXCHANGES = "exchanges"


def spent_out(budget: Budget) -> str:
    """What is said when a run may spend no more."""
    return f"{budget.total} USD are spent, and --max-cost allows {budget.limit} (remedy: resume with a higher one)"


def trouble_of(ledger: Ledger) -> Fault | None:
    """What of ours went wrong in a session of the relay."""
    if ledger.fault:
        return Fault(Boundary.HARNESS, f"relay: {ledger.fault}")
    if ledger.down:
        return Fault(Boundary.MODEL, ledger.down)
    if MAX_COST in ledger.hit:
        return Halt(Boundary.MODEL, f"the run may spend no more ({MAX_COST}; remedy: resume with a higher one)")
    return None


def price_table(path: str) -> PriceTable:
    """The prices in a file, or those that come with this package for "". Raises UsageFault for what cannot be read."""
    try:
        return parse_prices(Path(path).read_text(encoding="utf-8"), path) if path else shipped_prices()
    except OSError as error:
        raise UsageFault(f"model.prices: {path}: {error.strerror}") from error
    except (PriceError, UnicodeDecodeError) as error:
        raise UsageFault(f"model.prices: {error}") from error


def upstream(config: ModelConfig, dialect: Dialect, who: str = "model") -> Upstream:
    """The endpoint as the relay takes it, with the key. Raises UsageFault naming the key of the configuration, which
    is in the table `who`."""
    if not config.name:
        raise UsageFault(f"{who}.name: no model is named (also {who}.base_url, and {who}.key_env for its key)")
    if not config.base_url:
        raise UsageFault(f"{who}.base_url: where the model answers, such as http://127.0.0.1:8080/v1")
    key = os.environ.get(config.key_env, "") if config.key_env else ""
    if config.key_env and not key:
        raise UsageFault(f"{who}.key_env: the environment variable {config.key_env} is not set")
    try:
        return Upstream(
            config.base_url, key, routes(dialect, config.name), models=(config.name,), key_header=config.key_header
        )
    except ValueError as error:
        raise UsageFault(f"{who}: {error}") from error


def layer_of(config: RunConfig, agent: Agent, sandbox: Sandbox) -> Layer | None:
    """The programs of an agent, installed if they are not. Raises UsageFault for what a person can mend."""
    recipe = agent.needs.recipe
    if recipe is None:
        return None
    try:
        return build_layer(config.cache_dir, recipe, own_version() if agent.needs.outside else sandbox.python)
    except SandboxError as error:
        raise UsageFault(f"{config.agent.name}: {error}") from error


def described(sandbox: Sandbox, layer: Layer | None) -> dict[str, str]:
    """What sandbox and layer say of themselves, for the record. Raises SandboxError."""
    return {**sandbox.describe(), **({"layer": layer.digest} if layer else {})}


def open_door(
    config: RunConfig, agent: Agent, folder: RunDir, layer: Layer | None, prices: PriceTable, budget: Budget
) -> Door:
    """The door that an agent needs. Raises UsageFault for what a person can mend."""
    try:
        if agent.needs.dialect is None:
            door = Door()
            door.layer = layer
            return door
        return ModelDoor(config.model, agent.needs.dialect, folder, layer, prices, budget)
    except SandboxError as error:
        raise UsageFault(f"{config.agent.name}: {error}") from error
