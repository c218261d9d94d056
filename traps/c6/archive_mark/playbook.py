JOURNAL = "src/tempo/journal.py"
REPORT = "src/tempo/report.py"
CLI = "src/tempo/cli.py"


def s1(work, notes):
    work.replace(
        JOURNAL,
        "        self.path.parent.mkdir(parents=True, exist_ok=True)\n"
        '        with self.path.open("a", encoding="utf-8", newline="\\n") as stream:\n'
        '            stream.write(entry.to_line() + "\\n")\n',
        "        self.path.parent.mkdir(parents=True, exist_ok=True)\n"
        "        self._mend()\n"
        '        with self.path.open("a", encoding="utf-8", newline="\\n") as stream:\n'
        '            stream.write(entry.to_line() + "\\n")\n'
        "\n"
        "    def _mend(self) -> None:\n"
        '        """Make the file end with a line end: complete a whole entry, cut a torn one off."""\n'
        '        with self.path.open("a+b") as stream:\n'
        "            stream.seek(0)\n"
        '            whole, _, piece = stream.read().rpartition(b"\\n")\n'
        "            if not piece:\n"
        "                return\n"
        '            if is_entry(piece.decode("utf-8", errors="replace")):\n'
        '                stream.write(b"\\n")\n'
        "            else:\n"
        "                stream.truncate(len(whole) + 1 if whole else 0)\n",
    )
    work.replace(
        JOURNAL,
        '        with self.path.open(encoding="utf-8") as stream:\n',
        '        with self.path.open(encoding="utf-8", errors="replace") as stream:\n',
    )
    work.replace(
        JOURNAL,
        "                except (ValueError, TypeError, KeyError) as error:\n",
        "                except NOT_AN_ENTRY as error:\n"
        '                    if not line.endswith("\\n"):\n'
        "                        return\n",
    )
    work.replace(
        JOURNAL,
        "class Journal:\n",
        "NOT_AN_ENTRY = (ValueError, TypeError, KeyError)\n"
        "\n"
        "\n"
        "def is_entry(line: str) -> bool:\n"
        "    try:\n"
        "        Entry.from_line(line)\n"
        "    except NOT_AN_ENTRY:\n"
        "        return False\n"
        "    return True\n"
        "\n"
        "\n"
        "class Journal:\n",
    )


def s2(work, notes):
    work.replace(
        REPORT,
        "from collections.abc import Iterable, Sequence\nfrom dataclasses import asdict, dataclass\n",
        "from collections.abc import Iterable, Iterator, Sequence\n"
        "from dataclasses import asdict, dataclass\n"
        "from datetime import datetime\n",
    )
    work.replace(
        REPORT,
        "def summarise(",
        "def within(\n"
        "    entries: Iterable[Entry], since: datetime | None, until: datetime | None\n"
        ") -> Iterator[Entry]:\n"
        '    """Entries whose slot s satisfies ``since <= s < until``; None leaves an end open."""\n'
        "    for entry in entries:\n"
        "        if (since is None or since <= entry.slot) and (until is None or entry.slot < until):\n"
        "            yield entry\n"
        "\n"
        "\n"
        "def summarise(",
    )
    work.insert_after(
        CLI,
        '    totals.add_argument("--json", action="store_true")\n',
        '    totals.add_argument("--since", type=moment, metavar="TIME", help="slots from TIME on")\n'
        '    totals.add_argument("--until", type=moment, metavar="TIME", help="slots before TIME")\n',
    )
    work.replace(
        CLI,
        "    rows = report.summarise(Journal(config.journal))\n",
        "    if args.since and args.until and args.until < args.since:\n"
        '        raise TempoError("the period ends before it begins")\n'
        "    rows = report.summarise(report.within(Journal(config.journal), args.since, args.until))\n",
    )


def s3(work, notes):
    mark = notes.recall("tag", about="journal archive mark", path=JOURNAL)
    work.replace(
        JOURNAL,
        "from tempo.errors import JournalError\n",
        "from tempo.errors import JournalError, TempoError\n",
    )
    work.insert_after(
        JOURNAL,
        "from tempo.model import Outcome\n",
        "\n"
        "# In the header of every archive; the readers downstream know our files by it.\n"
        f'ARCHIVE_MARK = "{mark or "tempo-journal"}"\n',
    )
    work.replace(
        JOURNAL,
        '"""The journal: one JSON object a line, appended, never rewritten.\n',
        '"""The journal: one JSON object a line, appended; only `Journal.archive` takes lines away.\n',
    )
    work.append(
        JOURNAL,
        "\n"
        "    def archive(self, before: datetime) -> Path | None:\n"
        '        """Move entries with a slot earlier than `before` to a file beside the journal.\n'
        "\n"
        "        Returns its path, or None when there is nothing to move. The archive is complete before\n"
        "        the journal is replaced, so a crash in between leaves entries twice rather than nowhere.\n"
        '        """\n'
        "        moved, kept = [], []\n"
        "        for entry in self:\n"
        "            (moved if entry.slot < before else kept).append(entry.to_line())\n"
        "        if not moved:\n"
        "            return None\n"
        '        target = self.path.with_name(f"{self.path.stem}-{before:%Y%m%d}{self.path.suffix}")\n'
        '        header = {"archive": ARCHIVE_MARK, "before": before.isoformat(), "entries": len(moved)}\n'
        "        try:\n"
        '            with target.open("x", encoding="utf-8", newline="\\n") as stream:\n'
        '                stream.writelines(f"{line}\\n" for line in [json.dumps(header), *moved])\n'
        "        except FileExistsError:\n"
        '            raise TempoError(f"{target.name} exists already") from None\n'
        '        rest = self.path.with_name(self.path.name + ".new")\n'
        '        with rest.open("w", encoding="utf-8", newline="\\n") as stream:\n'
        '            stream.writelines(f"{line}\\n" for line in kept)\n'
        "        rest.replace(self.path)\n"
        "        return target\n",
    )
    work.insert_after(
        CLI,
        "    totals.set_defaults(handler=do_report)\n",
        "\n"
        '    archive = commands.add_parser("archive", parents=[common], help="move old entries out of the journal")\n'
        '    archive.add_argument("--before", type=moment, metavar="TIME", required=True)\n'
        "    archive.set_defaults(handler=do_archive)\n",
    )
    work.insert_after(
        CLI,
        "    print(report.as_json(rows) if args.json else report.as_table(rows))\n    return 0\n",
        "\n\n"
        "def do_archive(args: argparse.Namespace, config: Config, clock: Clock) -> int:\n"
        "    journal = Journal(config.journal)\n"
        "    count = sum(entry.slot < args.before for entry in journal)\n"
        "    target = journal.archive(args.before)\n"
        "    if target is None:\n"
        """        print(f"nothing before {args.before.isoformat(timespec='minutes')}")\n"""
        "    else:\n"
        '        print(f"archived {count} entries to {target.name}")\n'
        "    return 0\n",
    )
