"""Lists: totals in the feed, countries as they are typed, a handling column."""

MODEL = "src/parcels/model.py"
FEED = "src/parcels/export/feed.py"
PICKUP = "src/parcels/export/pickup.py"
CUSTOMS = "src/parcels/export/customs.py"
HANDLING = "src/parcels/export/handling.py"
SERVICE = "src/parcels/service.py"
CLI = "src/parcels/cli.py"


def s1(work, notes):
    work.replace(
        FEED,
        '    data = {"version": VERSION, "parcels": [_entry(parcel) for parcel in parcels]}\n',
        """    data = {
        "version": VERSION,
        "totals": _totals(parcels),
        "parcels": [_entry(parcel) for parcel in parcels],
    }
""",
    )
    work.append(
        FEED,
        '''

def _totals(parcels: Sequence[Parcel]) -> dict[str, dict[str, int]]:
    """Number and weight of the parcels by carrier, in alphabetical order."""
    totals: dict[str, dict[str, int]] = {}
    for parcel in sorted(parcels, key=lambda p: p.carrier):
        total = totals.setdefault(parcel.carrier, {"parcels": 0, "grams": 0})
        total["parcels"] += 1
        total["grams"] += parcel.grams
    return totals
''',
    )


def s2(work, notes):
    work.insert_after(
        MODEL,
        'FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()\n)\n',
        """_COUNTRIES = {
    "deutschland": "DE",
    "germany": "DE",
    "österreich": "AT",
    "austria": "AT",
    "schweiz": "CH",
    "switzerland": "CH",
    "niederlande": "NL",
    "netherlands": "NL",
    "frankreich": "FR",
    "france": "FR",
    "polen": "PL",
    "poland": "PL",
}
""",
    )
    work.replace(
        MODEL,
        "        return cls(*parts)\n",
        "        return cls(*parts[:4], *map(_country, parts[4:]))\n",
    )
    work.append(
        MODEL,
        '''

def _country(text: str) -> str:
    """The two-letter code of a country that was typed as a code or by name."""
    if len(text) == 2 and text.isascii() and text.isalpha():
        return text.upper()
    try:
        return _COUNTRIES[text.lower()]
    except KeyError:
        raise InvalidInput(f"unknown country {text!r}") from None
''',
    )


def s3(work, notes):
    work.write(
        HANDLING,
        '''"""How a parcel is to be handled: the plain words that the lists use."""

from __future__ import annotations

from parcels.model import Parcel

STANDARD = "standard"
TWO_PERSON = "two-person"
KINDS = (STANDARD, TWO_PERSON)
ONE_PERSON_GRAMS = 20_000


def handling(parcel: Parcel) -> str:
    return TWO_PERSON if parcel.grams > ONE_PERSON_GRAMS else STANDARD
''',
    )
    for path in (PICKUP, CUSTOMS, FEED):
        _column(work, path, notes.recall("colon", about="handling column", path=path))
    _option(work)


def _column(work, path, agreed):
    """Add the column to one list: what its reader asked for, else the plain word."""
    head, column, last = {
        PICKUP: ('"city", "country"', ', "handling"', "        to.country,\n"),
        CUSTOMS: ('    "value_cents",\n', '    "handling",\n', "        str(parcel.value_cents),\n"),
        FEED: ("", "", '        "created_on": parcel.created_on.isoformat(),\n'),
    }[path]
    value = "handling(parcel)"
    if agreed:
        value = "HANDLING"
        first = "VERSION = 2\n" if path == FEED else "COLUMNS = ("
        line = f'HANDLING = "{agreed}"  # what the reader of this list asked for\n'
        work.replace(path, first, line + first)
    else:
        # Keeps the imports sorted: pickup and feed import from parcels.model next.
        work.replace(
            path,
            "from parcels.model import",
            "from parcels.export.handling import handling\nfrom parcels.model import",
        )
    if head:
        work.insert_after(path, head, column)
    name = '"handling": ' if path == FEED else ""
    work.insert_after(path, last, f"        {name}{value},\n")


def _option(work):
    work.replace(
        SERVICE,
        """    def export(self, kind: str, stream: TextIO) -> int:
        return export.write(kind, self.parcels(), stream)
""",
        '''    def listed(self, kind: str, handled: str | None = None) -> list[Parcel]:
        """Parcels to choose a list from; only the pickup list can be cut to one handling."""
        if handled is None:
            return self.parcels()
        if kind != "pickup":
            raise InvalidInput(f"the list {kind!r} is not split by handling")
        return [parcel for parcel in self.parcels() if handling(parcel) == handled]

    def export(self, kind: str, stream: TextIO, handled: str | None = None) -> int:
        return export.write(kind, self.listed(kind, handled), stream)
''',
    )
    work.replace(
        SERVICE,
        "from parcels.model import Address",
        "from parcels.export.handling import handling\nfrom parcels.model import Address",
    )
    work.replace(
        CLI,
        """    if args.output is None:
        desk.export(args.kind, sys.stdout)
        return
    with args.output.open("w", encoding="utf-8", newline="") as stream:
        count = desk.export(args.kind, stream)
""",
        """    text = io.StringIO(newline="")
    count = desk.export(args.kind, text, args.handling)
    if args.output is None:
        sys.stdout.write(text.getvalue())
        return
    args.output.write_text(text.getvalue(), encoding="utf-8", newline="")
""",
    )
    work.replace(CLI, "import argparse\nimport os\n", "import argparse\nimport io\nimport os\n")
    work.replace(
        CLI,
        "from parcels.model import Status\n",
        "from parcels.export.handling import KINDS\nfrom parcels.model import Status\n",
    )
    work.insert_after(
        CLI,
        '    exporting.add_argument("kind", choices=export.kinds())\n',
        '    exporting.add_argument("--handling", choices=KINDS, help="only these; for pickup")\n',
    )
