"""The draw: fresh facts and note numbers for every (trap, seed), and the public commitments to them.

Invariant: a value comes from the CSPRNG, is drawn once per trap and seed, and is the same for every condition and
history, so that comparisons pair; the commitments are written before the first session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from harness.outcome import UsageFault
from harness.rundir import replace_file
from traps import facts
from traps.load import Trap
from traps.schema import explain

SCHEMA = 1


@dataclass(frozen=True)
class Draw:
    """The drawn values of one trap and seed: facts, note numbers by note id, and their salts (hex)."""

    facts: Mapping[str, str]
    refs: Mapping[str, str]
    salts: Mapping[str, str]

    def commitments(self) -> dict[str, str]:
        """name -> sha256 over salt, name and value; note numbers under `ref:<id>`."""
        return {name: facts.digest(name, value, self.salts[name]) for name, value in self._named().items()}

    def _named(self) -> dict[str, str]:
        return {**self.facts, **{f"ref:{n}": v for n, v in self.refs.items()}}


Draws = dict[tuple[str, int], Draw]


def draw_one(trap: Trap) -> Draw:
    """A fresh draw for one trap and seed; note numbers are redrawn until all differ."""
    values = facts.draw(trap.spec.facts)
    refs: dict[str, str] = {}
    for note in (*trap.spec.event, *trap.spec.poison):
        number = facts.draw_token(note.ref)
        while number in refs.values():
            number = facts.draw_token(note.ref)
        refs[note.id] = number
    names = [*values, *(f"ref:{n}" for n in refs)]
    return Draw(values, refs, {name: facts.commit(name, "").salt for name in names})


def draw_all(traps: Iterable[Trap], seeds: Iterable[int]) -> Draws:
    """A fresh draw for every trap and seed."""
    wanted = list(seeds)
    return {(trap.id, seed): draw_one(trap) for trap in traps for seed in wanted}


def draw_digest(draws: Draws, others: Iterable[str] = ()) -> str:
    """Merkle root of all commitments; `others` are commitments to what is not a trap's (the background)."""
    own = [c for draw in draws.values() for c in draw.commitments().values()]
    return facts.merkle_root([*own, *others])


def save(path: Path, draws: Draws) -> None:
    """Write the secret file (mode 0600), atomically and durably."""
    rows = [
        {"trap": t, "seed": s, "facts": dict(d.facts), "refs": dict(d.refs), "salts": dict(d.salts)}
        for (t, s), d in draws.items()
    ]
    text = json.dumps({"schema": SCHEMA, "draws": rows}, ensure_ascii=False)
    replace_file(path, text.encode(), durable=True)


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    trap: str
    seed: int
    facts: dict[str, str]
    refs: dict[str, str]
    salts: dict[str, Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]]

    @model_validator(mode="after")
    def _salted(self) -> Self:
        if unsalted := {*self.facts, *(f"ref:{n}" for n in self.refs)} - set(self.salts):
            raise ValueError(f"no salt for {', '.join(sorted(unsalted))}")
        return self


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    schema_: Literal[1] = Field(alias="schema")
    draws: list[_Row]


def load(path: Path) -> Draws:
    """Read a secret file. Raises UsageFault when it cannot be used, naming the key."""
    try:
        found = _File.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror} (the facts of a run are in its facts.json)") from error
    except ValidationError as error:
        raise UsageFault(f"{path}: not a facts file: {explain(error)}") from error
    except ValueError as error:
        raise UsageFault(f"{path}: not a facts file: {error}") from error
    return {(r.trap, r.seed): Draw(r.facts, r.refs, r.salts) for r in found.draws}


def reuse(path: Path, traps: Iterable[Trap], seeds: Iterable[int]) -> Draws:
    """The draws of another run for these traps and seeds. Raises UsageFault naming what does not fit."""
    stored = load(path)
    chosen: Draws = {}
    wanted = list(seeds)
    for trap in traps:
        for seed in wanted:
            draw = stored.get((trap.id, seed))
            if draw is None:
                raise UsageFault(f"{path}: no facts for {trap.id} seed {seed}")
            if unfit := misfits(trap, draw):
                raise UsageFault(
                    f"{path}: the facts of {trap.id} were drawn for another version of the trap: {', '.join(unfit)}"
                )
            chosen[trap.id, seed] = draw
    return chosen


def misfits(trap: Trap, draw: Draw) -> list[str]:
    """Names of facts and notes that are only on one side, or whose value this trap cannot have drawn."""
    drawn = {n: f for n, f in trap.spec.facts.items() if f.kind != "derived"}
    notes = {n.id: n for n in (*trap.spec.event, *trap.spec.poison)}
    found = set(drawn) ^ set(draw.facts) | {f"ref:{n}" for n in set(notes) ^ set(draw.refs)}
    found |= {n for n, fact in drawn.items() if n in draw.facts and not facts.fits(fact, draw.facts[n])}
    found |= {
        f"ref:{i}"
        for i, note in notes.items()
        if i in draw.refs and not re.fullmatch(facts.pattern(note.ref), draw.refs[i])
    }
    return sorted(found)
