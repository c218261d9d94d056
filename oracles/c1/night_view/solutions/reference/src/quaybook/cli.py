"""The command line. Exit status: 0 fine, 1 a request was refused, 2 the call itself was wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TextIO

from quaybook.errors import BadRequest, QuayError
from quaybook.extract import extract
from quaybook.handlers import answer
from quaybook.service import Harbour
from quaybook.store import Store
from quaybook.wire import Request, decode, encode


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    try:
        with Store(args.db) as store:
            status: int = args.run(args, Harbour(store))
            return status
    except (QuayError, OSError) as error:
        print(f"quaybook: {error}", file=sys.stderr)
        return 2


def build_parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("db", type=Path, metavar="DB", help="the file with the book")

    parser = argparse.ArgumentParser(prog="quaybook", description="The berth book of a small harbour.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    init = commands.add_parser("init", parents=[common], help="create the file, add berths")
    init.add_argument("--berths", type=Path, metavar="FILE", help="lines of name,length in cm")
    init.set_defaults(run=do_init)

    ask = commands.add_parser("ask", parents=[common], help="one request")
    ask.add_argument("verb")
    ask.add_argument("fields", nargs="*", metavar="NAME=VALUE")
    ask.set_defaults(run=do_ask)

    serve = commands.add_parser("serve", parents=[common], help="requests on standard input")
    serve.set_defaults(run=do_serve)

    board = commands.add_parser("board", parents=[common], help="what the displays show")
    board.set_defaults(run=do_board)

    one = commands.add_parser("extract", parents=[common], help="who lay where on a day, as CSV")
    one.add_argument("--day", type=date.fromisoformat, required=True)
    one.set_defaults(run=do_extract)

    nights = commands.add_parser("nights", parents=[common], help="nights of a month by pontoon")
    nights.add_argument("--month", type=month, required=True)
    nights.set_defaults(run=do_nights)
    return parser


def month(text: str) -> tuple[int, int]:
    """Year and month from YYYY-MM. Raises ValueError."""
    first = date.fromisoformat(f"{text}-01")
    if f"{first:%Y-%m}" != text:
        raise ValueError(text)
    return first.year, first.month


def do_init(args: argparse.Namespace, harbour: Harbour) -> int:
    lines = args.berths.read_text(encoding="utf-8").splitlines() if args.berths else []
    for number, line in enumerate(lines, start=1):
        name, _, length = line.partition(",")
        if not length.strip().isdecimal():
            raise BadRequest(f"{args.berths.name}, line {number}: name,length is needed")
        harbour.add_berth(name.strip(), int(length))
    print(f"{args.db}: {len(harbour.free_berths())} berths free")
    return 0


def do_ask(args: argparse.Namespace, harbour: Harbour) -> int:
    response = answer(harbour, Request("1", args.verb, body_of(args.fields)))
    print(encode(response))
    return 0 if response.ok else 1


def do_serve(args: argparse.Namespace, harbour: Harbour) -> int:
    serve(harbour, sys.stdin, sys.stdout)
    return 0


def do_board(args: argparse.Namespace, harbour: Harbour) -> int:
    for line in harbour.board():
        print(line)
    return 0


def do_extract(args: argparse.Namespace, harbour: Harbour) -> int:
    print(extract(harbour, args.day), end="")
    return 0


def do_nights(args: argparse.Namespace, harbour: Harbour) -> int:
    for pontoon, count in harbour.nights(*args.month).items():
        print(f"{pontoon}  {count}")
    return 0


def serve(harbour: Harbour, lines: Iterable[str], out: TextIO) -> None:
    """Answer every line, in order, each as soon as it is there. Empty lines are left out."""
    for line in lines:
        if line.strip():
            print(encode(answer(harbour, decode(line))), file=out, flush=True)


def body_of(pairs: Iterable[str]) -> dict[str, Any]:
    """`name=value` as a body: whole numbers, true and false are read as such, all else is text."""
    body: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise BadRequest(f"{pair!r}: NAME=VALUE is needed")
        words = {"true": True, "false": False}
        body[name] = words.get(value, int(value) if value.isascii() and value.isdecimal() else value)
    return body
