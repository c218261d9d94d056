"""Strict values, near names, and captures as JSON lines."""

SCALARS = "src/wirespec/scalars.py"
VALIDATE = "src/wirespec/validate.py"
CATALOG = "src/wirespec/catalog.py"
LINES = "src/wirespec/lines.py"
CLI = "src/wirespec/cli.py"


def s1(work, notes):
    work.replace(
        SCALARS,
        '        return cursor.take(1, field.name) != b"\\x00"\n',
        """        byte = cursor.take(1, field.name)[0]
        if byte > 1:
            raise WireError("bad_value", f"{field.name}: 0x{byte:02X} is no boolean")
        return byte == 1
""",
    )
    work.replace(
        VALIDATE,
        '        _within(field, len(text.encode("utf-8")), "bytes long")\n        return text\n',
        """        _within(field, len(text.encode("utf-8")), "bytes long")
        if _CONTROL.search(text):
            raise WireError("bad_value", f"{field.name}: a control character in the text")
        return text
""",
    )
    work.replace(
        VALIDATE,
        "from collections.abc import Callable, Mapping\n",
        "import re\nfrom collections.abc import Callable, Mapping\n",
    )
    work.insert_after(
        VALIDATE,
        "_RULES: dict[str, list[Rule]] = {}\n",
        '_CONTROL = re.compile(r"[\\x00-\\x1f\\x7f]")\n',
    )


def s2(work, notes):
    work.replace(
        CATALOG,
        '''        raise WireError("unknown_message", f"no message is called {name!r}") from None
''',
        '''        near = closest(name, _BY_NAME)
        hint = f"; did you mean {near}?" if near else ""
        raise WireError("unknown_message", f"no message is called {name!r}{hint}") from None
''',
    )
    work.replace(
        CATALOG,
        "def message_named(",
        '''def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, if any is near."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)


def message_named(''',
    )
    work.replace(
        CATALOG,
        "from wirespec._generated import",
        "import difflib\nfrom collections.abc import Iterable\n\nfrom wirespec._generated import",
    )
    work.replace(
        VALIDATE,
        """        raise WireError("bad_value", f"{name} has no field {', '.join(unknown)}")
""",
        """        known = [field.name for field in message.fields]
        near = closest(unknown[0], known) if len(unknown) == 1 else None
        hint = f"; did you mean {near}?" if near else ""
        raise WireError("bad_value", f"{name} has no field {', '.join(unknown)}{hint}")
""",
    )
    work.replace(
        VALIDATE,
        "from wirespec.catalog import message_named\n",
        "from wirespec.catalog import closest, message_named\n",
    )


def s3(work, notes):
    schema = notes.recall("colon", about="archive schema export", path=LINES)
    work.write(LINES, MODULE.replace("@schema@", schema or "wirespec-capture"))
    work.replace(
        CLI,
        "from wirespec import capture, catalog, report\n",
        "from wirespec import capture, catalog, lines, report\n",
    )
    work.insert_after(
        CLI,
        "    one.set_defaults(run=_report)\n",
        """
    one = commands.add_parser("lines", help="print a capture file as JSON lines")
    one.add_argument("capture", type=Path)
    one.add_argument("--back", action="store_true", help="print JSON lines as a capture file")
    one.set_defaults(run=_lines)
""",
    )
    work.append(
        CLI,
        '''

def _lines(options: argparse.Namespace) -> str:
    with options.capture.open(encoding="utf-8") as stream:
        if options.back:
            printed = [capture.format_entry(entry) for entry in lines.from_lines(stream)]
        else:
            printed = lines.to_lines(capture.parse_capture(stream))
    return "".join(f"{line}\\n" for line in printed)
''',
    )


MODULE = '''"""Captures as JSON lines, the form in which the archive keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from wirespec._generated import PROTOCOL_VERSION
from wirespec.capture import ARROWS, CaptureError, Entry
from wirespec.codec import decode
from wirespec.errors import WireError

#: Name of this format in the catalogue of the archive.
SCHEMA = "@schema@"


def to_lines(entries: Iterable[Entry]) -> list[str]:
    """A header and a line for each entry, without line ends."""
    rows = [_row(entry) for entry in entries]
    header = {"schema": SCHEMA, "protocol": PROTOCOL_VERSION, "entries": len(rows)}
    return [json.dumps(row) for row in (header, *rows)]


def from_lines(lines: Iterable[str]) -> list[Entry]:
    """The entries of an export; raises CaptureError."""
    texts = list(lines)
    announced = _announced(texts[0] if texts else "")
    entries = [_entry(text, number) for number, text in enumerate(texts[1:], start=2)]
    if len(entries) != announced:
        raise CaptureError(f"{len(entries)} entries, but the header says {announced}")
    return entries


def _row(entry: Entry) -> dict[str, object]:
    message = refused = None
    try:
        message = decode(entry.data).name
    except WireError as error:
        refused = error.name
    return {
        "at_ms": entry.at_ms,
        "direction": entry.direction,
        "message": message,
        "refused": refused,
        "data": entry.data.hex(),
    }


def _announced(text: str) -> int:
    """How many entries a header speaks of."""
    try:
        header = json.loads(text)
        if header["schema"] == SCHEMA:
            return int(header["entries"])
    except (ValueError, TypeError, KeyError):
        pass
    raise CaptureError("line 1 is no header of a capture export")


def _entry(text: str, number: int) -> Entry:
    try:
        row = json.loads(text)
        at_ms, direction, data = row["at_ms"], row["direction"], bytes.fromhex(row["data"])
        if type(at_ms) is int and direction in ARROWS:
            return Entry(at_ms, direction, data)
    except (ValueError, TypeError, KeyError):
        pass
    raise CaptureError(f"line {number} is no entry")
'''
