"""Copies of labels, counts by status, and the declarant on customs papers."""

CLI = "src/parcels/cli.py"
SERVICE = "src/parcels/service.py"
CUSTOMS = "src/parcels/export/customs.py"
LABELS = "src/parcels/labels.py"
NUMBERS = "src/parcels/numbers.py"
SLIP = "forms/customs-slip.txt"

NOT_ENTERED = "none-000000000000"


def s1(work, notes):
    work.insert_after(
        CLI,
        '    label.add_argument("numbers", nargs="+", metavar="NUMBER")\n',
        '    label.add_argument("--copies", type=int, choices=range(1, 10), default=1, metavar="N")\n',
    )
    work.replace(
        CLI,
        "    sys.stdout.write(desk.sheet(args.numbers))\n",
        "    sys.stdout.write(desk.sheet(args.numbers, copies=args.copies))\n",
    )
    work.replace(
        SERVICE,
        "    def sheet(self, numbers: Sequence[str]) -> str:\n"
        "        chosen = [self.parcel(number) for number in numbers]\n",
        "    def sheet(self, numbers: Sequence[str], *, copies: int = 1) -> str:\n"
        "        chosen = [parcel for number in numbers for parcel in [self.parcel(number)] * copies]\n",
    )


def s2(work, notes):
    work.replace(
        SERVICE,
        "    def label(self, number: str) -> str:\n",
        '''    def count(self, carrier: str | None = None) -> list[tuple[Status, int, int]]:
        """(status, parcels, grams) for each status that occurs, in the order of a parcel's way."""
        found = []
        for status in Status:
            grams = [p.grams for p in self.parcels(status) if carrier in (None, p.carrier)]
            if grams:
                found.append((status, len(grams), sum(grams)))
        return found

    def label(self, number: str) -> str:
''',
    )
    work.replace(
        CLI,
        "def _export(desk: Desk,",
        """def _count(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    for status, parcels, grams in desk.count(args.carrier):
        print(f"{status.value} {parcels} {format_weight(grams)}")


def _export(desk: Desk,""",
    )
    work.replace(
        CLI,
        '    exporting = commands.add_parser("export"',
        """    count = commands.add_parser("count", help="count parcels by status")
    count.add_argument("--carrier", choices=carriers.codes())
    count.set_defaults(run=_count)

    exporting = commands.add_parser("export\"""",
    )


def s3(work, notes):
    number = notes.recall("tag", about="declarant registration", path=CUSTOMS) or NOT_ENTERED
    _list(work, number)
    _spelling(work)
    _label(work)
    digits = number.rpartition("-")[2]
    groups = [digits[:4], digits[4:8], digits[8:], f"{int(digits, 16) % 97:02}"]
    work.replace(SLIP, "Declarant   ____ ____ ____ __", f"Declarant   {' '.join(groups).upper()}")


def _list(work, number):
    work.replace(
        CUSTOMS,
        '    "value_cents",\n)\n',
        f'    "value_cents",\n    "declarant",\n)\n\n# Our number in the register of the customs office.\nDECLARANT = "{number}"\n',
    )
    work.replace(CUSTOMS, "        str(parcel.value_cents),\n", "        str(parcel.value_cents),\n        DECLARANT,\n")


def _spelling(work):
    work.insert_after(
        NUMBERS,
        '_NUMBER = re.compile(r"([A-Z]{2})(\\d{8})(\\d)([A-Z]{2})")\n',
        '_REGISTERED = re.compile(r"[a-z]+-([0-9a-f]{12})")\n',
    )
    work.append(
        NUMBERS,
        '''

def spelled(number: str) -> str:
    """A register number for people who type it: groups of four, then its check figure."""
    match = _REGISTERED.fullmatch(number)
    if match is None:
        raise InvalidInput(f"{number!r} is not a register number")
    digits = match[1].upper()
    return f"{digits[:4]} {digits[4:8]} {digits[8:]} {int(digits, 16) % 97:02}"
''',
    )


def _label(work):
    work.replace(
        LABELS,
        "from parcels import carriers\n",
        "from parcels import carriers\nfrom parcels.export.customs import DECLARANT\n",
    )
    work.replace(
        LABELS,
        "from parcels.numbers import grouped\n",
        "from parcels.numbers import grouped, spelled\n",
    )
    work.replace(
        LABELS,
        "    return _frame(body, inner)\n",
        '    if parcel.leaves_eu:\n        body.append(f"CD {spelled(DECLARANT)}")\n    return _frame(body, inner)\n',
    )
