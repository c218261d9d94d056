"""Patterns for explain, labels on two doors, and the export for the oven bus."""

CLI = "src/crumb/cli.py"
CHECK = "src/crumb/check.py"
BUS = "src/crumb/bus.py"
README = "README.md"


def s1(work, notes):
    work.replace(
        CLI,
        "    for found in _settings(args, book, args.oven):\n"
        "        if found.setting.name == args.name:\n"
        "            _print(explain(found))\n"
        "            return 0\n"
        '    raise NotFound(f"there is no setting {args.name!r}")\n',
        "    settings = _settings(args, book, args.oven)\n"
        "    fitting = [found for found in settings if fnmatchcase(found.setting.name, args.name)]\n"
        "    if not fitting:\n"
        '        raise NotFound(f"there is no setting {args.name!r}")\n'
        "    for number, found in enumerate(fitting):\n"
        '        _print(["", *explain(found)] if number else explain(found))\n'
        "    return 0\n",
    )
    work.replace(
        CLI,
        "from collections.abc import Callable, Sequence\n",
        "from collections.abc import Callable, Sequence\nfrom fnmatch import fnmatchcase\n",
    )
    work.replace(
        CLI,
        '    explaining.add_argument("name", metavar="NAME")\n',
        '    explaining.add_argument("name", metavar="NAME", help="a setting, or a pattern such as bake.*")\n',
    )


def s2(work, notes):
    work.replace(
        CHECK,
        '    for oven in book.names("oven"):\n',
        "    labels: dict[tuple[str, str], str] = {}\n"
        '    for oven in book.names("oven"):\n',
    )
    work.insert_after(
        CHECK,
        "        found.update(_oven_problems(oven, settings))\n",
        "        found.update(_label_problems(oven, book.place(oven).shop, settings, labels))\n",
    )
    work.append(
        CHECK,
        "\n\n"
        "def _label_problems(\n"
        "    oven: str, shop: str, settings: dict[str, Resolved], labels: dict[tuple[str, str], str]\n"
        ") -> Iterator[Problem]:\n"
        '    """`labels` has the first oven with a label, by shop and label; this oven is added to it."""\n'
        '    label = settings.get("door.label")\n'
        """    source = f"{FOLDERS['oven']}/{oven}.toml"\n"""
        "    if label is None or label.origin != source:\n"
        "        return  # a label from further out is meant for all ovens there\n"
        "    first = labels.setdefault((shop, label.text), oven)\n"
        "    if first != oven:\n"
        '        yield Problem(source, 0, WARNING, f"the label {label.text!r} stands on {first}, too")\n',
    )


def s3(work, notes):
    top = notes.recall("upper", about="register of the heat from above", path=BUS) or "TOP"
    steam = notes.recall("upper", about="register of the steam burst", path=BUS) or "STEAM"
    door = notes.recall("upper", about="register of the door lock", path=BUS) or "DOOR"
    work.write(
        BUS,
        '"""For the oven bus: one ``REGISTER VALUE`` a line, and the sum of the values.\n'
        "\n"
        "A value has four hex digits: temperatures in tenths of a degree, switches 0 or 1, numbers as they are.\n"
        '"""\n'
        "\n"
        "from __future__ import annotations\n"
        "\n"
        "from collections.abc import Sequence\n"
        "\n"
        "from crumb.resolve import Resolved\n"
        "from crumb.schema import Schema\n"
        "\n"
        "# Where an oven keeps what can be loaded over the bus.\n"
        "REGISTERS = {\n"
        f'    "bake.top": "{top}",\n'
        f'    "steam.seconds": "{steam}",\n'
        f'    "door.lock": "{door}",\n'
        "}\n"
        "WORDS = 0x10000\n"
        "\n\n"
        "def render(settings: Sequence[Resolved]) -> str:\n"
        "    known = {found.setting.name: found for found in settings}\n"
        "    values = {REGISTERS[name]: _number(known[name]) for name in REGISTERS if name in known}\n"
        '    rows = [*values.items(), ("SUM", sum(values.values()))]\n'
        '    return "".join(f"{register} {value % WORDS:04X}\\n" for register, value in rows)\n'
        "\n\n"
        "def rows(schema: Schema) -> list[tuple[str, str, str]]:\n"
        '    """(setting, register, what it is about), for people."""\n'
        "    return [\n"
        "        (name, register, schema.setting(name).about)\n"
        "        for name, register in REGISTERS.items()\n"
        "        if name in schema\n"
        "    ]\n"
        "\n\n"
        "def _number(found: Resolved) -> int:\n"
        '    return int(found.value) * (10 if found.setting.kind == "temperature" else 1)\n',
    )
    work.replace(
        CLI,
        "def _export(args: argparse.Namespace",
        "def _bus(args: argparse.Namespace, book: Book) -> int:\n"
        "    sys.stdout.write(bus.render(_settings(args, book, args.oven)))\n"
        "    return 0\n"
        "\n\n"
        "def _registers(args: argparse.Namespace, book: Book) -> int:\n"
        "    _print(aligned(bus.rows(book.schema)))\n"
        "    return 0\n"
        "\n\n"
        "def _export(args: argparse.Namespace",
    )
    work.replace(
        CLI,
        "from crumb import __version__, export, overrides\n",
        "from crumb import __version__, bus, export, overrides\n",
    )
    work.insert_after(
        CLI,
        "    exporting.set_defaults(run=_export)\n",
        "\n"
        '    loading = commands.add_parser("bus", help="what is loaded into an oven over the bus")\n'
        '    loading.add_argument("oven", metavar="OVEN")\n'
        "    _add_set(loading)\n"
        "    loading.set_defaults(run=_bus)\n"
        "\n"
        '    registers = commands.add_parser("registers", help="where ovens on the bus keep their settings")\n'
        "    registers.set_defaults(run=_registers)\n",
    )
    work.replace(
        README,
        "    crumb export KIND OVEN           settings for a machine: panel (JSON) or plc (lines)\n",
        "    crumb export KIND OVEN           settings for a machine: panel (JSON) or plc (lines)\n"
        "    crumb bus OVEN                   settings that are loaded over the oven bus\n"
        "    crumb registers                  where ovens on the bus keep their settings\n",
    )
