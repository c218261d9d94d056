"""The command line: arguments in, text out. Rules live in `parcels.service`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from parcels import __version__, carriers, config, export
from parcels.errors import ParcelsError
from parcels.model import Status
from parcels.notify import FileTransport
from parcels.service import Desk
from parcels.store import Store
from parcels.units import format_amount, format_weight


def main(argv: Sequence[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    try:
        settings = config.load(Path.cwd(), os.environ)
        with Store(args.db or settings.database) as store:
            run: Callable[..., None] = args.run
            run(Desk(store, settings), args, settings)
    except ParcelsError as error:
        print(f"parcels: {error}", file=sys.stderr)
        return 1
    return 0


def _register(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    parcel = desk.register(
        args.to,
        args.weight,
        args.on,
        carrier=args.carrier,
        contents=args.contents,
        value=args.value,
        reference=args.reference,
    )
    price = format_amount(desk.price_cents(parcel.number), settings.currency)
    print(f"{parcel.number} {parcel.carrier} {price}")


def _label(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    sys.stdout.write(desk.sheet(args.numbers))


def _receipt(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    sys.stdout.write(desk.receipt(args.number, args.on))


def _scan(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    parcel = desk.scan(args.number, args.place, Status.parse(args.status), args.on)
    print(f"{parcel.number} {parcel.status.value}")


def _track(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    for scan in desk.track(args.number):
        print(f"{scan.day.isoformat()} {scan.status.value:<12} {scan.place}")


def _list(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    status = Status.parse(args.status) if args.status else None
    for parcel in desk.parcels(status):
        to = parcel.recipient
        print(
            f"{parcel.number} {parcel.status.value:<12} {format_weight(parcel.grams):>10}"
            f"  {to.postcode} {to.city} {to.country}"
        )


def _export(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    if args.output is None:
        desk.export(args.kind, sys.stdout)
        return
    with args.output.open("w", encoding="utf-8", newline="") as stream:
        count = desk.export(args.kind, stream)
    print(f"{count} parcels in {args.output}")


def _flush(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    print(f"{desk.flush(FileTransport(args.file))} sent")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="parcels", description="The parcel desk's counter tool.")
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument("--db", help="database file (default: PARCELS_DB or parcels.db)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    register = commands.add_parser("register", help="take a parcel in")
    register.add_argument("--to", required=True, help="name; street; postcode; city[; country]")
    register.add_argument("--weight", required=True, help='for example "750 g" or "1.2 kg"')
    register.add_argument("--carrier", choices=carriers.codes())
    register.add_argument("--contents", default="")
    register.add_argument("--value", default="0", help="value of the contents")
    register.add_argument("--reference", default="", help="the customer's reference")
    _add_day(register)
    register.set_defaults(run=_register)

    label = commands.add_parser("label", help="print labels")
    label.add_argument("numbers", nargs="+", metavar="NUMBER")
    label.set_defaults(run=_label)

    receipt = commands.add_parser("receipt", help="print a receipt")
    receipt.add_argument("number", metavar="NUMBER")
    _add_day(receipt)
    receipt.set_defaults(run=_receipt)

    scan = commands.add_parser("scan", help="record a scan")
    scan.add_argument("number", metavar="NUMBER")
    scan.add_argument("place", metavar="PLACE")
    scan.add_argument("--status", default=Status.IN_TRANSIT.value)
    _add_day(scan)
    scan.set_defaults(run=_scan)

    track = commands.add_parser("track", help="show the scans of a parcel")
    track.add_argument("number", metavar="NUMBER")
    track.set_defaults(run=_track)

    listing = commands.add_parser("list", help="list parcels")
    listing.add_argument("--status")
    listing.set_defaults(run=_list)

    exporting = commands.add_parser("export", help="write a list for drivers, customs or the depot")
    exporting.add_argument("kind", choices=export.kinds())
    exporting.add_argument("--output", type=Path)
    exporting.set_defaults(run=_export)

    flush = commands.add_parser("flush", help="hand the outbox to the mail relay")
    flush.add_argument("file", type=Path)
    flush.set_defaults(run=_flush)
    return parser


def _add_day(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--on", type=date.fromisoformat, default=date.today(), metavar="YYYY-MM-DD")
