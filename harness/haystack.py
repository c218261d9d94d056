"""Interference: background episodes of the fixture, recorded before S1 of every arm.

A filled store is built once for a (fixture, seed, condition), through the memory protocol alone, and copied into
each arm's empty namespace. Invariant: every condition is told the same episodes, drawn once for a (fixture, seed),
committed to as one digest before the first session, and kept in `background.json` (0600).
"""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from harness.draw import Draws
from harness.once import Once
from harness.outcome import UsageFault
from harness.rundir import replace_file
from memory_probe.ladder import Condition, Opening
from memory_probe.model import ModelFault
from memory_probe.protocol import Episode, MemoryFault, Note, Scope
from traps import facts
from traps.background import Mention, PastSession, draw, episodes
from traps.background_file import Background
from traps.schema import explain

SCHEMA = 1
#: A store sleeps after so many background sessions, and after the last.
SLEEP_EVERY = 50
_SETTLE_SECONDS = 600.0

Row = tuple[int, int, int, int, int, str, str, int]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class Drawn:
    """The background of one fixture and seed; `source` is the digest of the file that it was drawn from."""

    source: str
    episodes: int
    salt: str
    mentions: tuple[Mention, ...]

    def commitment(self, name: str) -> str:
        """sha256 over salt, name and everything that was drawn."""
        value = json.dumps([self.source, self.episodes, self.mentions], separators=(",", ":"))
        return facts.digest(f"background:{name}", value, self.salt)


Past = dict[tuple[str, int], Drawn]


def draw_all(backgrounds: Mapping[str, Background], n: int, seeds: Iterable[int], draws: Draws) -> Past:
    """A fresh background of `n` episodes for every fixture and seed, with no number or token of the traps' draws."""
    past: Past = {}
    for seed in seeds:
        mine = [d for (_, s), d in draws.items() if s == seed]
        taken = {value for d in mine for value in (*d.facts.values(), *d.refs.values())}
        for name, background in backgrounds.items():
            past[name, seed] = Drawn(background.digest, n, secrets.token_hex(32), draw(background, n, taken))
    return past


def obtain(backgrounds: Mapping[str, Background], n: int, seeds: Iterable[int], draws: Draws, old: Path | None) -> Past:
    """The background of another run (its `background.json`) if that run has one of this size, else a fresh draw.

    Raises UsageFault when the other's was drawn from another file or lacks a fixture or seed.
    """
    wanted = list(seeds)
    if not backgrounds:
        return {}
    stored = load(old) if old and old.exists() else {}
    if not stored or {d.episodes for d in stored.values()} != {n}:
        return draw_all(backgrounds, n, wanted, draws)
    past: Past = {}
    for name, background in backgrounds.items():
        for seed in wanted:
            found = stored.get((name, seed))
            if found is None or found.source != background.digest:
                what = "no background" if found is None else "the background was drawn from another file"
                raise UsageFault(f"{old}: {what}: fixture {name}, seed {seed}")
            past[name, seed] = found
    return past


def commitments(past: Past) -> dict[str, str]:
    """`fixture/seed` -> the one digest of that background."""
    return {f"{name}/{seed}": drawn.commitment(f"{name}/{seed}") for (name, seed), drawn in past.items()}


def save(path: Path, past: Past) -> None:
    """Write the secret file (mode 0600), atomically and durably."""
    rows = [
        {
            "fixture": n,
            "seed": s,
            "source": d.source,
            "episodes": d.episodes,
            "salt": d.salt,
            "mentions": d.mentions,
        }
        for (n, s), d in past.items()
    ]
    text = json.dumps({"schema": SCHEMA, "background": rows}, ensure_ascii=False, separators=(",", ":"))
    replace_file(path, text.encode(), durable=True)


class _Drawn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    fixture: str
    seed: int
    source: Digest
    episodes: int = Field(ge=1)
    salt: Digest
    mentions: list[Row]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    schema_: Literal[1] = Field(alias="schema")
    background: list[_Drawn]


