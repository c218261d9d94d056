"""The command line: arguments in, text out. Exit status 0, 1 for what is wrong with a book, 2 for wrong usage."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from crumb import __version__, bus, export, overrides
from crumb.book import Book
from crumb.check import check
from crumb.compare import differences
from crumb.errors import CrumbError, NotFound
from crumb.resolve import Resolved, resolve
from crumb.views.diff import diff
from crumb.views.explain import explain
from crumb.views.show import show
from crumb.views.table import aligned

DEFAULT_BOOK = "book"


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    try:
        book = Book(Path(args.book or os.environ.get("CRUMB_BOOK") or DEFAULT_BOOK))
        run: Callable[[argparse.Namespace, Book], int] = args.run
        return run(args, book)
    except CrumbError as error:
        print(f"crumb: {error}", file=sys.stderr)
        return 1


def _settings(args: argparse.Namespace, book: Book, oven: str) -> list[Resolved]:
    layers = book.layers(oven)
    layers.append(overrides.from_environment(book.schema, os.environ))
    layers.append(overrides.from_arguments(book.schema, args.set))
    return resolve(book.schema, layers)


def _print(lines: Sequence[str]) -> None:
    for line in lines:
        print(line)


def _ovens(args: argparse.Namespace, book: Book) -> int:
    places = [book.place(oven) for oven in book.names("oven")]
    _print(aligned([(place.oven, place.shop, place.region) for place in places]))
    return 0


def _show(args: argparse.Namespace, book: Book) -> int:
    _print(show(_settings(args, book, args.oven)))
    return 0


def _explain(args: argparse.Namespace, book: Book) -> int:
    for found in _settings(args, book, args.oven):
        if found.setting.name == args.name:
            _print(explain(found))
            return 0
    raise NotFound(f"there is no setting {args.name!r}")


def _diff(args: argparse.Namespace, book: Book) -> int:
    found = differences(_settings(args, book, args.left), _settings(args, book, args.right))
    _print(diff(found))
    return 0


def _check(args: argparse.Namespace, book: Book) -> int:
    problems = check(book)
    _print([str(problem) for problem in problems])
    return 1 if problems else 0


def _bus(args: argparse.Namespace, book: Book) -> int:
    sys.stdout.write(bus.render(_settings(args, book, args.oven)))
    return 0


def _registers(args: argparse.Namespace, book: Book) -> int:
    _print(aligned(bus.rows(book.schema)))
    return 0


def _export(args: argparse.Namespace, book: Book) -> int:
    text = export.render(args.kind, args.oven, _settings(args, book, args.oven))
    if args.output is None:
        sys.stdout.write(text)
        return 0
    args.output.write_text(text, encoding="utf-8", newline="")
    print(f"{args.oven} in {args.output}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="crumb", description="Settings for the ovens of a bakery chain.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--book", help="folder of the book (default: CRUMB_BOOK, else book)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ovens = commands.add_parser("ovens", help="list the ovens")
    ovens.set_defaults(run=_ovens)

    showing = commands.add_parser("show", help="the settings of an oven")
    showing.add_argument("oven", metavar="OVEN")
    _add_set(showing)
    showing.set_defaults(run=_show)

    explaining = commands.add_parser("explain", help="what every layer says about a setting")
    explaining.add_argument("oven", metavar="OVEN")
    explaining.add_argument("name", metavar="NAME")
    _add_set(explaining)
    explaining.set_defaults(run=_explain)

    differing = commands.add_parser("diff", help="where two ovens differ")
    differing.add_argument("left", metavar="OVEN")
    differing.add_argument("right", metavar="OVEN")
    _add_set(differing)
    differing.set_defaults(run=_diff)

    checking = commands.add_parser("check", help="what is wrong with the book")
    checking.set_defaults(run=_check)

    exporting = commands.add_parser("export", help="settings for a machine")
    exporting.add_argument("kind", choices=export.kinds())
    exporting.add_argument("oven", metavar="OVEN")
    exporting.add_argument("--output", type=Path)
    _add_set(exporting)
    exporting.set_defaults(run=_export)

    loading = commands.add_parser("bus", help="what is loaded into an oven over the bus")
    loading.add_argument("oven", metavar="OVEN")
    _add_set(loading)
    loading.set_defaults(run=_bus)

    registers = commands.add_parser("registers", help="where ovens on the bus keep their settings")
    registers.set_defaults(run=_registers)
    return parser


def _add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="override for this call")
