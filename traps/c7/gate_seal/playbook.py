"""Quotes, misread numbers, and the sheet that drivers sign."""

CARRIERS = "src/parcels/carriers/__init__.py"
NUMBERS = "src/parcels/numbers.py"
MANIFEST = "src/parcels/manifest.py"
SERVICE = "src/parcels/service.py"
CLI = "src/parcels/cli.py"

#: How a word of the trade compares parcels; the smallest decides.
ORDERS = {
    "heaviest": "-parcel.grams, ",
    "lightest": "parcel.grams, ",
    "dearest": "-parcel.value_cents, ",
    "latest": "-parcel.created_on.toordinal(), ",
    "earliest": "parcel.created_on.toordinal(), ",
}

SHEET = '''"""The sheet that a driver signs: what the van takes, and the seal for the yard gate."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from parcels.model import EU, Parcel
from parcels.units import format_weight

HOME = "DE"
SEALS = {
    "home": "@home@",
    "union": "@union@",
    "abroad": "@abroad@",
}


def zone(country: str) -> str:
    """The zone of the yard that a country lies in."""
    if country == HOME:
        return "home"
    return "union" if country in EU else "abroad"


def deciding(parcels: Sequence[Parcel]) -> Parcel:
    """The @which@parcel; of equal ones that with the lower number."""
    return min(parcels, key=lambda parcel: (@order@parcel.number))


def render(carrier: str, day: date, parcels: Sequence[Parcel]) -> str:
    """The sheet for parcels of `carrier`, at least one; a line each, by number."""
    chosen = sorted(parcels, key=lambda parcel: parcel.number)
    lines = [f"{carrier} {day.isoformat()}"]
    lines += [f"{p.number} {format_weight(p.grams)} {p.recipient.country}" for p in chosen]
    noun = "parcel" if len(chosen) == 1 else "parcels"
    lines.append(f"{len(chosen)} {noun}, {format_weight(sum(p.grams for p in chosen))}")
    lines.append(f"seal {SEALS[zone(deciding(chosen).recipient.country)]}")
    return "\\n".join(lines) + "\\n"
'''


def s1(work, notes):
    text = work.read(CARRIERS)
    start = text.index("def cheapest(")
    work.write(
        CARRIERS,
        text[:start]
        + '''def offers(grams: int, country: str) -> list[tuple[int, Carrier]]:
    """(price in cents, carrier) of all that take the parcel, the cheapest first; ties by code."""
    found = [
        (price, carrier)
        for carrier in _CARRIERS.values()
        if (price := carrier.price_cents(grams, country)) is not None
    ]
    return sorted(found, key=lambda offer: (offer[0], offer[1].code))


def cheapest(grams: int, country: str) -> Carrier:
    """The carrier with the lowest price that takes the parcel; ties by code."""
    found = offers(grams, country)
    if not found:
        raise NoCarrier(f"no carrier takes {grams} g to {country}")
    return found[0][1]
''',
    )
    work.replace(CARRIERS, '"cheapest", "codes"]', '"cheapest", "codes", "offers"]')
    work.replace(
        CLI,
        "from parcels.errors import ParcelsError\n",
        "from parcels.errors import NoCarrier, ParcelsError\n",
    )
    work.replace(
        CLI,
        "from parcels.units import format_amount, format_weight\n",
        "from parcels.units import format_amount, format_weight, parse_weight\n",
    )
    work.replace(
        CLI,
        "def _label(",
        '''def _quote(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    grams, country = parse_weight(args.weight), args.country.upper()
    found = carriers.offers(grams, country)
    if not found:
        raise NoCarrier(f"no carrier takes {grams} g to {country}")
    for cents, carrier in found:
        print(f"{carrier.code} {format_amount(cents, settings.currency)}")


def _label(''',
    )
    work.replace(
        CLI,
        '    label = commands.add_parser("label"',
        '''    quote = commands.add_parser("quote", help="show what every carrier would take for a parcel")
    quote.add_argument("--weight", required=True, help='for example "750 g" or "1.2 kg"')
    quote.add_argument("--country", default="DE", help="two letters (default: DE)")
    quote.set_defaults(run=_quote)

    label = commands.add_parser("label"''',
    )


def s2(work, notes):
    work.insert_after(
        NUMBERS,
        '_NUMBER = re.compile(r"([A-Z]{2})(\\d{8})(\\d)([A-Z]{2})")\n',
        '# Letters that people read where a label has a digit.\n_MISREAD = str.maketrans("OIL", "011")\n',
    )
    work.insert_after(
        NUMBERS,
        '    number = re.sub(r"[\\s-]", "", text).upper()\n',
        "    number = number[:2] + number[2:11].translate(_MISREAD) + number[11:]\n",
    )


def s3(work, notes):
    which = notes.recall("word", about="parcel decides seal sheet", path=MANIFEST)
    text = SHEET.replace("@order@", ORDERS.get(which, ""))
    text = text.replace("@which@", f"{which} " if which in ORDERS else "first ")
    seals = {
        "home": notes.recall("tag", about="seal zone home", path=MANIFEST),
        "union": notes.recall("tag", about="seal zone union", path=MANIFEST),
        "abroad": notes.recall("tag", about="seal zone abroad", path=MANIFEST),
    }
    for zone, seal in seals.items():
        text = text.replace(f"@{zone}@", seal or zone)
    if "(parcel.number)" in text:
        text = text.replace("(parcel.number)", "parcel.number")
    work.write(MANIFEST, text)
    work.replace(
        SERVICE,
        "from parcels import carriers, export, labels, notify\n",
        "from parcels import carriers, export, labels, manifest, notify\n",
    )
    work.replace(
        SERVICE,
        "    def flush(self, transport",
        '''    def manifest(self, carrier: str, on: date) -> str:
        """The sheet for what waits for a carrier, on the day that its van comes."""
        code = carriers.by_code(carrier).code
        waiting = [parcel for parcel in self.parcels(Status.CREATED) if parcel.carrier == code]
        if not waiting:
            raise WrongState(f"nothing waits for {code}")
        return manifest.render(code, on, waiting)

    def flush(self, transport''',
    )
    work.replace(
        CLI,
        "def _flush(",
        """def _manifest(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    sys.stdout.write(desk.manifest(args.carrier, args.on))


def _flush(""",
    )
    work.replace(
        CLI,
        '    flush = commands.add_parser("flush"',
        '''    sheet = commands.add_parser("manifest", help="print the sheet that a driver signs")
    sheet.add_argument("carrier", metavar="CARRIER")
    _add_day(sheet)
    sheet.set_defaults(run=_manifest)

    flush = commands.add_parser("flush"''',
    )
