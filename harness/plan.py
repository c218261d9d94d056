"""The plan: which arms are run, on what, and the digest of that meaning.

An arm is trap x condition x seed x history. Invariant: the digest covers what is measured (traps, oracles, cards,
budgets, limits, readers, agent) and what was registered about it, and nothing of where or how fast; equal digests mean
comparable runs.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analysis.family import Family, FamilyError, find_family
from harness.config import RunConfig
from harness.outcome import UsageFault
from memory_probe.ladder import Condition
from oracles.folder import OracleFolder, load_oracle
from traps.background_file import Background, load_background
from traps.folds import load_fold, member_digest
from traps.load import Trap, discover, load_trap
from traps.schema import MAX_DOTS

FORMAT = 1
MAX_ORACLE = 1 << 18  # bytes of an oracle's source, and of what it declares


@dataclass(frozen=True, order=True)
class Arm:
    """The unit that runs."""

    trap: str
    condition: str
    seed: int
    history: str

    @property
    def id(self) -> str:
        return f"{self.trap}/{self.condition}/{self.seed}/{self.history}"

    @staticmethod
    def parse(text: str) -> Arm:
        """Raises UsageFault for a text that is no arm id."""
        parts = text.split("/")
        if len(parts) != 4 or not parts[2].isdigit():
            raise UsageFault(f"{text!r}: an arm is named trap/condition/seed/history")
        return Arm(parts[0], parts[1], int(parts[2]), parts[3])


@dataclass(frozen=True)
class Plan:
    """Everything a run follows."""

    traps: Mapping[str, Trap]
    oracles: Mapping[str, OracleFolder]
    conditions: Mapping[str, Condition]
    seeds: tuple[int, ...]
    readers: tuple[str, ...]
    arms: tuple[Arm, ...]
    meaning: Mapping[str, Any]
    backgrounds: Mapping[str, Background] = field(default_factory=dict)  # by fixture; empty without a haystack
    family: Family | None = None  # what is registered

    @property
    def unmet(self) -> tuple[str, ...]:
        """Conditions that the family names and the run does not have: what needs them stays unavailable."""
        named = self.family.conditions if self.family else ()
        return tuple(code for code in named if code not in self.conditions)

    @property
    def digest(self) -> str:
        """sha256 of the meaning as canonical JSON."""
        return hashlib.sha256(json.dumps(self.meaning, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def select(config: RunConfig, cache: Path, checked: bool = True) -> dict[str, Trap]:
    """Load the traps a configuration names. Raises UsageFault for an unknown id, TrapError for a broken file.

    `checked` as in `traps.load.load_trap`.
    """
    root = Path(config.traps_dir)
    if not root.is_dir():
        raise UsageFault(f"{root}: no such traps folder")
    folders = {f"{f.parent.name}_{f.name}": f for f in discover(root)}
    if config.fold and config.traps:
        raise UsageFault("fold, traps: give one of the two; a fold is run whole")
    wanted = list(load_fold(root, config.fold).members if config.fold else config.traps) or list(folders)
    if unknown := [w for w in wanted if w not in folders]:
        raise UsageFault(f"traps: unknown {', '.join(unknown)} (there are: {', '.join(folders) or 'none'})")
    return {w: load_trap(folders[w], root / "fixtures", cache, checked) for w in wanted}


def make(config: RunConfig, traps: dict[str, Trap], known: Mapping[str, Condition], agent_card: str) -> Plan:
    """Build the plan. Raises UsageFault for an unknown condition, and for a family that does not fit."""
    if unknown := [c for c in config.conditions if c not in known]:
        raise UsageFault(f"conditions: unknown {', '.join(unknown)} (there are: {', '.join(known)})")
    if not traps:
        raise UsageFault(f"{config.traps_dir}: no traps found")
    conditions = {c: known[c] for c in config.conditions}
    oracles = load_oracles(config, traps)
    seeds = tuple(range(config.first_seed, config.first_seed + config.seeds))
    readers = config.readers if config.agent.name == "reference" else ("-",)
    arms = tuple(
        Arm(trap.id, code, seed, history.name)
        for trap in traps.values()
        for seed in seeds
        for history in trap.spec.history
        for code in conditions
    )
    meaning = {
        "format": FORMAT,
        "config": {k: v for k, v in config.semantic().items() if k != "sandbox"},
        "agent": agent_card,
        "traps": {t: trap.digest for t, trap in traps.items()},
        "oracles": {t: oracle.digest for t, oracle in oracles.items()},
        "conditions": {c: asdict(condition.card) for c, condition in conditions.items()},
    }
    family = _family(config, len(traps), seeds)
    if config.fold:
        meaning["fold"] = _fold(config, traps, oracles)
    if family:
        meaning["family"] = {"name": family.name, "digest": family.digest}
    backgrounds = _backgrounds(config, traps) if config.haystack else {}
    if backgrounds:
        meaning["background"] = {name: background.digest for name, background in backgrounds.items()}
    stored = json.loads(json.dumps(meaning))
    return Plan(traps, oracles, conditions, seeds, readers, arms, stored, backgrounds, family)


def _fold(config: RunConfig, traps: Mapping[str, Trap], oracles: Mapping[str, OracleFolder]) -> dict[str, str]:
    """Name and digest of the fold. Raises UsageFault naming every member that has changed since it was frozen."""
    fold = load_fold(Path(config.traps_dir), config.fold)
    found = {t: member_digest(trap.digest, oracles[t].digest) for t, trap in traps.items()}
    if changed := fold.changed(found):
        raise UsageFault(f"fold: {fold.name}: {'; '.join(changed)} (name the traps themselves to run them anyway)")
    return {"name": fold.name, "digest": fold.digest}


def load_oracles(config: RunConfig, traps: Mapping[str, Trap], checked: bool = True) -> dict[str, OracleFolder]:
    """The oracle of each trap. Raises UsageFault naming file and line, SolutionError.

    `checked` False is for oracles that a stranger sent: their programs are not parsed here.
    """
    return {t: _oracle(_oracle_folder(config, trap), checked) for t, trap in traps.items()}


def _family(config: RunConfig, traps: int, seeds: Sequence[int]) -> Family | None:
    """What the configuration registers. Raises UsageFault for a family that is broken or wants another fold."""
    if not config.family:
        return None
    try:
        family = find_family(config.family)
    except FamilyError as error:
        raise UsageFault(f"family: {error}") from error
    if family.traps not in (None, traps):
        raise UsageFault(f"family: {family.name} registers {family.traps} traps, the run has {traps}")
    if family.seeds and set(family.seeds) != set(seeds):
        raise UsageFault(f"family: {family.name} registers seeds {list(family.seeds)}, the run has {list(seeds)}")
    return family


def _backgrounds(config: RunConfig, traps: Mapping[str, Trap]) -> dict[str, Background]:
    """The background of every fixture in use. Raises UsageFault when one reaches a trap's first session."""
    fixtures = Path(config.traps_dir) / "fixtures"
    found = {name: load_background(fixtures, name) for name in sorted({t.spec.fixture for t in traps.values()})}
    for trap in traps.values():
        ends, first = found[trap.spec.fixture].spec.ends, trap.spec.session[0].date
        if ends >= first:
            raise UsageFault(f"{trap.spec.fixture}: the background ends on {ends}, {trap.id} begins on {first}")
    return found


