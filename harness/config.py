"""The configuration of a run: a TOML file, `key.path=value` words, and the defaults beside the keys.

Invariant: a `RunConfig` is complete and re-runnable; `semantic()` holds exactly the keys that change what is
measured, so that resuming elsewhere, with other paths or more jobs, is the same run.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from analysis.family import SHIPPED
from harness.outcome import UsageFault
from traps.schema import explain

ROOT = Path(__file__).resolve().parent.parent

#: Keys that say where and how fast, not what. What a family or a fold says is in the plan by its own digest.
PLACES = frozenset(
    {
        *("jobs", "traps_dir", "oracles_dir", "cache", "facts_from", "schema", "agent.program", "family", "fold"),
        *(f"{who}.{key}" for who in ("model", "judge") for key in ("key_env", "prices", "attempts", "wait")),
    }
)


def _listed(value: Any) -> Any:
    """`a,b` from a command line is a list."""
    return tuple(value.split(",")) if isinstance(value, str) else value


def _once(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) != len(values):
        raise ValueError("named twice: " + ", ".join(sorted({v for v in values if values.count(v) > 1})))
    return values


Words = Annotated[tuple[str, ...], BeforeValidator(_listed), AfterValidator(_once)]
Some = Annotated[Words, Field(min_length=1)]
Levels = Annotated[
    tuple[Literal["careful", "credulous"], ...],
    BeforeValidator(_listed),
    AfterValidator(_once),
    Field(min_length=1),
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BudgetConfig(_Model):
    """What a view may hold."""

    k: int = Field(default=6, ge=1)
    tokens: int = Field(default=1200, ge=1)


class LimitConfig(_Model):
    """Limits of one session (seconds, MiB, counts)."""

    wall: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    memory_mib: int = Field(default=1024, ge=64)
    processes: int = Field(default=256, ge=16)
    disk_mib: int = Field(default=256, ge=16)


class AgentConfig(_Model):
    """Which agent, and for `command` what to start: `program` is a folder that is put at /agent."""

    name: str = "reference"
    command: tuple[str, ...] = ()
    program: str = ""
    solution: str = "reference"


class ModelConfig(_Model):
    """The one endpoint that an agent may call, and what one session may use of it (0 = no limit).

    base_url     with /v1 for the two dialects of OpenAI, the bare host for Anthropic and Gemini
    key_env      name of the environment variable that holds the key; "" = the endpoint wants none
    key_header   where the key goes, if not where the dialect has it
    dialect      for agents that speak several; "" = their first
    calls, tokens, cost   of one session; cost in USD, by the price table
    prices       a price table of your own; "" = the one that comes with this package
    attempts, wait   how often a call is tried in all while the endpoint is in trouble, and seconds before the second
                     try; doubled each time, up to half a minute
    """

    name: str = ""
    base_url: str = ""
    key_env: str = ""
    key_header: str = ""
    dialect: Literal["", "chat", "responses", "anthropic", "gemini"] = ""
    calls: int = Field(default=200, ge=0)
    tokens: int = Field(default=0, ge=0)
    cost: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    prices: str = ""
    attempts: int = Field(default=10, ge=1, le=100)
    wait: float = Field(default=0.5, gt=0, le=30, allow_inf_nan=False)


class RunConfig(_Model):
    """Everything a run is made from."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    traps: Words = ()  # ids; empty = those of `fold`, else every trap found
    fold: str = ""  # a frozen set of traps (`folds/<name>.toml` in the traps folder); its digest is in the plan
    conditions: Some = ("B0", "B5", "ALL", "EVIDENCE", "POISON")
    seeds: int = Field(default=3, ge=1, le=10_000)
    first_seed: int = Field(default=1, ge=0)
    readers: Levels = ("careful", "credulous")
    haystack: int = Field(default=0, ge=0, le=2000)  # background episodes before S1
    family: str = ""  # a shipped family or a file: what is registered before the run; its content is in the plan
    agent: AgentConfig = Field(default_factory=AgentConfig)
    model: ModelConfig = Field(default_factory=ModelConfig)
    judge: ModelConfig = Field(default_factory=ModelConfig)  # what a memory asks: a sleep judge, a writer
    delivery: Literal["push", "pull"] = "push"  # the view in the prompt, or a tool that the agent may ask
    budget: BudgetConfig = Field(default_factory=BudgetConfig)
    limits: LimitConfig = Field(default_factory=LimitConfig)
    sandbox: Literal["bubblewrap", "docker"] = "bubblewrap"
    jobs: int = Field(default=0, ge=0)  # 0 = as many as there are cores
    traps_dir: str = str(ROOT / "traps")
    oracles_dir: str = str(ROOT / "oracles")
    cache: str = ""
    facts_from: str = ""

    def semantic(self) -> dict[str, Any]:
        """The keys that change what is measured, flattened (`budget.k`); values are JSON-ready.

        A run without a model, or a judge, says nothing of one, and one that pushes nothing of delivery, so that its
        digest is what it was before there was anything else.
        """
        data = self.model_dump(mode="json", by_alias=True)
        for who in ("model", "judge"):
            if not getattr(self, who).name:
                del data[who]
        if self.delivery == "push":
            del data["delivery"]
        return {k: v for k, v in flatten(data).items() if k not in PLACES}

    def anchored(self) -> RunConfig:
        """The same with absolute folders, so that it means the same from any working directory."""
        names = ("traps_dir", "oracles_dir", "cache", "facts_from")
        folders = {n: str(Path(getattr(self, n)).absolute()) for n in names if getattr(self, n)}
        program = str(Path(self.agent.program).absolute()) if self.agent.program else ""
        if self.family and self.family not in SHIPPED:
            folders["family"] = str(Path(self.family).absolute())
        return self.model_copy(update={**folders, "agent": self.agent.model_copy(update={"program": program})})

    @property
    def cache_dir(self) -> Path:
        """Where toolchains, images and hosted archives are kept: `cache`, else the user's cache folder."""
        if given := self.cache or os.environ.get("DREAMBENCH_CACHE"):
            return Path(given).absolute()
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "dreambench"

    @property
    def workers(self) -> int:
        return self.jobs or os.cpu_count() or 1


def flatten(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def load(path: Path | None, words: Sequence[str] = (), base: dict[str, Any] | None = None) -> RunConfig:
    """A configuration from a file and `key.path=value` words. Raises UsageFault naming file and line, or key."""
    data: dict[str, Any] = dict(base or {})
    where = "configuration"
    if path is not None:
        where = str(path)
        try:
            data |= tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageFault(f"{path}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageFault(f"{path}: {error}") from error
    for word in words:
        _set(data, word)
    return validate(data, where)


def validate(data: dict[str, Any], where: str) -> RunConfig:
    """Raises UsageFault that names each bad key."""
    try:
        return RunConfig.model_validate(data)
    except ValidationError as error:
        raise UsageFault(f"{where}: {explain(error)}") from error


def _set(data: dict[str, Any], word: str) -> None:
    key, equals, text = word.partition("=")
    if not equals or not key:
        raise UsageFault(f"{word!r}: expected key.path=value")
    table = data
    *path, last = key.split(".")
    for part in path:
        inner = table.get(part, {})
        if not isinstance(inner, dict):
            raise UsageFault(f"{word!r}: {part} is not a table")
        table[part] = dict(inner)
        table = table[part]
    table[last] = _value(text)


def _value(text: str) -> Any:
    """JSON where it parses, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
