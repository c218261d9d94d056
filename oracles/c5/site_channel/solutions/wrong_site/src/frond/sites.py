"""All sites of a folder: their settings, their plans, and the index that the sender reads."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from frond.errors import FrondError
from frond.parse import parse
from frond.plan import Plan, compile_program, dumps

LEAST_EVERY = 10


@dataclass(frozen=True)
class Site:
    """A site; `every` counts seconds."""

    name: str
    plan: Plan
    every: int = 60
    channel: str = "main"

    @property
    def rules(self) -> int:
        return sum(name != "" for name, _ in self.plan.parts)


def read_sites(root: Path) -> list[Site]:
    """The sites below a folder, by name. Raises FrondError that names the file."""
    programs = sorted(root.glob("*/main.frond"), key=lambda path: path.parent.name)
    if not programs:
        raise FrondError(f"{root}: there are no sites")
    return [Site(path.parent.name, _plan(path), **_settings(path.with_name("site.toml"))) for path in programs]


def _plan(file: Path) -> Plan:
    try:
        return compile_program(parse(file.read_text(encoding="utf-8")))
    except UnicodeDecodeError:
        raise FrondError(f"{file}: is not UTF-8") from None
    except FrondError as error:
        raise FrondError(f"{file}:{'' if error.place else ' '}{error}") from None


def _settings(file: Path) -> dict[str, object]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        raise FrondError(f"{file}: is no TOML") from None
    for name, value in found.items():
        match name, value:
            case "every", int() if type(value) is int and value >= LEAST_EVERY:
                pass
            case "channel", str() if value:
                pass
            case ("every" | "channel"), _:
                raise FrondError(f"{file}: {name} has a bad value")
            case _:
                raise FrondError(f"{file}: {name} is no setting")
    return found


def write_sites(sites: list[Site], output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    for site in sites:
        (output / f"{site.name}.plan").write_text(dumps(site.plan), encoding="utf-8")
    index = {s.name: {"plan": f"{s.name}.plan", "every": s.every, "channel": s.channel} for s in sites}
    (output / "index.json").write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
