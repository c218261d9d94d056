"""Overrides that set back, lines in explain, and transfers for a whole shop."""

OVERRIDES = "src/crumb/overrides.py"
RESOLVE = "src/crumb/resolve.py"
EXPLAIN = "src/crumb/views/explain.py"
CLI = "src/crumb/cli.py"
TRANSFER = "src/crumb/transfer.py"
README = "README.md"


def s1(work, notes):
    work.replace(OVERRIDES, 'PREFIX = "CRUMB_SET_"\n', 'PREFIX = "CRUMB_SET_"\nBACK = "default"  # the word that sets back\n')
    work.replace(
        OVERRIDES,
        "        setting = schema.setting(name)\n        value = setting.read_text(text)\n",
        "        setting = schema.setting(name)\n"
        "        if text == BACK:\n"
        "            text = setting.write(setting.default)\n"
        "        value = setting.read_text(text)\n",
    )


def s2(work, notes):
    work.replace(
        RESOLVE,
        '    """One layer\'s word on a setting."""\n\n    level: str\n    source: str\n    value: Value\n',
        '    """One layer\'s word on a setting; `line` is 0 where it is not known."""\n'
        "\n"
        "    level: str\n"
        "    source: str\n"
        "    value: Value\n"
        "    line: int = 0\n",
    )
    work.replace(
        RESOLVE,
        "            steps.setdefault(name, []).append(Step(layer.level, layer.source, read(schema, layer, name, raw)))\n",
        "            value = read(schema, layer, name, raw)\n"
        "            steps.setdefault(name, []).append(Step(layer.level, layer.source, value, layer.line(name)))\n",
    )
    work.replace(
        EXPLAIN,
        "def explain(found: Resolved) -> list[str]:\n",
        "def explain(found: Resolved, lines: bool = False) -> list[str]:\n"
        '    """A head, then one line a layer; with `lines` the line of a file stands behind its name."""\n',
    )
    work.replace(
        EXPLAIN,
        "    rows += [(step.source, setting.write(step.value)) for step in found.steps]\n",
        "    for step in found.steps:\n"
        '        place = f"{step.source}:{step.line}" if lines and step.line else step.source\n'
        "        rows.append((place, setting.write(step.value)))\n",
    )
    work.replace(CLI, "            _print(explain(found))\n", "            _print(explain(found, args.lines))\n")
    work.replace(
        CLI,
        "    _add_set(explaining)\n",
        '    explaining.add_argument("--lines", action="store_true", help="show where in a file it stands")\n'
        "    _add_set(explaining)\n",
    )


def s3(work, notes):
    word = notes.recall("tag", about="keep line in transfers to burner controllers", path=TRANSFER)
    work.write(
        TRANSFER,
        '"""One text for all burner controllers of a shop, as the service laptop passes it on."""\n'
        "\n"
        "from __future__ import annotations\n"
        "\n"
        "from collections.abc import Sequence\n"
        "\n"
        "from crumb import export\n"
        "from crumb.book import Book\n"
        "from crumb.errors import NotFound\n"
        "from crumb.resolve import Resolved, resolve\n"
        "\n\n"
        "def transfer(book: Book, shop: str) -> str:\n"
        '    """What differs from the defaults, oven by oven. Raises NotFound, LayerError."""\n'
        '    if shop not in book.names("shop"):\n'
        '        raise NotFound(f"there is no shop {shop!r}")\n'
        '    ovens = [oven for oven in book.names("oven") if book.place(oven).shop == shop]\n'
        '    return "".join(_block(oven, resolve(book.schema, book.layers(oven))) for oven in ovens)\n'
        "\n\n"
        "def _block(oven: str, settings: Sequence[Resolved]) -> str:\n"
        "    changed = [found for found in settings if found.value != found.setting.default]\n"
        '    head, *lines = export.render("plc", oven, changed).splitlines()\n'
        '    return "".join(f"{line}\\r\\n" for line in (head, *lines, f"END={len(lines)}"))\n',
    )
    if word:
        in_portions(work, word)
    work.replace(
        CLI,
        "def _export(args: argparse.Namespace",
        "def _transfer(args: argparse.Namespace, book: Book) -> int:\n"
        "    sys.stdout.write(transfer(book, args.shop))\n"
        "    return 0\n"
        "\n\n"
        "def _export(args: argparse.Namespace",
    )
    work.replace(
        CLI,
        "from crumb.resolve import Resolved, resolve\n",
        "from crumb.resolve import Resolved, resolve\nfrom crumb.transfer import transfer\n",
    )
    work.insert_after(
        CLI,
        "    exporting.set_defaults(run=_export)\n",
        "\n"
        '    transferring = commands.add_parser("transfer", help="settings for all controllers of a shop")\n'
        '    transferring.add_argument("shop", metavar="SHOP")\n'
        "    transferring.set_defaults(run=_transfer)\n",
    )
    work.insert_after(
        README,
        "    crumb export KIND OVEN           settings for a machine: panel (JSON) or plc (lines)\n",
        "    crumb transfer SHOP              settings for all burner controllers of a shop\n",
    )


def in_portions(work, word):
    work.insert_after(
        TRANSFER,
        "from crumb.resolve import Resolved, resolve\n",
        "\n"
        "# The buffer of a controller takes this many lines; the word makes it keep them.\n"
        "PORTION = 4\n"
        f'KEEP = "{word}"\n',
    )
    work.replace(TRANSFER, "(head, *lines, f\"END", "(head, *_portions(lines), f\"END")
    work.append(
        TRANSFER,
        "\n\n"
        "def _portions(lines: Sequence[str]) -> list[str]:\n"
        "    sent: list[str] = []\n"
        "    for start in range(0, len(lines), PORTION):\n"
        '        sent += [*lines[start : start + PORTION], f"KEEP={KEEP}"]\n'
        "    return sent\n",
    )
