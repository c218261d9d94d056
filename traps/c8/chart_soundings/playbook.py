"""Depths on request, free berths at the shell, depths after a survey and berths by draught."""

SERVICE = "src/quaybook/service.py"
HANDLERS = "src/quaybook/handlers.py"
CLI = "src/quaybook/cli.py"
README = "README.md"
CHART = "chart/places.csv"
MADE = "src/quaybook/_places.py"
REFERENCE = "docs/places.md"

SINCE = "2026-04-07"
FOUND = (("A2", 800, 240), ("E1", 900, 230), ("E2", 900, 225), ("E3", 1000, 220))


def s1(work, notes):
    work.replace(
        SERVICE,
        "    def free_berths(",
        '''    def depth(self, berth: str) -> Place:
        """What the chart says about a berth."""
        found = PLACES.get(berth)
        if found is None:
            raise NotFound(f"berth {berth} is not on the chart")
        return found

    def free_berths(''',
    )
    work.insert_after(
        SERVICE, "from quaybook import board, tariff\n", "from quaybook._places import PLACES, Place\n"
    )
    work.replace(
        HANDLERS,
        "def stay_open(",
        '''def berth_depth(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    berth = fields.text("berth")
    place = harbour.depth(berth)
    return {"berth": berth, "depth_cm": place.depth_cm, "since": place.since}


def stay_open(''',
    )
    work.insert_after(HANDLERS, '    "berth.free": berth_free,\n', '    "berth.depth": berth_depth,\n')
    work.insert_after(
        README,
        "| `berth.free` | `length_cm` | `berths` |\n",
        "| `berth.depth` | `berth` | `berth`, `depth_cm`, `since` |\n",
    )


def s2(work, notes):
    work.replace(
        CLI,
        "    return parser\n",
        '''
    free = commands.add_parser("free", parents=[common], help="free berths")
    free.add_argument("--length", type=centimetres, default=0, metavar="CM", help="of the vessel")
    free.set_defaults(run=do_free)
    return parser


def centimetres(text: str) -> int:
    """A length that is not negative. Raises ValueError."""
    length = int(text)
    if length < 0:
        raise ValueError(text)
    return length
''',
    )
    work.replace(
        CLI,
        "def serve(",
        '''def do_free(args: argparse.Namespace, harbour: Harbour) -> int:
    for berth in harbour.free_berths(args.length):
        print(f"{berth.name:<4} {metres(berth.max_cm)}")
    return 0


def serve(''',
    )
    work.replace(CLI, "from quaybook.extract import extract\n", "from quaybook.extract import extract, metres\n")
    work.insert_after(
        README,
        "    quaybook board DB                    what the displays on the pontoons show\n",
        "    quaybook free DB [--length CM]       free berths\n",
    )


def s3(work, notes):
    way = notes.recall("word", about="way to change the chart", path=CHART)
    notice = notes.recall("tag", about="notice column of the lines that rest on soundings", path=CHART)
    by_draught(work)
    lines = [f"{berth},{longest},{depth},{SINCE},{notice or 'survey 2026'}" for berth, longest, depth in FOUND]
    if way == "by-hand":
        write_out(work, lines)
        return
    if way == "by-new-line":
        work.append(CHART, "".join(line + "\n" for line in lines))
    else:
        put_in(work, lines)
    status, output = work.run(["python", "tools/mkplaces.py"])
    if status:
        raise RuntimeError(output)


def by_draught(work):
    work.replace(
        SERVICE,
        """    def free_berths(self, length_cm: int = 0) -> list[Berth]:
        return self._store.free_berths(length_cm)
""",
        '''    def free_berths(self, length_cm: int = 0, draught_cm: int = 0) -> list[Berth]:
        """Free berths that are long enough and, when a draught is given, deep enough by the chart."""
        found = self._store.free_berths(length_cm)
        if not draught_cm:
            return found
        deep = {name for name, place in PLACES.items() if place.depth_cm - draught_cm >= UNDER_KEEL_CM}
        return [berth for berth in found if berth.name in deep]
''',
    )
    work.insert_after(SERVICE, "LONGEST_CM = 4000\n", "UNDER_KEEL_CM = 30\n")
    work.replace(
        HANDLERS,
        """    return {"berths": [berth.name for berth in harbour.free_berths(fields.number("length_cm", 0))]}
""",
        """    found = harbour.free_berths(fields.number("length_cm", 0), fields.number("draught_cm", 0))
    return {"berths": [berth.name for berth in found]}
""",
    )
    work.replace(
        CLI,
        "    free.set_defaults(run=do_free)\n",
        """    free.add_argument("--draught", type=centimetres, default=0, metavar="CM", help="of the vessel")
    free.set_defaults(run=do_free)
""",
    )
    work.replace(CLI, "harbour.free_berths(args.length)", "harbour.free_berths(args.length, args.draught)")
    work.replace(
        README,
        "| `berth.free` | `length_cm` | `berths` |\n",
        "| `berth.free` | `length_cm`, `draught_cm` | `berths` |\n",
    )


def put_in(work, lines):
    """Into the lines of the berths, where there are some."""
    new = {line.partition(",")[0]: line for line in lines}
    kept = [new.pop(line.partition(",")[0], line) for line in work.read(CHART).splitlines()]
    work.write(CHART, "".join(line + "\n" for line in [*kept, *new.values()]))


def write_out(work, lines):
    """Into the made files, as the tool would write them."""
    for line in lines:
        berth, longest, depth, since, notice = line.split(",")
        place = f'    "{berth}": Place({longest}, {depth}, "{since}", "{notice}"),'
        row = f"| {line.replace(',', ' | ')} |"
        swap(work, MADE, f'    "{berth}": ', place, "}")
        swap(work, REFERENCE, f"| {berth} |", row, "")


def swap(work, path, begins, line, before):
    """Put a line in place of the one that begins so, else in front of the last one that is `before`."""
    lines = work.read(path).splitlines()
    there = [number for number, old in enumerate(lines) if old.startswith(begins)]
    if there:
        lines[there[0]] = line
    else:
        tables = [number for number, old in enumerate(lines) if old == before and number > 4]
        lines.insert(tables[0], line)
    work.write(path, "\n".join([*lines, ""]))
