"""Amounts with a currency, states with spaces, receipts."""

UNITS = "src/parcels/units.py"
MODEL = "src/parcels/model.py"
RECEIPT = "src/parcels/receipt.py"
SERVICE = "src/parcels/service.py"
CLI = "src/parcels/cli.py"


def s1(work, notes):
    work.replace(
        UNITS,
        '_AMOUNT = re.compile(r"(\\d+)(?:[.,](\\d{1,2}))?")\n',
        '_AMOUNT = re.compile(\n'
        '    r"(?P<sign>(?:EUR|€)\\s*)?(\\d+)(?:[.,](\\d{1,2}))?(?(sign)|(?:\\s*(?:EUR|€))?)", re.IGNORECASE\n'
        ")\n",
    )
    work.replace(
        UNITS,
        '    """Cents in ``"12"``, ``"12.5"`` or ``"12,50"``."""\n',
        '    """Cents in ``"12"``, ``"12.5"`` or ``"12,50 EUR"``."""\n',
    )
    work.replace(
        UNITS,
        'int(match[1]) * 100 + int((match[2] or "0").ljust(2, "0"))',
        'int(match[2]) * 100 + int((match[3] or "0").ljust(2, "0"))',
    )


def s2(work, notes):
    work.replace(
        MODEL,
        'return cls(text.strip().lower().replace("-", "_"))',
        'return cls("_".join(text.lower().replace("-", " ").split()))',
    )
    work.replace(
        MODEL,
        '            raise InvalidInput(f"unknown status {text!r}") from None\n',
        '            known = ", ".join(status.value for status in cls)\n'
        '            raise InvalidInput(f"unknown status {text!r}; known: {known}") from None\n',
    )


def s3(work, notes):
    code = notes.recall("tag", about="till code on receipts", path=RECEIPT)
    work.write(RECEIPT, text(code))
    work.replace(
        SERVICE,
        "from parcels import carriers, export, labels, notify\n",
        "from parcels import carriers, export, labels, notify, receipt\n",
    )
    work.replace(
        SERVICE,
        "    def scan(self, number: str, place",
        """    def receipt(self, number: str, on: date) -> str:
        parcel = self.parcel(number)
        return receipt.render(parcel, self.price_cents(parcel.number), self._settings.currency, on)

    def scan(self, number: str, place""",
    )
    work.replace(
        CLI,
        "def _scan(desk: Desk,",
        """def _receipt(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    sys.stdout.write(desk.receipt(args.number, args.on))


def _scan(desk: Desk,""",
    )
    work.replace(
        CLI,
        '    scan = commands.add_parser("scan"',
        """    receipt = commands.add_parser("receipt", help="print a receipt")
    receipt.add_argument("number", metavar="NUMBER")
    _add_day(receipt)
    receipt.set_defaults(run=_receipt)

    scan = commands.add_parser("scan\"""",
    )


def text(code):
    told = f'TILL = "{code}"\n' if code else ""
    last = '        f"Till {TILL}",\n' if code else ""
    return f'''"""The receipt that a customer gets at the counter."""

from __future__ import annotations

from datetime import date

from parcels.model import Parcel
from parcels.units import format_amount, format_weight

{told}VAT_PERCENT = 19


def render(parcel: Parcel, cents: int, currency: str, on: date) -> str:
    """The lines of a receipt for a price in cents."""
    to = parcel.recipient
    vat = "no VAT" if parcel.leaves_eu else f"VAT {{format_amount(vat_cents(cents), currency)}}"
    lines = [
        f"Receipt {{parcel.number}}, {{on.isoformat()}}",
        f"{{parcel.carrier}}, {{format_weight(parcel.grams)}} to {{to.city}} {{to.country}}",
        f"{{format_amount(cents, currency)}}, {{vat}}",
{last}    ]
    return "\\n".join(lines) + "\\n"


def vat_cents(cents: int) -> int:
    """The VAT that a price contains, rounded half up."""
    gross = 100 + VAT_PERCENT
    return (2 * cents * VAT_PERCENT + gross) // (2 * gross)
'''