def load(path: Path) -> Past:
    """Read a secret file. Raises UsageFault when it cannot be used, naming the key."""
    try:
        found = _File.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror} (the background of a run is in its background.json)") from error
    except ValidationError as error:
        raise UsageFault(f"{path}: not a background file: {explain(error)[:400]}") from error
    except ValueError as error:
        raise UsageFault(f"{path}: not a background file: {error}") from error
    return {
        (r.fixture, r.seed): Drawn(r.source, r.episodes, r.salt, tuple(Mention(*m) for m in r.mentions))
        for r in found.background
    }


class Haystack:
    """The filled stores of a run, made on demand below `scratch`. Thread-safe. Without arguments it is empty."""

    def __init__(
        self,
        scratch: Path | None = None,
        backgrounds: Mapping[str, Background] | None = None,
        past: Past | None = None,
    ) -> None:
        self._scratch, self._backgrounds, self._past = scratch, backgrounds or {}, past or {}
        self._guard = threading.Lock()
        self._told: Once[tuple[Episode, ...]] = Once()
        self._locks: dict[tuple[str, int, str], threading.Lock] = {}
        self._filled: dict[tuple[str, int, str], Path | str] = {}  # a folder, or why there is none
        self._folder: Path | None = None

    def fill(self, condition: Condition, fixture: str, seed: int, namespace: Path) -> None:
        """Put a copy of the filled store into a namespace that is still empty.

        Raises MemoryFault when the memory could not take the background in (for every arm that asks).
        """
        if (fixture, seed) not in self._past or condition.card.instrument:
            return
        key = (fixture, seed, condition.card.code)
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._filled:
                self._filled[key] = self._build(condition, fixture, seed)
            found = self._filled[key]
        if isinstance(found, str):
            raise MemoryFault(found)
        if any(found.iterdir()):
            shutil.copytree(found, namespace, copy_function=shutil.copyfile, dirs_exist_ok=True)

    def close(self) -> None:
        """Remove the filled stores."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _build(self, condition: Condition, fixture: str, seed: int) -> Path | str:
        """The folder of the filled store; trouble of the memory as text, trouble of our disk or of a model raised."""
        base = Path(tempfile.mkdtemp(dir=self._room()))
        told = self.episodes(fixture, seed)
        try:
            files = _filled(condition, base / "live", told)
        except (OSError, ModelFault):  # a model that gives no answer now may give one to the next arm
            raise
        except Exception as error:
            return f"the background of {fixture} could not be recorded: {type(error).__name__}: {error}"
        store = base / "store"
        store.mkdir()
        for name, data in files.items():
            target = store / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        shutil.rmtree(base / "live", ignore_errors=True)
        return store

    def episodes(self, fixture: str, seed: int) -> list[Episode]:
        """The background as a memory is told it, numbered from 1; rendered once for all conditions."""
        return list(self._told.get((fixture, seed), lambda: self._render(fixture, seed))[0])

    def _render(self, fixture: str, seed: int) -> tuple[Episode, ...]:
        drawn = self._past[fixture, seed]
        past = episodes(self._backgrounds[fixture], drawn.episodes, drawn.mentions)
        return tuple(_episode(fixture, session) for session in past)

    def _room(self) -> Path:
        with self._guard:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(dir=self._scratch, prefix="stores-"))
            return self._folder


def _filled(condition: Condition, namespace: Path, told: list[Episode]) -> Mapping[str, bytes]:
    memory = condition.open(Opening(namespace))
    try:
        for count, episode in enumerate(told, 1):
            memory.record(episode)
            if count % SLEEP_EVERY == 0 or count == len(told):
                memory.settle(_SETTLE_SECONDS)
                memory.sleep(episode.date)
        return memory.freeze()
    finally:
        memory.close()


def _episode(fixture: str, session: PastSession) -> Episode:
    notes = tuple(
        Note(
            e.text, e.kind, e.author, e.authority, e.date, e.until, Scope(e.scope.files, e.scope.symbols, e.scope.task)
        )
        for e in session.events
    )
    return Episode(
        number=session.number,
        repository=fixture,
        task=session.task,
        date=session.date,
        prompt=session.prompt,
        steps=session.steps,
        delta=session.delta,
        check_passed=session.passed,
        check_output="",
        notes=notes,
    )
