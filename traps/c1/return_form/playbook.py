"""Labels and weights: address wrapping, weights as people write them, return labels."""

LABELS = "src/parcels/labels.py"
UNITS = "src/parcels/units.py"
SERVICE = "src/parcels/service.py"
CLI = "src/parcels/cli.py"


def s1(work, notes):
    work.replace(
        LABELS,
        "from collections.abc import Iterable\n",
        "import textwrap\nfrom collections.abc import Iterable\n",
    )
    work.replace(
        LABELS,
        '    return [f"{title}:", *(_clip(f"  {line}", inner) for line in address.lines())]\n',
        """    lines = [f"{title}:"]
    for line in address.lines():
        lines += _wrap(line, inner)
    return lines


def _wrap(text: str, inner: int) -> list[str]:
    \"\"\"`text` broken between words; a word that fits no line is clipped.\"\"\"
    lines = textwrap.wrap(
        text,
        inner,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [_clip(line, inner) for line in lines]
""",
    )


def s2(work, notes):
    work.replace(
        UNITS,
        '_WEIGHT = re.compile(r"(\\d+(?:\\.\\d+)?)\\s*(g|kg|t)", re.IGNORECASE)\n',
        '_PART = re.compile(r"(\\d+(?:[.,]\\d+)?)\\s*(g|kg|t)(?:\\s+|$)", re.IGNORECASE)\n',
    )
    work.replace(
        UNITS,
        '''    """Grams in ``"750 g"`` or ``"1.2 kg"``; a part of a gram is rounded half up."""
    match = _WEIGHT.fullmatch(text.strip())
    if match is None:
        raise InvalidInput(f"cannot read the weight {text!r}")
    grams = Decimal(match[1]) * _GRAMS[match[2].lower()]
    return _positive(grams, text)
''',
        '''    """Grams in ``"750 g"``, ``"1,2 kg"`` or ``"1 kg 200 g"``.

    Units go down and stand at most once each; a part of a gram in the sum is rounded half up.
    """
    rest, last, grams = text.strip(), None, Decimal(0)
    while match := _PART.match(rest):
        unit = _GRAMS[match[2].lower()]
        if last is not None and unit >= last:
            break
        grams += Decimal(match[1].replace(",", ".")) * unit
        rest, last = rest[match.end() :], unit
    if rest or last is None:
        raise InvalidInput(f"cannot read the weight {text!r}")
    return _positive(grams, text)
''',
    )


def s3(work, notes):
    mark = notes.recall("upper", about="form mark return labels", path=LABELS) or "RETURN"
    _render_both_ways(work, mark)
    work.insert_after(
        SERVICE,
        "        return labels.render_sheet(chosen, self._settings.label_width)\n",
        '''
    def return_sheet(self, numbers: Sequence[str]) -> str:
        """Labels with which recipients send delivered parcels back."""
        chosen = [self.parcel(number) for number in numbers]
        for parcel in chosen:
            if parcel.status is not Status.DELIVERED:
                raise WrongState(f"{parcel.number} is {parcel.status.value}, not delivered")
        return labels.render_return_sheet(chosen, self._settings.label_width)
''',
    )
    work.insert_after(
        CLI,
        "    sys.stdout.write(desk.sheet(args.numbers))\n",
        """

def _return_label(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    sys.stdout.write(desk.return_sheet(args.numbers))
""",
    )
    work.insert_after(
        CLI,
        "    label.set_defaults(run=_label)\n",
        """
    back = commands.add_parser("return-label", help="print labels to send delivered parcels back")
    back.add_argument("numbers", nargs="+", metavar="NUMBER")
    back.set_defaults(run=_return_label)
""",
    )


def _render_both_ways(work, mark):
    work.replace(
        LABELS,
        'FORM_FEED = "\\f"\n',
        f'FORM_FEED = "\\f"\nRETURN_MARK = "{mark}"\n',
    )
    work.replace(
        LABELS,
        '''    """The label that goes on an outgoing parcel."""
    inner = _inner_width(width)
    carrier''',
        '''    """The label that goes on an outgoing parcel."""
    return _render(parcel, parcel.sender, parcel.recipient, [], width)


def render_return_label(parcel: Parcel, width: int = 40) -> str:
    """The label that brings a parcel back: addresses exchanged, form mark at the foot."""
    return _render(parcel, parcel.recipient, parcel.sender, ["", RETURN_MARK], width)


def _render(parcel: Parcel, origin: Address, target: Address, foot: list[str], width: int) -> str:
    inner = _inner_width(width)
    carrier''',
    )
    work.replace(LABELS, '_block("From", parcel.sender, inner)', '_block("From", origin, inner)')
    work.replace(LABELS, '_block("To", parcel.recipient, inner)', '_block("To", target, inner)')
    work.replace(
        LABELS,
        "    return _frame(body, inner)\n",
        "    return _frame(body + foot, inner)\n",
    )
    work.insert_after(
        LABELS,
        "    return FORM_FEED.join(render_label(parcel, width) for parcel in parcels)\n",
        '''

def render_return_sheet(parcels: Iterable[Parcel], width: int = 40) -> str:
    """Return labels of several parcels, one a page."""
    return FORM_FEED.join(render_return_label(parcel, width) for parcel in parcels)
''',
    )
