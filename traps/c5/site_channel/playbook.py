"""Suggestions for misspelt functions, deeds as JSON, one command for all sites."""

CHECK = "src/frond/check.py"
CLI = "src/frond/cli.py"
SITES = "src/frond/sites.py"


def s1(work, notes):
    work.replace(
        CHECK,
        """        raise CheckFault(f"there is no function {call.name}", call.place)
""",
        """        near = get_close_matches(call.name, FUNCTIONS, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise CheckFault(f"there is no function {call.name}{hint}", call.place)
""",
    )
    work.replace(
        CHECK,
        "from collections.abc import Iterator\n",
        "from collections.abc import Iterator\nfrom difflib import get_close_matches\n",
    )


def s2(work, notes):
    work.replace(
        CLI,
        "    running.set_defaults(handler=do_run)\n",
        """    running.add_argument("--json", action="store_true", help="print a list of objects")
    running.set_defaults(handler=do_run)
""",
    )
    work.insert_after(
        CLI,
        "    deeds = run(plan, dict(map(_reading, options.readings)))\n",
        """    if options.json:
        return json.dumps([vars(deed) for deed in deeds], ensure_ascii=False) + "\\n"
""",
    )
    work.replace(CLI, "import argparse\nimport sys\n", "import argparse\nimport json\nimport sys\n")


def s3(work, notes):
    work.write(
        SITES,
        '''"""All sites of a folder: their settings, their plans, and the index that the sender reads."""

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
    (output / "index.json").write_text(json.dumps(index, indent=2) + "\\n", encoding="utf-8")
''',
    )
    for name in ("duin", "polder", "terp"):
        settings = f"sites/{name}/site.toml"
        channel = notes.recall("colon", about="radio channel in the settings for a site", path=settings)
        if channel:
            work.write(settings, f'channel = "{channel}"\n')
    _command(work)


def _command(work):
    work.insert_after(CLI, "from frond.render import render\n", "from frond.sites import read_sites, write_sites\n")
    work.insert_after(
        CLI,
        "    listing.set_defaults(handler=do_functions)\n",
        """    building = commands.add_parser("build", help="compile the programs of all sites")
    building.add_argument("sites", type=Path)
    building.add_argument("--output", type=Path, required=True, metavar="DIR")
    building.set_defaults(handler=do_build)
""",
    )
    work.replace(
        CLI,
        "\n\ndef _reading(text: str)",
        """

def do_build(options: argparse.Namespace) -> str:
    sites = read_sites(options.sites)
    try:
        write_sites(sites, options.output)
    except OSError as error:
        raise FrondError(f"{options.output}: {error.strerror}") from None
    return "".join(f"{s.name}: {s.rules} rule{'' if s.rules == 1 else 's'}\\n" for s in sites)


def _reading(text: str)""",
    )
