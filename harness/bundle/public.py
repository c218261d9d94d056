"""The public part of a run: everything that statistics and accounting need, and nothing that could hold a fact.

What a program or a memory said (output, details of a check, paths, reasons) is left out or cut to words of ours; every
digest or tree id stands under a pseudonym, since a fact may be one of four words and a digest would tell which.
Invariant: the public part is a function of the whole records and the key, so that who has the key can recompute it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from harness.config import PLACES, ROOT
from harness.outcome import CAPTURE_LIMIT, CHOKED, FORBIDDEN_PATH, NO_EDIT, STOPPED, Outcome
from harness.records import ArmRecord, Carried, Ending, ModelTokens, ModelUse, SessionRecord, VerdictCheck

Pseudonym = Callable[[str], str]

SEALED = "(sealed)"
_WORDS = (NO_EDIT, CAPTURE_LIMIT, FORBIDDEN_PATH, *STOPPED, CHOKED)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z _-]{0,59}")


def public_arm(
    record: ArmRecord, pseudonym: Pseudonym, texts: Collection[str], models: Collection[str] = ()
) -> ArmRecord:
    """The record without free texts; `texts` are those of the oracle's checks, which are public, and so are `models`:
    the names in the configuration."""
    return record.model_copy(
        update={
            "store": pseudonym(record.store),
            "endings": tuple(_ending(ending, texts) for ending in record.endings),
            "shown_types": tuple(plain_word(word) for word in record.shown_types),
            "sleep": _plain_keys(record.sleep),
            "refused": None if record.refused is None else _plain_keys(record.refused),
            "asked": record.asked and public_use(record.asked, pseudonym, models),
        }
    )


def _ending(ending: Ending, texts: Collection[str]) -> Ending:
    return ending.model_copy(
        update={
            "cause": public_cause(ending.cause, ending.outcome, texts),
            "checks": tuple(_check(check) for check in ending.checks),
            "production": tuple(_status(path) for path in ending.production),
            "stripped": tuple(_status(path) for path in ending.stripped),
            "forbidden": tuple(_status(path) for path in ending.forbidden),
        }
    )


def _check(check: VerdictCheck) -> VerdictCheck:
    return check.model_copy(update={"detail": ""})


def _status(path: str) -> str:
    """How a path was changed, without the path: an agent names files as it likes."""
    return path.partition(" ")[0]


def public_cause(cause: str, outcome: Outcome, texts: Collection[str]) -> str:
    """A cause as far as it is made of words of ours and of the oracle's."""
    if outcome in (Outcome.INVALID, Outcome.UNAVAILABLE):
        return SEALED if cause else ""
    head, found, rest = cause.partition(": ")
    if cause in texts or cause in _WORDS or not cause:
        return cause
    if found and head in _WORDS:
        inner = public_cause(rest, outcome, texts)
        return f"{head}: {inner}"
    return SEALED


def plain_word(word: str) -> str:
    """A word of a memory, if it is only letters; a number or a sign could be a fact's."""
    return word if not word or _PLAIN.fullmatch(word) else SEALED


def _plain_keys(counts: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word, number in counts.items():
        found[plain_word(word)] = found.get(plain_word(word), 0) + number
    return found


def public_session(record: SessionRecord, pseudonym: Pseudonym, models: Collection[str] = ()) -> SessionRecord:
    """The record with every id under a pseudonym, without output and without paths that an agent chose."""
    check = record.check and record.check.model_copy(update={"output": ""})
    return record.model_copy(
        update={
            "tree_in": pseudonym(record.tree_in),
            "tree_out": pseudonym(record.tree_out),
            "memory_in": record.memory_in and pseudonym(record.memory_in),
            "memory_out": record.memory_out and pseudonym(record.memory_out),
            "prompt": pseudonym(record.prompt),
            "view": pseudonym(record.view),
            "transcript": pseudonym(record.transcript),
            "carried": tuple(_carried(carried, pseudonym) for carried in record.carried),
            "dropped": tuple(SEALED for _ in record.dropped),
            "check": check,
            "model": record.model and public_use(record.model, pseudonym, models),
        }
    )


def configured_models(meaning: Mapping[str, Any]) -> frozenset[str]:
    """Names of models in the configuration of a plan."""
    config = meaning.get("config", {})
    return frozenset(str(config[key]) for key in ("model.name", "judge.name") if config.get(key))


def public_use(use: ModelUse, pseudonym: Pseudonym, models: Collection[str]) -> ModelUse:
    """A program may name any model and any target; only names that were configured stay."""

    def named(model: str) -> str:
        return model if not model or model in models else SEALED

    def renamed(entry: ModelTokens) -> ModelTokens:
        return entry.model_copy(update={"model": named(entry.model)})

    return use.model_copy(
        update={
            "tokens": tuple(renamed(entry) for entry in use.tokens),
            "refused": tuple(SEALED for _ in use.refused),
            "exchange": pseudonym(use.exchange),
            "unpriced": tuple(named(model) for model in use.unpriced),
            "trouble": SEALED if use.trouble else "",
        }
    )


def _carried(carried: Carried, pseudonym: Pseudonym) -> Carried:
    return carried.model_copy(update={"sha256": pseudonym(carried.sha256)})


def public_description(data: Mapping[str, Any]) -> dict[str, Any]:
    """run.json without the places of the machine that it was run on."""
    config = {key: dict(value) if isinstance(value, dict) else value for key, value in data["config"].items()}
    for key in PLACES - {"schema"}:
        table, _, name = key.rpartition(".")
        (config.get(table, {}) if table else config).pop(name, None)
    return {**data, "config": config}


def checkout() -> str:
    """Where this code lies, which must not be told."""
    return str(ROOT)
