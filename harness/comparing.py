"""Two run directories made comparable: what their plans differ in, which draws are equal, which conditions meet.

Invariant: a comparison is refused unless every key in which the plans differ belongs to a factor that was named, and
unless the runs drew at least one trap and seed alike; nothing is written into either run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from analysis.compare import BASELINE, Asked, Key, Pair, Side
from analysis.rates import NOT_RUN
from analysis.records import ENDPOINTS, ArmRow
from analysis.report.comparison import RunTold, Setting
from analysis.report.layout import NONE, clean
from harness.config import flatten
from harness.description import Description
from harness.outcome import UsageFault
from harness.plan import differing
from harness.rundir import RunDir
from traps.facts import merkle_root
from traps.schema import explain

#: A factor's name and the plan keys that belong to it (each with everything below it).
FACTORS: Mapping[str, tuple[str, ...]] = {
    "haystack": ("config.haystack", "background"),
    "agent": ("agent", "config.agent", "config.model"),
    "judge": ("config.judge",),  # the model that memories ask
    "delivery": ("config.delivery",),
    "conditions": ("config.conditions", "conditions"),
    "budget": ("config.budget",),
    "limits": ("config.limits",),
    "readers": ("config.readers",),
    "traps": ("config.traps", "traps"),
    "seeds": ("config.seeds", "config.first_seed"),
    "oracles": ("oracles",),
    "family": ("family", "config.family"),
    "sandbox": ("sandbox",),  # of the configuration, outside the plan's meaning
}
#: Keys that can move a control, which has no memory; instruments are filled within the budget, too.
_MOVES_ALL = (*FACTORS["agent"], *FACTORS["delivery"], "config.limits", "traps", "oracles", "sandbox", "format")
_UNKNOWN = "?"  # the history of a trap of which no arm has run yet

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Commitments(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    root: Digest
    commitments: dict[Annotated[str, StringConstraints(pattern=r"^.+/[0-9]+$")], dict[str, Digest]]
    background: dict[str, Digest] = Field(default_factory=dict)


@dataclass(frozen=True)
class Taken:
    """One run as it is compared: `arms` that ended, `planned` endings, of which `owed` are invalid or did not run."""

    home: RunDir
    stored: Description
    draws: Mapping[Key, Mapping[str, str]]
    background: Mapping[str, str]
    arms: tuple[ArmRow, ...]
    planned: int
    owed: int

    @property
    def meaning(self) -> dict[str, Any]:
        """What must be equal: the plan's meaning, and the sandbox."""
        return self.stored.meaning | {"sandbox": self.stored.config.get("sandbox")}

    def part(self, name: str) -> dict[str, Any]:
        """A table of the meaning; empty where there is none."""
        found = self.stored.meaning.get(name)
        return found if isinstance(found, dict) else {}

    @property
    def conditions(self) -> tuple[str, ...]:
        return tuple(self.stored.arms_by_condition)

    @property
    def readers(self) -> tuple[str, ...]:
        return tuple("" if name == "-" else name for name in self.stored.readers)


@dataclass(frozen=True)
class Meeting:
    """Two runs that may be compared: the sides, what is asked, and what is said of it."""

    first: Side
    second: Side
    asked: Asked
    setting: Setting


def take(home: RunDir, arms: Sequence[ArmRow], planned: int, owed: int) -> Taken:
    """A run with the arms that ended. Raises UsageFault: damaged commitments, an arm outside the plan."""
    stored, path = home.description(), home.path / "commitments.json"
    try:
        told = _Commitments.model_validate(home.read_json("commitments.json"))
    except ValidationError as error:
        raise UsageFault(f"{path}: damaged: {explain(error)}") from error
    leaves = [leaf for facts in told.commitments.values() for leaf in facts.values()]
    if not merkle_root([*leaves, *told.background.values()]) == told.root == stored.draw_digest:
        raise UsageFault(f"{path}: the commitments do not match the draw digest in run.json")
    draws = {
        (trap, int(seed)): facts for name, facts in told.commitments.items() for trap, _, seed in [name.rpartition("/")]
    }
    for arm in arms:
        if (arm.trap, arm.seed) not in draws or arm.condition not in stored.arms_by_condition:
            raise UsageFault(
                f"{home.ledger}: {arm.trap}/{arm.condition}/{arm.seed}/{arm.history} is not in the plan of run.json"
            )
    return Taken(home, stored, draws, told.background, tuple(arms), planned, owed)


