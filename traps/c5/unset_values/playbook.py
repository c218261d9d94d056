"""Views and exports: what was changed, ovens of a place, settings without a value."""

SCHEMA = "src/crumb/schema.py"
RESOLVE = "src/crumb/resolve.py"
CHECK = "src/crumb/check.py"
SHOW = "src/crumb/views/show.py"
PANEL = "src/crumb/export/panel.py"
PLC = "src/crumb/export/plc.py"
CLI = "src/crumb/cli.py"


def s1(work, notes):
    work.replace(
        SHOW,
        """def show(settings: Sequence[Resolved]) -> list[str]:
    return aligned([(found.setting.name, found.text, found.origin) for found in settings])
""",
        '''def show(settings: Sequence[Resolved], changed: bool = False) -> list[str]:
    """All settings, or only those whose value differs from the schema's default."""
    chosen = [found for found in settings if not changed or found.value != found.setting.default]
    return aligned([(found.setting.name, found.text, found.origin) for found in chosen])
''',
    )
    work.replace(
        CLI,
        "    _print(show(_settings(args, book, args.oven)))\n",
        "    _print(show(_settings(args, book, args.oven), args.changed))\n",
    )
    work.replace(
        CLI,
        "    _add_set(showing)\n",
        """    showing.add_argument("--changed", action="store_true", help="only what differs from the defaults")
    _add_set(showing)
""",
    )


def s2(work, notes):
    work.replace(
        CLI,
        """    places = [book.place(oven) for oven in book.names("oven")]
""",
        """    for level, name in (("shop", args.shop), ("region", args.region)):
        if name is not None:
            book.layer(level, name)  # an unknown place is an error, not an empty list
    places = [
        place
        for place in map(book.place, book.names("oven"))
        if args.shop in (None, place.shop) and args.region in (None, place.region)
    ]
""",
    )
    work.replace(
        CLI,
        "    ovens.set_defaults(run=_ovens)\n",
        """    ovens.add_argument("--shop", help="only the ovens of this shop")
    ovens.add_argument("--region", help="only the ovens of this region")
    ovens.set_defaults(run=_ovens)
""",
    )


def s3(work, notes):
    _schema(work, notes.recall("tag", about="word for a missing value in the exports", path=SHOW) or "-")
    _values(work)
    for path in (PANEL, PLC):
        _export(work, path, notes.recall("tag", about="word for a missing value in the exports", path=path) or "-")


def _schema(work, dash):
    work.replace(SCHEMA, '"deepest", "about"}\n', '"deepest", "about", "optional"}\n')
    work.insert_after(SCHEMA, "MAX_TEXT = 24\n", f'MISSING = "{dash}"\n')
    work.replace(
        SCHEMA,
        '''    """One thing that can be set; `deepest` is the last layer that may do it."""

    name: str
    kind: str
    default: Value
''',
        '''    """One thing that can be set; `deepest` is the last layer that may do it. An optional one has no default."""

    name: str
    kind: str
    default: Value | None
''',
    )
    work.replace(
        SCHEMA,
        '''    def write(self, value: Value) -> str:
        """A value as people write it."""
''',
        '''    def write(self, value: Value | None) -> str:
        """A value as people write it."""
        if value is None:
            return MISSING
''',
    )
    work.replace(
        SCHEMA,
        '''    if "default" not in table:
        raise SchemaError(name, "default is missing")
''',
        '''    optional = table.get("optional", False)
    if not isinstance(optional, bool):
        raise SchemaError(name, "optional is true or false")
    if optional and "default" in table:
        raise SchemaError(name, "an optional setting has no default")
    if not optional and "default" not in table:
        raise SchemaError(name, "default is missing")
''',
    )
    work.replace(
        SCHEMA,
        '        default = bare.read(table["default"])\n',
        '        default = None if optional else bare.read(table["default"])\n',
    )


def _values(work):
    work.replace(
        RESOLVE,
        "    setting: Setting\n    value: Value\n    steps:",
        "    setting: Setting\n    value: Value | None\n    steps:",
    )
    work.replace(
        CHECK,
        "            settings = {r.setting.name: r for r in resolve(book.schema, book.layers(oven))}\n",
        """            found_here = resolve(book.schema, book.layers(oven))
            settings = {r.setting.name: r for r in found_here if r.value is not None}
""",
    )


def _export(work, path, filler):
    """Write for a missing value what the readers of this export want to find."""
    if path == PANEL:
        work.insert_after(PANEL, "FORMAT = 3\n", f'MISSING = "{filler}"\n')
        work.replace(
            PANEL,
            "        \"settings\": {found.setting.name: found.text for found in settings},\n",
            "        \"settings\": {found.setting.name: _text(found) for found in settings},\n",
        )
        work.append(
            PANEL,
            """

def _text(found: Resolved) -> str:
    return MISSING if found.value is None else found.text
""",
        )
    else:
        work.replace(
            PLC,
            "from crumb.resolve import Resolved\n",
            f'from crumb.resolve import Resolved\n\nMISSING = "{filler}"\n',
        )
        work.replace(
            PLC,
            '            lines.append(f"{_name(found)}={_number(found)}")\n',
            """            value = MISSING if found.value is None else _number(found)
            lines.append(f"{_name(found)}={value}")
""",
        )
