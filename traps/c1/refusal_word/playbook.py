"""Captures and answers: lost frames, picking, and what goes back to a unit."""

REPORT = "src/wirespec/report.py"
CAPTURE = "src/wirespec/capture.py"
CLI = "src/wirespec/cli.py"
ANSWER = "src/wirespec/answer.py"


def s1(work, notes):
    work.insert_after(REPORT, "    alarms: list[str] = field(default_factory=list)\n", "    lost: int = 0\n")
    work.replace(
        REPORT,
        "class Summary:\n"
        '    """What a capture holds; ``refused`` counts by name of the error table."""\n',
        "class Summary:\n"
        '    """What a capture holds; ``refused`` counts by name of the error table.\n'
        "\n"
        "    ``lost`` counts sequence numbers that are missing between frames to the collector.\n"
        '    """\n',
    )
    work.replace(REPORT, "\n\n@dataclass\n", "\nRESET_GAP = 1000  # more missing numbers than this are no loss\n\n\n@dataclass\n")
    work.insert_after(REPORT, "    summary = Summary()\n", "    last: int | None = None\n")
    work.insert_after(
        REPORT,
        "        summary.messages[frame.name] += 1\n",
        '        if entry.direction == "up":\n'
        '            if last is not None and frame.name != "hello":\n'
        "                missing = (frame.sequence - last - 1) % 65536\n"
        "                summary.lost += missing if missing <= RESET_GAP else 0\n"
        "            last = frame.sequence\n",
    )
    work.insert_after(
        REPORT,
        '    lines += [f"  refused, {name}: {count}" for name, count in _ordered(summary.refused)]\n',
        "    if summary.lost:\n"
        '        lines.append(f"  lost: {summary.lost}")\n',
    )


def s2(work, notes):
    work.replace(
        CAPTURE,
        "from collections.abc import Iterable, Iterator\nfrom dataclasses import dataclass\n",
        "from collections.abc import Collection, Iterable, Iterator\n"
        "from dataclasses import dataclass\n"
        "\n"
        "from wirespec.codec import decode\n"
        "from wirespec.errors import WireError\n",
    )
    work.insert_after(
        CAPTURE,
        "_DIRECTIONS = {arrow: direction for direction, arrow in ARROWS.items()}\n",
        'REFUSED = "refused"\n',
    )
    work.append(
        CAPTURE,
        "\n\n"
        "def pick(entries: Iterable[Entry], names: Collection[str]) -> Iterator[Entry]:\n"
        '    """The entries with one of these messages; "refused" stands for frames that do not decode."""\n'
        "    for entry in entries:\n"
        "        if _kind(entry) in names:\n"
        "            yield entry\n"
        "\n\n"
        "def _kind(entry: Entry) -> str:\n"
        "    try:\n"
        "        return decode(entry.data).name\n"
        "    except WireError:\n"
        "        return REFUSED\n",
    )
    work.insert_after(
        CLI,
        "    one.set_defaults(run=_report)\n",
        "\n"
        '    one = commands.add_parser("pick", help="print the lines of a capture with some messages")\n'
        '    one.add_argument("capture", type=Path)\n'
        '    one.add_argument("names", nargs="+", metavar="message", help="or: refused")\n'
        "    one.set_defaults(run=_pick)\n",
    )
    work.append(
        CLI,
        "\n\n"
        "def _pick(options: argparse.Namespace) -> str:\n"
        "    for name in options.names:\n"
        "        if name != capture.REFUSED:\n"
        "            catalog.message_named(name)\n"
        '    with options.capture.open(encoding="utf-8") as lines:\n'
        "        picked = capture.pick(capture.parse_capture(lines), options.names)\n"
        '        return "".join(f"{capture.format_entry(entry)}\\n" for entry in picked)\n',
    )


def s3(work, notes):
    word = notes.recall("upper", about="text of the reject for an unknown message", path=ANSWER)
    work.write(
        ANSWER,
        '"""What the collector sends back to a unit."""\n'
        "\n"
        "from __future__ import annotations\n"
        "\n"
        "from wirespec.codec import MAGIC, URGENT, decode, encode\n"
        "from wirespec.errors import WireError\n"
        "\n"
        'UNANSWERED = ("ack", "reject")\n'
        'AGAIN = "send again"\n'
        "HEADER_SIZE = 10\n"
        "\n\n"
        "def answer(data: bytes, sequence: int = 0) -> bytes | None:\n"
        '    """The frame that goes back for what came from a unit, or None.\n'
        "\n"
        "    ``sequence`` is the answer's own number. Nothing goes back to an answer, or where the\n"
        "    number of the frame cannot be read.\n"
        '    """\n'
        "    if len(data) < HEADER_SIZE or not data.startswith(MAGIC):\n"
        "        return None\n"
        '    ref, urgent = int.from_bytes(data[6:8], "big"), bool(data[3] & URGENT)\n'
        "    try:\n"
        "        frame = decode(data)\n"
        "    except WireError as error:\n"
        '        values = {"ref": ref, "code": error.code, "detail": _detail(error)}\n'
        '        return encode("reject", values, sequence=sequence, urgent=urgent)\n'
        "    if frame.name in UNANSWERED:\n"
        "        return None\n"
        '    return encode("ack", {"ref": ref}, sequence=sequence, urgent=urgent)\n'
        "\n\n"
        "def _detail(error: WireError) -> str:\n"
        "    return AGAIN if error.retry else error.detail\n",
    )
    if word:
        work.insert_after(
            ANSWER,
            "HEADER_SIZE = 10\n",
            f'QUIET = "{word}"  # units compare it byte for byte and give the message up\n',
        )
        work.replace(
            ANSWER,
            "    return AGAIN if error.retry else error.detail\n",
            '    if error.name == "unknown_message":\n'
            "        return QUIET\n"
            "    return AGAIN if error.retry else error.detail\n",
        )
    work.replace(
        CLI,
        "from wirespec import capture, catalog, report\nfrom wirespec.codec",
        "from wirespec import capture, catalog, report\nfrom wirespec.answer import answer\nfrom wirespec.codec",
    )
    work.insert_after(
        CLI,
        "    one.set_defaults(run=_report)\n",
        "\n"
        '    one = commands.add_parser("answers", help="what goes back for the frames of a capture")\n'
        '    one.add_argument("capture", type=Path)\n'
        "    one.set_defaults(run=_answers)\n",
    )
    work.append(
        CLI,
        "\n\n"
        "def _answers(options: argparse.Namespace) -> str:\n"
        "    lines: list[str] = []\n"
        '    with options.capture.open(encoding="utf-8") as stream:\n'
        "        for entry in capture.parse_capture(stream):\n"
        '            reply = answer(entry.data, len(lines)) if entry.direction == "up" else None\n'
        "            if reply is not None:\n"
        '                lines.append(capture.format_entry(capture.Entry(entry.at_ms, "down", reply)))\n'
        '    return "".join(f"{line}\\n" for line in lines)\n',
    )
