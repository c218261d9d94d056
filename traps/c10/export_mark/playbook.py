"""Bytes in reports, captures that people edited, and the CSV export."""

REPORT = "src/wirespec/report.py"
CAPTURE = "src/wirespec/capture.py"
CLI = "src/wirespec/cli.py"


def s1(work, notes):
    work.insert_after(
        REPORT,
        "    messages: Counter[str] = field(default_factory=Counter)\n",
        "    sizes: Counter[str] = field(default_factory=Counter)\n",
    )
    work.replace(
        REPORT,
        '"""What a capture holds; ``refused`` counts by name of the error table."""',
        '''"""What a capture holds.

    ``sizes`` is in bytes by message; ``refused`` counts by name of the error table.
    """''',
    )
    work.insert_after(
        REPORT,
        "        summary.messages[frame.name] += 1\n",
        "        summary.sizes[frame.name] += len(entry.data)\n",
    )
    work.insert_after(
        REPORT,
        '    lines += [f"  {name}: {count}" for name, count in _ordered(summary.messages)]\n',
        """    if summary.sizes:
        shares = ", ".join(f"{name} {size}" for name, size in _ordered(summary.sizes))
        lines.append(f"  bytes: {summary.sizes.total()}, of them {shares}")
""",
    )


def s2(work, notes):
    work.replace(
        CAPTURE,
        """    for number, line in enumerate(lines, start=1):
        try:
            at_ms, arrow, data = line.rstrip("\\n").split(" ")
""",
        """    for number, raw in enumerate(lines, start=1):
        line = (raw.removeprefix("\\ufeff") if number == 1 else raw).strip()
        if not line or line.startswith("#"):
            continue
        try:
            at_ms, arrow, data = line.split(" ")
""",
    )
    work.replace(
        CAPTURE,
        "(to the unit), and the frame in hex, separated by single spaces.\n",
        "(to the unit), and the frame in hex, separated by single spaces. Blank lines and\n"
        "lines that start with ``#`` are remarks.\n",
    )


def s3(work, notes):
    mark = notes.recall("tag", about="CSV export mark", path=REPORT)
    export(work, mark)
    command(work)


def export(work, mark):
    work.replace(
        REPORT,
        "from collections import Counter\n",
        "import csv\nimport io\nfrom collections import Counter\n",
    )
    work.replace(
        REPORT,
        "from wirespec.capture import Entry\n",
        "from wirespec.capture import Entry, parse_capture\n",
    )
    if mark:
        work.replace(
            REPORT,
            "\n\n@dataclass\nclass Summary",
            f'\nEXPORT_MARK = "{mark}"\n\n\n@dataclass\nclass Summary',
        )
    first = '    out.write(f"#{EXPORT_MARK}\\n")\n' if mark else ""
    work.replace(
        REPORT,
        "\n\ndef _ordered(",
        '''

def export_csv(lines: Iterable[str]) -> str:
    """The summary of a capture's lines as CSV; raises CaptureError."""
    summary = summarise(parse_capture(lines))
    out = io.StringIO()
'''
        + first
        + """    rows = csv.writer(out, lineterminator="\\n")
    rows.writerow(["kind", "name", "frames", "bytes"])
    for name, count in _ordered(summary.messages):
        rows.writerow(["message", name, count, summary.sizes[name]])
    for name, count in _ordered(summary.refused):
        rows.writerow(["refused", name, count, ""])
    for text in summary.alarms:
        rows.writerow(["alarm", text, "", ""])
    return out.getvalue()


def _ordered(""",
    )


def command(work):
    work.insert_after(
        CLI,
        '    one.add_argument("capture", type=Path)\n',
        '    one.add_argument("--format", choices=["text", "csv"], default="text")\n'
        '    one.add_argument("--output", type=Path, help="write there instead of printing")\n',
    )
    work.replace(
        CLI,
        """        return report.render_text(report.summarise(capture.parse_capture(lines)))
""",
        """        if options.format == "csv":
            text = report.export_csv(lines)
        else:
            text = report.render_text(report.summarise(capture.parse_capture(lines)))
    if options.output is None:
        return text
    options.output.write_text(text, encoding="utf-8", newline="\\n")
    return ""
""",
    )
