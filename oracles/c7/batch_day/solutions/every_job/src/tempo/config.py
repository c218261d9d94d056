"""Reads the job file (TOML).

All complaints are ConfigErrors that name the place. Unknown keys are errors:
a mistyped ``retries`` that is ignored costs somebody a night.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tempo.backoff import Backoff
from tempo.errors import ConfigError, ScheduleError
from tempo.model import DEFAULT_QUEUE, DEFAULT_TIMEOUT, Job
from tempo.schedule import Schedule

DEFAULT_JOURNAL = "journal.jsonl"
DEFAULT_SITE = "local"

SECTIONS = {"tempo", "retry", "job"}
SETTINGS = {"site", "journal"}
RETRY_KEYS = {"attempts", "base", "factor", "cap"}
JOB_KEYS = {"name", "schedule", "command", "queue", "timeout", "retry", "env", "enabled", "batch"}


@dataclass(frozen=True)
class Config:
    """Jobs keep the order of the file; names are unique."""

    jobs: tuple[Job, ...]
    site: str = DEFAULT_SITE
    journal: Path = Path(DEFAULT_JOURNAL)

    def job(self, name: str) -> Job:
        for job in self.jobs:
            if job.name == name:
                return job
        raise ConfigError(f"job {name!r}", "there is no such job")


def load(path: Path) -> Config:
    """Read the file at `path`; a relative journal is taken from the file's folder."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(str(path), error.strerror or "cannot be read") from error
    return parse(text, base=path.parent)


def parse(text: str, base: Path = Path()) -> Config:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("file", str(error)) from error
    _known(data, SECTIONS, "file")
    settings = _table(data, "tempo", "file")
    _known(settings, SETTINGS, "tempo")
    default_retry = _retry(_table(data, "retry", "file"), Backoff(), "retry")
    jobs = tuple(_job(item, default_retry, number) for number, item in enumerate(_jobs(data), start=1))
    _unique(jobs)
    return Config(
        jobs=jobs,
        site=_text(settings, "site", "tempo", DEFAULT_SITE),
        journal=base / _text(settings, "journal", "tempo", DEFAULT_JOURNAL),
    )


def _jobs(data: Mapping[str, Any]) -> list[Any]:
    jobs = data.get("job", [])
    if not isinstance(jobs, list):
        raise ConfigError("job", "write [[job]], not [job]")
    return jobs


def _job(item: Any, default_retry: Backoff, number: int) -> Job:
    if not isinstance(item, dict):
        raise ConfigError(f"job {number}", "must be a table")
    name = _text(item, "name", f"job {number}")
    where = f"job {name!r}"
    _known(item, JOB_KEYS, where)
    timeout = _number(item, "timeout", where, DEFAULT_TIMEOUT)
    if timeout <= 0:
        raise ConfigError(f"{where}.timeout", "must be positive")
    return Job(
        name=name,
        schedule=_schedule(_text(item, "schedule", where), where),
        command=_command(item.get("command"), where),
        queue=_text(item, "queue", where, DEFAULT_QUEUE),
        timeout=timeout,
        retry=_retry(_table(item, "retry", where), default_retry, f"{where}.retry"),
        env=_environment(_table(item, "env", where), where),
        enabled=_flag(item, "enabled", where, True),
        batch=_flag(item, "batch", where, False),
    )


def _schedule(text: str, where: str) -> Schedule:
    try:
        return Schedule.parse(text)
    except ScheduleError as error:
        raise ConfigError(f"{where}.schedule", str(error)) from error


def _command(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError as error:
            raise ConfigError(f"{where}.command", str(error)) from error
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        raise ConfigError(f"{where}.command", "must be a string or a list of strings")
    return tuple(value)


def _environment(table: Mapping[str, Any], where: str) -> dict[str, str]:
    for name, value in table.items():
        if not isinstance(value, str):
            raise ConfigError(f"{where}.env.{name}", "must be a string")
        if name.startswith("TEMPO_"):
            raise ConfigError(f"{where}.env.{name}", "names that start with TEMPO_ are taken")
    return dict(table)


def _retry(table: Mapping[str, Any], default: Backoff, where: str) -> Backoff:
    _known(table, RETRY_KEYS, where)
    attempts = table.get("attempts", default.attempts)
    if type(attempts) is not int:
        raise ConfigError(f"{where}.attempts", "must be a whole number")
    try:
        return Backoff(
            attempts=attempts,
            base=_number(table, "base", where, default.base),
            factor=_number(table, "factor", where, default.factor),
            cap=_number(table, "cap", where, default.cap),
        )
    except ValueError as error:
        raise ConfigError(where, str(error)) from error


def _unique(jobs: tuple[Job, ...]) -> None:
    seen: set[str] = set()
    for job in jobs:
        if job.name in seen:
            raise ConfigError(f"job {job.name!r}", "the name is used twice")
        seen.add(job.name)


def _known(table: Mapping[str, Any], keys: set[str], where: str) -> None:
    for key in sorted(set(table) - keys):
        raise ConfigError(where, f"unknown key {key!r}")


def _table(data: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{where}.{key}", "must be a table")
    return value


def _text(data: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if value is None:
        raise ConfigError(where, f"{key} is missing")
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{where}.{key}", "must be a string that is not empty")
    return value


def _number(data: Mapping[str, Any], key: str, where: str, default: float) -> float:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"{where}.{key}", "must be a number")
    return float(value)


def _flag(data: Mapping[str, Any], key: str, where: str, default: bool) -> bool:
    value = data.get(key, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{where}.{key}", "must be true or false")
    return value
