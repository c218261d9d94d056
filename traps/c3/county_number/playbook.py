"""Reports of several captures, alarms that say the same, and the journal of a day."""

CLI = "src/wirespec/cli.py"
REPORT = "src/wirespec/report.py"
JOURNAL = "src/wirespec/journal.py"


def s1(work, notes):
    work.replace(
        CLI,
        "import argparse\nimport json\nimport sys\nfrom pathlib import Path\n",
        "import argparse\n"
        "import heapq\n"
        "import json\n"
        "import sys\n"
        "from collections.abc import Iterator\n"
        "from pathlib import Path\n",
    )
    work.replace(
        CLI,
        '    one = commands.add_parser("report", help="summarise a capture file")\n'
        '    one.add_argument("capture", type=Path)\n',
        '    one = commands.add_parser("report", help="summarise capture files")\n'
        '    one.add_argument("capture", type=Path, nargs="+")\n',
    )
    work.replace(
        CLI,
        '    with options.capture.open(encoding="utf-8") as lines:\n'
        "        return report.render_text(report.summarise(capture.parse_capture(lines)))\n",
        "    parts = [_entries(path, len(options.capture) > 1) for path in options.capture]\n"
        "    merged = heapq.merge(*parts, key=lambda entry: entry.at_ms)\n"
        "    return report.render_text(report.summarise(merged))\n"
        "\n\n"
        "def _entries(path: Path, named: bool) -> Iterator[capture.Entry]:\n"
        '    """The entries of a file; `named` puts its name before what is wrong with it."""\n'
        '    with path.open(encoding="utf-8") as lines:\n'
        "        try:\n"
        "            yield from capture.parse_capture(lines)\n"
        "        except capture.CaptureError as error:\n"
        '            raise capture.CaptureError(f"{path}: {error}" if named else str(error)) from None\n',
    )


def s2(work, notes):
    work.replace(REPORT, "\n\n@dataclass\n", "\nSHOWN_TEXTS = 20\n\n\n@dataclass\n")
    work.replace(
        REPORT,
        '    lines += [f"  ! {text}" for text in summary.alarms]\n',
        '    lines += [f"  ! {text}" for text in _alarm_lines(summary.alarms)]\n',
    )
    work.append(
        REPORT,
        "\n\n"
        "def _alarm_lines(texts: list[str]) -> list[str]:\n"
        '    """Each text once with how often it came, by first appearance, and a word on those left over."""\n'
        "    counts = Counter(texts)\n"
        "    lines = [text + _times(count) for text, count in list(counts.items())[:SHOWN_TEXTS]]\n"
        "    rest = len(counts) - len(lines)\n"
        "    if rest:\n"
        """        lines.append(f"and {rest} other text{'s' if rest > 1 else ''}")\n"""
        "    return lines\n"
        "\n\n"
        "def _times(count: int) -> str:\n"
        '    return "" if count == 1 else " (twice)" if count == 2 else f" ({count} times)"\n',
    )


def s3(work, notes):
    number = notes.recall("tag", about="our number with the county, alarm journal", path=JOURNAL) or "wirespec"
    work.write(
        JOURNAL,
        '"""The alarm journal that the county gets: what units reported on one day."""\n'
        "\n"
        "from __future__ import annotations\n"
        "\n"
        "from collections import Counter\n"
        "from collections.abc import Iterable, Iterator\n"
        "from datetime import UTC, date, datetime\n"
        "\n"
        "from wirespec._generated import Severity\n"
        "from wirespec.capture import Entry\n"
        "from wirespec.codec import Frame, decode\n"
        "from wirespec.errors import WireError\n"
        "\n"
        f'COUNTY_NUMBER = "{number}"  # under which the county enters us\n'
        "REPEAT_MS = 60_000\n"
        "\n\n"
        "def journal(entries: Iterable[Entry], day: date) -> str:\n"
        '    """The text for one day (UTC): a head, a line for each alarm without repeats, the sums."""\n'
        "    lines: list[str] = []\n"
        "    sums: Counter[int] = Counter()\n"
        "    for at, severity, cause, text in _entered(entries, day):\n"
        '        said = text.replace(";", ",")\n'
        '        lines.append(f"{at:%H:%M:%S};{severity.name.lower()};{cause};{said}")\n'
        "        sums[severity] += 1\n"
        '    head = f"{COUNTY_NUMBER};{day.isoformat()};{len(lines)}"\n'
        '    last = f"SUM;{sums[Severity.FAULT]};{sums[Severity.WARNING]};{sums[Severity.INFO]}"\n'
        '    return "".join(f"{line}\\n" for line in (head, *lines, last))\n'
        "\n\n"
        "def _entered(entries: Iterable[Entry], day: date) -> Iterator[tuple[datetime, Severity, object, str]]:\n"
        "    last: dict[tuple[object, ...], int] = {}\n"
        "    for entry in entries:\n"
        "        at = datetime.fromtimestamp(entry.at_ms // 1000, UTC)\n"
        "        frame = _alarm(entry)\n"
        "        if frame is None or at.date() != day:\n"
        "            continue\n"
        '        severity, cause, text = (frame.values[name] for name in ("severity", "cause", "text"))\n'
        "        same = (severity, cause, text)\n"
        "        if same in last and entry.at_ms - last[same] < REPEAT_MS:\n"
        "            continue\n"
        "        last[same] = entry.at_ms\n"
        "        yield at, Severity(severity), cause, str(text)\n"
        "\n\n"
        "def _alarm(entry: Entry) -> Frame | None:\n"
        '    """The frame, if it is an alarm to the collector."""\n'
        '    if entry.direction != "up":\n'
        "        return None\n"
        "    try:\n"
        "        frame = decode(entry.data)\n"
        "    except WireError:\n"
        "        return None\n"
        '    return frame if frame.name == "alarm" else None\n',
    )
    work.replace(
        CLI,
        "from wirespec import capture, catalog, report\n",
        "from wirespec import capture, catalog, journal, report\n",
    )
    work.replace(CLI, "import sys\nfrom collections.abc import Iterator\n", "import sys\nfrom collections.abc import Iterator\nfrom datetime import date\n")
    work.insert_after(
        CLI,
        "    one.set_defaults(run=_report)\n",
        "\n"
        '    one = commands.add_parser("journal", help="the alarm journal of a day, for the county")\n'
        '    one.add_argument("capture", type=Path)\n'
        '    one.add_argument("--day", type=date.fromisoformat, required=True, metavar="YYYY-MM-DD")\n'
        "    one.set_defaults(run=_journal)\n",
    )
    work.append(
        CLI,
        "\n\n"
        "def _journal(options: argparse.Namespace) -> str:\n"
        "    return journal.journal(_entries(options.capture, False), options.day)\n",
    )
