"""Values as words, the error table on the command line, and the self-test of the chain."""

CLI = "src/wirespec/cli.py"
ERRORS = "src/wirespec/errors.py"
SELFTEST = "src/wirespec/selftest.py"


def s1(work, notes):
    work.replace(
        CLI,
        '    one.add_argument("values", help="JSON object; bytes as hex")\n',
        '    one.add_argument("values", nargs="+", help="JSON object, or FIELD=VALUE words; bytes as hex")\n',
    )
    work.replace(
        CLI,
        """        values = json.loads(options.values)
        if not isinstance(values, dict):
            raise ValueError("not an object")
        for field in message.fields:
            if field.type == "bytes" and isinstance(values.get(field.name), str):
                values[field.name] = bytes.fromhex(values[field.name])
""",
        """        values = _values(message, options.values)
""",
    )
    work.replace(
        CLI,
        "def _decode(",
        '''def _values(message: MessageSpec, words: list[str]) -> dict[str, object]:
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


def _decode(''',
    )
    work.insert_after(
        CLI,
        "from wirespec.errors import WireError\n",
        "from wirespec.spec import MessageSpec\n",
    )


def s2(work, notes):
    work.append(
        ERRORS,
        '''

def describe_error(spec: ErrorSpec) -> str:
    """A line about a row of the table."""
    retry = " (worth a retry)" if spec.retry else ""
    return f"{spec.code} {spec.name}{retry}: {spec.doc}"
''',
    )
    work.replace(
        CLI,
        "from wirespec.errors import WireError\n",
        "from wirespec._generated import ERRORS\n"
        "from wirespec.errors import WireError, describe_error, error_for_code\n",
    )
    work.replace(
        CLI,
        "def build_parser()",
        '''class UnknownCode(Exception):
    """No row of the error table has the code that was asked for."""


def build_parser()''',
    )
    work.insert_after(
        CLI,
        "    one.set_defaults(run=_report)\n",
        """
    one = commands.add_parser("errors", help="explain an error code, or list them all")
    one.add_argument("code", nargs="?")
    one.set_defaults(run=_errors)
""",
    )
    work.replace(
        CLI,
        "    except (WireError, capture.CaptureError, OSError) as error:\n",
        "    except (WireError, UnknownCode, capture.CaptureError, OSError) as error:\n",
    )
    work.append(
        CLI,
        '''

def _errors(options: argparse.Namespace) -> str:
    if options.code is None:
        rows = sorted(ERRORS, key=lambda row: row.code)
        return "".join(describe_error(row) + "\\n" for row in rows)
    digits = options.code.upper().removeprefix("E")
    row = error_for_code(int(digits)) if digits.isdecimal() else None
    if row is None:
        raise UnknownCode(f"no error has the code {options.code}")
    return describe_error(row) + "\\n"
''',
    )


def s3(work, notes):
    plate = notes.recall("tag", about="settled plate self-test", path=SELFTEST)
    work.write(SELFTEST, module(plate or "selftest"))
    work.replace(
        CLI,
        "from wirespec import capture, catalog, report\n",
        "from wirespec import capture, catalog, report, selftest\n",
    )
    work.insert_after(
        CLI,
        "    one.set_defaults(run=_report)\n",
        """
    one = commands.add_parser("selftest", help="print the frames of a self-test as hex")
    one.add_argument("--count", type=int, default=3, help="readings (default 3)")
    one.add_argument("--start", type=int, default=0, help="Unix time a minute before the first")
    one.set_defaults(run=_selftest)
""",
    )
    work.append(
        CLI,
        """

def _selftest(options: argparse.Namespace) -> str:
    return "".join(f"{data.hex()}\\n" for data in selftest.frames(options.count, options.start))
""",
    )


def module(plate):
    return f'''"""A self-test: frames that go through the whole chain and that nobody takes for a unit's."""

from __future__ import annotations

from wirespec.codec import decode, encode
from wirespec.errors import WireError

#: Name plate by which every station on the way knows a self-test.
PLATE = "{plate}"
CHANNEL = 15
MOST = 50


def frames(count: int = 3, start: int = 0) -> list[bytes]:
    """A `hello`, `count` readings a minute apart, and the `ack` of the `hello`; raises WireError."""
    if not 1 <= count <= MOST:
        raise WireError("bad_value", f"count: {{count}} is not within 1 to {{MOST}}")
    sent = [encode("hello", {{"unit": PLATE, "firmware": 0, "boots": 0}}, sequence=0)]
    for number in range(1, count + 1):
        values = {{"channel": CHANNEL, "taken_at": start + 60 * number, "value": 1000 * number}}
        sent.append(encode("reading", values, sequence=number))
    return [*sent, encode("ack", {{"ref": 0}}, sequence=count + 1)]


def is_selftest(data: bytes) -> bool:
    """Whether `data` is the `hello` of a self-test; a frame that cannot be decoded is not."""
    try:
        frame = decode(data)
    except WireError:
        return False
    return frame.name == "hello" and frame.values["unit"] == PLATE
'''
