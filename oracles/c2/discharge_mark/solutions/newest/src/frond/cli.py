"""The command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from frond import plan as plans
from frond._functions import FUNCTIONS
from frond._parser import EDITION, VERSION
from frond.check import readings
from frond.errors import FrondError
from frond.library import Value
from frond.machine import run
from frond.nodes import Program
from frond.parse import parse
from frond.render import render


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        sys.stdout.write(options.handler(options))
    except FrondError as error:
        where = f"{options.file}:" if getattr(options, "file", None) else ""
        print(f"{where}{' ' if where and not error.place else ''}{error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="frond", description="Rules for climate computers.")
    parser.add_argument("--version", action="version", version=f"frond {VERSION}, edition {EDITION}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, handler, text in (
        ("check", do_check, "say whether a program is right, and its readings"),
        ("show", do_show, "print a program in its usual form"),
        ("compile", do_compile, "print the plan of a program"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("file", type=Path)
        if handler is do_compile:
            command.add_argument("--listing", action="store_true", help="for people to read")
        command.set_defaults(handler=handler)
    running = commands.add_parser("run", help="print what the rules want done")
    running.add_argument("file", type=Path)
    running.add_argument("readings", nargs="*", metavar="NAME=VALUE")
    running.set_defaults(handler=do_run)
    listing = commands.add_parser("functions", help="list the functions")
    listing.add_argument("--block", help="only the functions of this block")
    listing.set_defaults(handler=do_functions)
    return parser


def _load(file: Path) -> Program:
    try:
        return parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FrondError(error.strerror or "cannot be read") from None
    except UnicodeDecodeError:
        raise FrondError("is not UTF-8") from None


def do_check(options: argparse.Namespace) -> str:
    program = _load(options.file)
    draining = plans.drains(plans.compile_program(program))
    more = f"drains: {', '.join(draining)}\n" if draining else ""
    return f"ok; readings: {', '.join(readings(program)) or 'none'}\n{more}"


def do_show(options: argparse.Namespace) -> str:
    return render(_load(options.file))


def do_compile(options: argparse.Namespace) -> str:
    plan = plans.compile_program(_load(options.file))
    return plans.listing(plan) if options.listing else plans.dumps(plan)


def do_run(options: argparse.Namespace) -> str:
    plan = plans.compile_program(_load(options.file))
    deeds = run(plan, dict(map(_reading, options.readings)))
    return "".join(f"{d.rule}: {d.action}({', '.join(map(_shown, d.arguments))})\n" for d in deeds)


def do_functions(options: argparse.Namespace) -> str:
    found = [f for f in FUNCTIONS.values() if options.block in (None, f.link.rpartition("/")[0])]
    if not found:
        raise FrondError(f"there is no block {options.block}")
    width = max(len(f.name) for f in found)
    return "".join(f"{f.name:{width}}  {f.doc}\n" for f in found)


def _reading(text: str) -> tuple[str, Value]:
    name, found, value = text.partition("=")
    if not found:
        raise FrondError(f"{text!r} is no reading; write name=value")
    if value in ("true", "false"):
        return name, value == "true"
    try:
        return name, float(value)
    except ValueError:
        return name, value


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"
