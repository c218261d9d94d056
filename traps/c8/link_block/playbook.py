"""Explanations of functions, readings from a file, two new functions."""

CLI = "src/frond/cli.py"
LIBRARY = "src/frond/library.py"
TABLE = "grammar/functions.tab"
MADE = "src/frond/_functions.py"
REFERENCE = "docs/functions.md"
WORDS = "editors/frond.words"

CLAMP = "The first argument, held between the second and the third."
BETWEEN = "Whether the first argument lies between the second and the third or on one of them."


def s1(work, notes):
    work.replace(
        CLI,
        """    listing.set_defaults(handler=do_functions)
""",
        """    listing.add_argument("names", nargs="*", metavar="NAME", help="explain only these")
    listing.set_defaults(handler=do_functions)
""",
    )
    work.replace(
        CLI,
        """    width = max(map(len, FUNCTIONS))
""",
        """    if options.names:
        return "".join([_explained(name) for name in options.names])
    width = max(map(len, FUNCTIONS))
""",
    )
    work.replace(
        CLI,
        "\n\ndef _reading(text: str)",
        '''

def _explained(name: str) -> str:
    """Two lines about a function."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise FrondError(f"there is no function {name}")
    many = " or more" if function.more else ""
    word = "argument" if function.least == 1 and not many else "arguments"
    return f"{name}: {function.least}{many} {word}, a {function.result}\\n    {function.doc}\\n"


def _reading(text: str)''',
    )


def s2(work, notes):
    work.replace(
        CLI,
        """    running.set_defaults(handler=do_run)
""",
        """    running.add_argument("--readings", type=Path, dest="log", metavar="FILE", help="more, one a line")
    running.set_defaults(handler=do_run)
""",
    )
    work.replace(
        CLI,
        "    deeds = run(plan, dict(map(_reading, options.readings)))\n",
        """    given = dict(map(_reading, options.readings))
    deeds = run(plan, {**(_logged(options.log) if options.log else {}), **given})
""",
    )
    work.replace(
        CLI,
        "\n\ndef do_functions(",
        '''

def _logged(file: Path) -> dict[str, Value]:
    """The readings of a file, one a line."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ReadingsFault(f"{file}: {error.strerror}") from None
    found = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        try:
            name, value = _reading(line)
        except FrondError as error:
            raise ReadingsFault(f"{file}:{number}: {error.message}") from None
        found[name] = value
    return found


def do_functions(''',
    )
    work.replace(
        CLI,
        """    name, found, value = text.partition("=")
    if not found:
""",
        """    name, found, value = (part.strip() for part in text.partition("="))
    if not found:
""",
    )
    work.replace(
        CLI,
        "def main(argv",
        '''class ReadingsFault(FrondError):
    """Something is wrong in the file with the readings; the message names it."""


def main(argv''',
    )
    work.replace(
        CLI,
        """        where = f"{options.file}:" if getattr(options, "file", None) else ""
""",
        """        told = isinstance(error, ReadingsFault) or not getattr(options, "file", None)
        where = "" if told else f"{options.file}:"
""",
    )


def s3(work, notes):
    way = notes.recall("word", about="way to add a function to the language", path=TABLE)
    block = notes.recall("dotted", about="block reserved for new functions", path=TABLE)
    implement(work)
    if way == "by-hand":
        write_out(work, block)
        return
    declare(work, block)
    status, output = work.run(["python", "tools/mkfunctions.py"])
    if status:
        raise RuntimeError(output)


def implement(work):
    work.append(
        LIBRARY,
        '''

def ordered(low: float, high: float) -> None:
    if low > high:
        raise RunFault(f"the limits {low:g} and {high:g} are the wrong way round")


@implements("clamp")
def clamp(value: float, low: float, high: float) -> float:
    ordered(low, high)
    return min(max(value, low), high)


@implements("is_between")
def is_between(value: float, low: float, high: float) -> bool:
    ordered(low, high)
    return low <= value <= high
''',
    )


def declare(work, block):
    rows = f"clamp      3   number  {CLAMP}\nis_between 3   truth   {BETWEEN}\n"
    work.append(TABLE, f"\nblock {block}\n{rows}" if block else rows)


def write_out(work, block):
    """What the table would give, in the made files themselves."""
    rows = (("clamp", "number", CLAMP), ("is_between", "truth", BETWEEN))
    made, cells, home = "", "", block or "climate"
    for name, result, doc in rows:
        made += f'    "{name}": Function(\n        "{name}", "{home}/{name}", 3, False, "{result}",\n'
        made += f'        "{doc}",\n    ),\n'
        cells += f"| `{name}` | 3 | {result} | `{home}/{name}` | {doc} |\n"
    text = work.read(MADE)
    work.write(MADE, text[: text.rindex("}")] + made + "}\n")
    head = f"\n## Block `{block}`\n\n| function | arguments | result | link name | |\n|---|---|---|---|---|\n"
    work.append(REFERENCE, (head if block else "") + cells)
    work.insert_after(WORDS, "abs 1\n", "clamp 3\n")
    work.replace(WORDS, "is_night 1\n", "is_between 3\nis_night 1\n")
