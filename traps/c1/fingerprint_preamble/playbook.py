"""Durations with colons, places where nothing stands, fingerprints of settings."""

UNITS = "src/crumb/units.py"
CHECK = "src/crumb/check.py"
RESOLVE = "src/crumb/resolve.py"
FINGERPRINT = "src/crumb/fingerprint.py"
CLI = "src/crumb/cli.py"


def s1(work, notes):
    work.insert_after(
        UNITS,
        '_PART = re.compile(r"(\\d+)\\s*([hms])")\n',
        '_CLOCK = re.compile(r"(\\d+):([0-5]\\d)(?::([0-5]\\d))?")\n',
    )
    work.replace(
        UNITS,
        '''    """Seconds in ``"22 m"`` or ``"1 h 20 m"``: each unit at most once, the largest first."""
''',
        '''    """Seconds in ``"22 m"`` or ``"1 h 20 m"`` (each unit at most once, the largest first), or in ``"1:20"``."""
    if clock := _CLOCK.fullmatch(text.strip()):
        return int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3] or 0)
''',
    )


def s2(work, notes):
    work.replace(
        CHECK,
        "    found: set[Problem] = set()\n    for read_one in _readers(book):\n        try:\n"
        "            found.update(_layer_problems(read_one(), book))\n",
        """    found: set[Problem] = set()
    inhabited: set[tuple[str, str]] = set()
    for read_one in _readers(book):
        try:
            layer = read_one()
            inhabited.add((PARENTS.get(layer.level, ""), layer.parent))
            found.update(_layer_problems(layer, book))
""",
    )
    work.replace(
        CHECK,
        '    for oven in book.names("oven"):\n',
        '''    found.update(_empty_places(book, inhabited))
    for oven in book.names("oven"):
''',
    )
    work.replace(
        CHECK,
        "def _oven_problems(",
        '''def _empty_places(book: Book, inhabited: set[tuple[str, str]]) -> Iterator[Problem]:
    """Shops without an oven and regions without a shop; `inhabited` are (level, name) of the others."""
    for below, level in PARENTS.items():
        for name in book.names(level):
            if (level, name) not in inhabited:
                yield Problem(f"{FOLDERS[level]}/{name}.toml", 0, WARNING, f"no {below} stands here")


def _oven_problems(''',
    )
    work.replace(CHECK, "from crumb.book import FOLDERS, Book\n", "from crumb.book import FOLDERS, PARENTS, Book\n")


def s3(work, notes):
    preamble = notes.recall("dotted", about="preamble of the settings fingerprint", path=RESOLVE) or "crumb"
    work.write(
        FINGERPRINT,
        f'''"""Short digests of an oven's settings, as the displays compute them from what they were given."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from crumb.errors import CrumbError
from crumb.resolve import Resolved

PREAMBLE = "{preamble}"  # as in the displays' firmware
DIGITS = 16


def fingerprint(settings: Iterable[Resolved]) -> str:
    """The first digits of a SHA-256 over the preamble and the settings by name, one a line."""
    ordered = sorted(settings, key=lambda found: found.setting.name)
    lines = [f"{{found.setting.name}}={{found.text}}" for found in ordered]
    return hashlib.sha256("".join(f"{{line}}\\n" for line in [PREAMBLE, *lines]).encode("utf-8")).hexdigest()[:DIGITS]


def read_list(path: Path) -> dict[str, str]:
    """Oven -> fingerprint of a file with lines as the command prints them. Raises CrumbError."""
    try:
        rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise CrumbError(f"{{path}}: {{error.strerror}}") from error
    return {{row[0]: row[1] for row in rows if len(row) == 2}}


def verdict(oven: str, found: str, listed: dict[str, str]) -> str:
    if oven not in listed:
        return "not listed"
    return "same" if listed[oven] == found else "differs"
''',
    )
    work.replace(
        CLI,
        "def _check(args: argparse.Namespace, book: Book) -> int:\n",
        """def _fingerprint(args: argparse.Namespace, book: Book) -> int:
    found = [(oven, fingerprint(_settings(args, book, oven))) for oven in args.ovens]
    if args.against is None:
        _print([f"{oven} {digits}" for oven, digits in found])
        return 0
    listed = read_list(args.against)
    verdicts = [(oven, verdict(oven, digits, listed)) for oven, digits in found]
    _print([f"{oven} {word}" for oven, word in verdicts])
    return 0 if all(word == "same" for _, word in verdicts) else 1


def _check(args: argparse.Namespace, book: Book) -> int:
""",
    )
    work.replace(
        CLI,
        "from crumb.errors import CrumbError, NotFound\n",
        "from crumb.errors import CrumbError, NotFound\nfrom crumb.fingerprint import fingerprint, read_list, verdict\n",
    )
    work.insert_after(
        CLI,
        "    checking.set_defaults(run=_check)\n",
        """
    printing = commands.add_parser("fingerprint", help="what the displays show for their settings")
    printing.add_argument("ovens", nargs="+", metavar="OVEN")
    printing.add_argument("--against", type=Path, metavar="FILE", help="compare with a list of fingerprints")
    _add_set(printing)
    printing.set_defaults(run=_fingerprint)
""",
    )
