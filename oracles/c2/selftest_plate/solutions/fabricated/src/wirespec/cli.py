"""Command line: encode, decode, describe, report."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from wirespec import capture, catalog, report, selftest
from wirespec.codec import decode, encode
from wirespec._generated import ERRORS
from wirespec.errors import WireError, describe_error, error_for_code
from wirespec.spec import MessageSpec


class UnknownCode(Exception):
    """No row of the error table has the code that was asked for."""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wirespec", description="Frames of the unit protocol.")
    commands = parser.add_subparsers(dest="command", required=True)

    one = commands.add_parser("encode", help="print the frame of a message as hex")
    one.add_argument("message")
    one.add_argument("values", nargs="+", help="JSON object, or FIELD=VALUE words; bytes as hex")
    one.add_argument("--sequence", type=int, default=0)
    one.add_argument("--urgent", action="store_true")
    one.set_defaults(run=_encode)

    one = commands.add_parser("decode", help="print a frame as JSON")
    one.add_argument("frame", help="hex")
    one.set_defaults(run=_decode)

    one = commands.add_parser("describe", help="explain a message, or list them all")
    one.add_argument("message", nargs="?")
    one.set_defaults(run=_describe)

    one = commands.add_parser("report", help="summarise a capture file")
    one.add_argument("capture", type=Path)
    one.set_defaults(run=_report)

    one = commands.add_parser("selftest", help="print the frames of a self-test as hex")
    one.add_argument("--count", type=int, default=3, help="readings (default 3)")
    one.add_argument("--start", type=int, default=0, help="Unix time a minute before the first")
    one.set_defaults(run=_selftest)

    one = commands.add_parser("errors", help="explain an error code, or list them all")
    one.add_argument("code", nargs="?")
    one.set_defaults(run=_errors)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0, or 2 when the input was refused."""
    options = build_parser().parse_args(argv)
    try:
        text: str = options.run(options)
    except (WireError, UnknownCode, capture.CaptureError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    sys.stdout.write(text)
    return 0


def _encode(options: argparse.Namespace) -> str:
    message = catalog.message_named(options.message)
    try:
        values = _values(message, options.values)
    except ValueError as error:
        raise WireError("bad_value", f"values: {error}") from None
    frame = encode(message.name, values, sequence=options.sequence, urgent=options.urgent)
    return frame.hex() + "\n"


def _values(message: MessageSpec, words: list[str]) -> dict[str, object]:
    """Values from one JSON object or from FIELD=VALUE words; raises ValueError."""
    if len(words) == 1 and ("=" not in words[0] or words[0].startswith("{")):
        values = json.loads(words[0])
        if not isinstance(values, dict):
            raise ValueError("not an object")
        for field in message.fields:
            if field.type == "bytes" and isinstance(values.get(field.name), str):
                values[field.name] = bytes.fromhex(values[field.name])
        return values
    kinds = {field.name: field.type for field in message.fields}
    values = {}
    for word in words:
        name, _, text = word.partition("=")
        if name in values:
            raise ValueError(f"{name} is given twice")
        try:
            values[name] = _typed(kinds.get(name, "str"), text)
        except (ValueError, KeyError):
            raise ValueError(f"{name}: {text!r} is no {kinds[name]}") from None
    return values


def _typed(kind: str, text: str) -> object:
    """A value of a field's type from a word; raises ValueError or KeyError."""
    if kind == "str":
        return text
    if kind == "bytes":
        return bytes.fromhex(text)
    if kind == "bool":
        return {"true": True, "false": False}[text]
    if kind == "enum" and not text.isdecimal():
        return text
    return int(text)


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
    with options.capture.open(encoding="utf-8") as lines:
        return report.render_text(report.summarise(capture.parse_capture(lines)))


def _errors(options: argparse.Namespace) -> str:
    if options.code is None:
        rows = sorted(ERRORS, key=lambda row: row.code)
        return "".join(describe_error(row) + "\n" for row in rows)
    digits = options.code.upper().removeprefix("E")
    row = error_for_code(int(digits)) if digits.isdecimal() else None
    if row is None:
        raise UnknownCode(f"no error has the code {options.code}")
    return describe_error(row) + "\n"


def _selftest(options: argparse.Namespace) -> str:
    return "".join(f"{data.hex()}\n" for data in selftest.frames(options.count, options.start))