def parse_pairs(words: Sequence[str]) -> tuple[Pair, ...]:
    """`FIRST:SECOND` each, once. Raises UsageFault."""
    found = []
    for word in words:
        first, colon, second = word.partition(":")
        if not (first and colon and second):
            raise UsageFault(f"--pair {word}: expected FIRST:SECOND, a condition of A and one of B")
        found.append(Pair(first, second))
    return tuple(dict.fromkeys(found))


def meet(a: Taken, b: Taken, factors: Sequence[str], pairs: Sequence[Pair]) -> Meeting:
    """Check that the runs may be compared, and how. Raises UsageFault that says what stands against it."""
    if a.stored.label == b.stored.label:
        raise UsageFault(f"{a.home.path} and {b.home.path} are one run (label {a.stored.label})")
    factors = tuple(dict.fromkeys(factors))
    _check_pairs(a, b, factors, pairs)
    keys = _check_factors(a, b, factors, pairs)
    equal = frozenset(key for key, facts in a.draws.items() if b.draws.get(key) == facts)
    if not equal:
        raise UsageFault(
            f"{a.home.path} and {b.home.path} drew no trap and seed alike, so nothing can be paired "
            f"(remedy: dreambench run --facts-from {a.home.path} ...)"
        )
    controls = _controls(a, b)
    shared = [c for c in a.conditions if c in b.conditions]
    if factors:
        pairs = tuple(dict.fromkeys([*(Pair(c, c) for c in shared if c not in controls), *pairs]))
    histories = _histories(a, b), _histories(b, a)
    whole = all(_all_known(run, known) for run, known in zip((a, b), histories, strict=True))
    asked = Asked(
        equal=equal,
        pairs=tuple(pairs),
        controls=tuple(controls if factors else shared),
        movable=frozenset(c for c in controls if _can_move(keys, c, controls[c])),
        repeat=not factors,
        endpoints=ENDPOINTS if whole else ("main",),
    )
    setting = _setting(a, b, factors, keys, equal, whole)
    return Meeting(_side(a, histories[0]), _side(b, histories[1]), asked, setting)


