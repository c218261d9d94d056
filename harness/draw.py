"""The draw: fresh facts and note numbers for every (trap, seed), and the public commitments to them.

Invariant: a value comes from the CSPRNG, is drawn once per trap and seed, and is the same for every condition and
history, so that comparisons pair; the commitments are written before the first session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.outcome import UsageFault
from traps import facts
from traps.load import Trap

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


def draw_digest(draws: Draws) -> str:
    """Merkle root of all commitments."""
    return facts.merkle_root(c for draw in draws.values() for c in draw.commitments().values())


def save(path: Path, draws: Draws) -> None:
    """Write the secret file (mode 0600), atomically."""
    rows = [
        {"trap": t, "seed": s, "facts": dict(d.facts), "refs": dict(d.refs), "salts": dict(d.salts)}
        for (t, s), d in draws.items()
    ]
    temporary = path.with_name(path.name + ".new")
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "draws": rows}, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def load(path: Path) -> Draws:
    """Read a secret file. Raises UsageFault when it cannot be used."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data.get("schema") != SCHEMA:
            raise UsageFault(f"{path}: schema {data.get('schema')!r} is not known here (expected {SCHEMA})")
        return {(r["trap"], r["seed"]): Draw(r["facts"], r["refs"], r["salts"]) for r in data["draws"]}
    except OSError as error:
        raise UsageFault(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageFault(f"{path}: not a facts file: {error}") from error


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
            drawn = {n for n, f in trap.spec.facts.items() if f.kind != "derived"}
            notes = {n.id for n in (*trap.spec.event, *trap.spec.poison)}
            if set(draw.facts) != drawn or set(draw.refs) != notes:
                raise UsageFault(f"{path}: the facts of {trap.id} were drawn for another version of the trap")
            chosen[trap.id, seed] = draw
    return chosen