def _oracle(folder: Path, checked: bool) -> OracleFolder:
    """Load an oracle, which must parse if it is `checked`; nothing of it is run here.

    Raises UsageFault naming file and line.
    """
    for path in (folder / "oracle.py", folder / "expect.toml"):
        if path.is_file() and path.stat().st_size > MAX_ORACLE:  # parsing takes a multiple of it
            raise UsageFault(f"{path}: {path.stat().st_size} bytes (at most {MAX_ORACLE})")
    declared = folder / "expect.toml"
    if declared.is_file() and max(line.count(b".") for line in declared.read_bytes().split(b"\n")) > MAX_DOTS:
        raise UsageFault(f"{declared}: a line with more than {MAX_DOTS} dots")
    try:
        oracle = load_oracle(folder)
        if checked:
            ast.parse(oracle.source)
    except SyntaxError as error:
        raise UsageFault(f"{folder / 'oracle.py'}:{error.lineno or 1}: {error.msg}") from error
    except (RecursionError, MemoryError) as error:  # what the parsers say of a thousand brackets
        raise UsageFault(f"{folder}: oracle.py or expect.toml is nested too deeply to be read") from error
    except ValueError as error:
        raise UsageFault(f"{folder / 'oracle.py'}: {error}") from error
    return oracle


def _oracle_folder(config: RunConfig, trap: Trap) -> Path:
    return Path(config.oracles_dir) / trap.folder.parent.name / trap.folder.name


def differing(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> Sequence[str]:
    """Dotted keys in which two meanings differ, each with both values where they are short."""
    keys: list[str] = []
    for key in sorted({*old, *new}):
        left, right = old.get(key), new.get(key)
        if isinstance(left, dict) and isinstance(right, dict):
            keys += differing(left, right, f"{prefix}{key}.")
        elif left != right:
            keys.append(f"{prefix}{key}: {_short(left)} -> {_short(right)}")
    return keys


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