def _check_pairs(a: Taken, b: Taken, factors: Sequence[str], pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        word = f"--pair {pair.first}:{pair.second}"
        for name, run, side in ((pair.first, a, "A"), (pair.second, b, "B")):
            if name not in run.conditions:
                raise UsageFault(f"{word}: {side} has no condition {name!r} (there are: {', '.join(run.conditions)})")
        if pair.first != pair.second and "conditions" not in factors:
            raise UsageFault(
                f"{word}: names two conditions, so the condition is a factor (remedy: --factor conditions)"
            )
    if pairs and not factors:
        raise UsageFault("--pair: without a --factor two runs are a repeat, in which only drift is looked at")


def _check_factors(a: Taken, b: Taken, factors: Sequence[str], pairs: Sequence[Pair]) -> dict[str, str]:
    """The keys in which the plans differ, with both values."""
    known = {*flatten(a.meaning), *flatten(b.meaning)}
    found = dict(_split(line) for line in differing(a.meaning, b.meaning))
    owned: set[str] = set()
    for name in factors:
        if name not in FACTORS and not any(_under(key, (name,)) for key in known):
            raise UsageFault(f"--factor {name}: no such factor (there are: {', '.join(FACTORS)}, or a key of the plan)")
        mine = {key for key in found if _belongs(key, name, a, b)}
        across = name == "conditions" and any(pair.first != pair.second for pair in pairs)
        if not mine and not across:
            raise UsageFault(f"--factor {name}: the plans do not differ in it; nothing was compared")
        owned |= mine
    if other := [f"{key}: {values}" for key, values in found.items() if key not in owned]:
        what = f"more than the factor {', '.join(factors)}" if factors else "what no --factor names"
        raise UsageFault(
            f"the plans differ in {what}; nothing was compared. Differing keys (A -> B):\n  " + "\n  ".join(other)
        )
    return found


def _split(line: str) -> tuple[str, str]:
    key, _, values = clean(line).partition(": ")
    return key, values


def _under(key: str, prefixes: Sequence[str]) -> bool:
    return any(key == prefix or key.startswith(f"{prefix}.") for prefix in prefixes)


def _belongs(key: str, factor: str, a: Taken, b: Taken) -> bool:
    """Is the key the factor's? A trap that one run lacks takes its oracle and its background along."""
    if _under(key, FACTORS.get(factor, (factor,))):
        return True
    if factor != "traps":
        return False
    lone = {f"oracles.{trap}" for trap in a.part("traps").keys() ^ b.part("traps").keys()}
    return key in lone | {f"background.{name}" for name in a.part("background").keys() ^ b.part("background").keys()}


def _controls(a: Taken, b: Taken) -> dict[str, bool]:
    """The baseline and the instruments that both runs have, each with "is it an instrument?"."""
    cards = a.part("conditions")
    tools = {c: bool(isinstance(card := cards.get(c), dict) and card.get("instrument")) for c in a.conditions}
    return {c: tool for c, tool in tools.items() if c in b.conditions and (tool or c == BASELINE)}


def _can_move(keys: Mapping[str, str], condition: str, instrument: bool) -> bool:
    prefixes = (*_MOVES_ALL, f"conditions.{condition}", *(FACTORS["budget"] if instrument else ()))
    return any(_under(key, prefixes) for key in keys)


def _histories(run: Taken, other: Taken) -> dict[str, dict[str, bool]]:
    """Each trap's histories, as far as arms of this run or of the same trap in the other tell; which one is main."""
    own, same = run.part("traps"), other.part("traps")
    found: dict[str, dict[str, bool]] = {trap: {} for trap, _ in run.draws}
    told = (arm for arm in other.arms if own.get(arm.trap) == same.get(arm.trap))
    for arm in (*run.arms, *told):
        if arm.trap in found:
            found[arm.trap].setdefault(arm.history, arm.main)
    return {trap: histories or {_UNKNOWN: True} for trap, histories in found.items()}


def _all_known(run: Taken, histories: Mapping[str, Mapping[str, bool]]) -> bool:
    """Has every history of the plan been seen? Else a cell could seem whole that is not."""
    return sum(len(histories[trap]) for trap, _ in run.draws) * len(run.conditions) == run.stored.arms


def _side(run: Taken, histories: Mapping[str, Mapping[str, bool]]) -> Side:
    return Side((*run.arms, *_not_run(run, histories)), run.conditions, run.readers)


def _not_run(run: Taken, histories: Mapping[str, Mapping[str, bool]]) -> Iterator[ArmRow]:
    """An invalid row for every planned arm without a record."""
    have = {(arm.trap, arm.condition, arm.seed, arm.history, arm.reader) for arm in run.arms}
    constructs = {arm.trap: arm.construct for arm in run.arms}
    for trap, seed in run.draws:
        for history, main in histories[trap].items():
            for condition in run.conditions:
                for reader in run.readers:
                    if (trap, condition, seed, history, reader) not in have:
                        construct = constructs.get(trap, NONE)
                        yield ArmRow(trap, construct, condition, seed, history, main, reader, "invalid", NOT_RUN)


def _setting(
    a: Taken, b: Taken, factors: Sequence[str], keys: Mapping[str, str], equal: frozenset[Key], whole: bool
) -> Setting:
    notes = []
    if both := a.background.keys() & b.background.keys():
        alike = sum(a.background[name] == b.background[name] for name in both)
        notes.append(f"Both runs drew a background for {len(both)} (fixture, seed); {alike} of them are equal.")
    if not whole:
        notes.append("Matched is not compared: of some trap not every history has run yet.")
    if a.readers and b.readers and not set(a.readers) & set(b.readers):
        notes.append("The runs share no reader level, so each level of A meets each of B.")
    return Setting(
        first=_told(a),
        second=_told(b),
        factors=tuple(factors),
        differing=tuple(keys.items()),
        equal=len(equal),
        unequal=tuple(key for key in a.draws if key in b.draws and key not in equal),
        only_first=tuple(key for key in a.draws if key not in b.draws),
        only_second=tuple(key for key in b.draws if key not in a.draws),
        notes=tuple(notes),
    )


def _told(run: Taken) -> RunTold:
    haystack = run.part("config").get("haystack") or 0
    told = {
        "run": run.stored.label,
        "agent": run.stored.agent,
        "plan": run.stored.plan_digest[:16],
        "draw": run.stored.draw_digest[:16],
        "conditions": ", ".join(run.conditions),
        "reader levels": ", ".join(name or NONE for name in run.readers),
        "background episodes": str(haystack),
        "arms": str(run.stored.arms),
        "endings owed": f"{run.owed} of {run.planned}",
    }
    return RunTold(run.home.path.name, tuple(told.items()), run.planned, run.owed)
