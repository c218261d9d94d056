"""Command line: encode, decode, describe, report."""

from __future__ import annotations

import argparse
import heapq
import json
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from wirespec import capture, catalog, journal, report
from wirespec.codec import decode, encode
from wirespec.errors import WireError


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wirespec", description="Frames of the unit protocol.")
    commands = parser.add_subparsers(dest="command", required=True)

    one = commands.add_parser("encode", help="print the frame of a message as hex")
    one.add_argument("message")
    one.add_argument("values", help="JSON object; bytes as hex")
    one.add_argument("--sequence", type=int, default=0)
    one.add_argument("--urgent", action="store_true")
    one.set_defaults(run=_encode)

    one = commands.add_parser("decode", help="print a frame as JSON")
    one.add_argument("frame", help="hex")
    one.set_defaults(run=_decode)

    one = commands.add_parser("describe", help="explain a message, or list them all")
    one.add_argument("message", nargs="?")
    one.set_defaults(run=_describe)

    one = commands.add_parser("report", help="summarise capture files")
    one.add_argument("capture", type=Path, nargs="+")
    one.set_defaults(run=_report)

    one = commands.add_parser("journal", help="the alarm journal of a day, for the county")
    one.add_argument("capture", type=Path)
    one.add_argument("--day", type=date.fromisoformat, required=True, metavar="YYYY-MM-DD")
    one.set_defaults(run=_journal)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0, or 2 when the input was refused."""
    options = build_parser().parse_args(argv)
    try:
        text: str = options.run(options)
    except (WireError, capture.CaptureError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    sys.stdout.write(text)
    return 0


def _encode(options: argparse.Namespace) -> str:
    message = catalog.message_named(options.message)
    try:
        values = json.loads(options.values)
        if not isinstance(values, dict):
            raise ValueError("not an object")
        for field in message.fields:
            if field.type == "bytes" and isinstance(values.get(field.name), str):
                values[field.name] = bytes.fromhex(values[field.name])
    except ValueError as error:
        raise WireError("bad_value", f"values: {error}") from None
    frame = encode(message.name, values, sequence=options.sequence, urgent=options.urgent)
    return frame.hex() + "\n"


def _decode(options: argparse.Namespace) -> str:
    try:
        data = bytes.fromhex(options.frame)
    except ValueError:
        raise WireError("bad_value", "the frame is not hex") from None
    return json.dumps(decode(data).plain(), indent=2, ensure_ascii=False) + "\n"


def _describe(options: argparse.Namespace) -> str:
    if options.message is None:
        return "".join(f"{name}\n" for name in catalog.message_names())
    return catalog.describe(options.message) + "\n"


def _report(options: argparse.Namespace) -> str:
    parts = [_entries(path, len(options.capture) > 1) for path in options.capture]
    merged = heapq.merge(*parts, key=lambda entry: entry.at_ms)
    return report.render_text(report.summarise(merged))


def _entries(path: Path, named: bool) -> Iterator[capture.Entry]:
    """The entries of a file; `named` puts its name before what is wrong with it."""
    with path.open(encoding="utf-8") as lines:
        try:
            yield from capture.parse_capture(lines)
        except capture.CaptureError as error:
            raise capture.CaptureError(f"{path}: {error}" if named else str(error)) from None


def _journal(options: argparse.Namespace) -> str:
    return journal.journal(_entries(options.capture, False), options.day)
