"""Lists of berths without doubles, dues of one berth, books that say whose they are."""

SCHEMA = "src/quaybook/schema.py"
STORE = "src/quaybook/store.py"
SERVICE = "src/quaybook/service.py"
HANDLERS = "src/quaybook/handlers.py"
WIRE = "src/quaybook/wire.py"
CLI = "src/quaybook/cli.py"
PRACTICE = "src/quaybook/practice.py"
README = "README.md"

ABOUT = "owner word that the register import reads in a book"


def s1(work, notes):
    work.replace(
        CLI,
        """    for number, line in enumerate(lines, start=1):
        name, _, length = line.partition(",")
        if not length.strip().isdecimal():
            raise BadRequest(f"{args.berths.name}, line {number}: name,length is needed")
        harbour.add_berth(name.strip(), int(length))
""",
        """    berths: dict[str, int] = {}
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        name, _, length = (part.strip() for part in line.partition(","))
        if not length.isdecimal():
            raise BadRequest(f"{args.berths.name}, line {number}: name,length is needed")
        if name in seen:
            raise BadRequest(f"{args.berths.name}, line {number}: {name} stands in line {seen[name]} already")
        harbour.check_berth(name, int(length))
        berths[name], seen[name] = int(length), number
    for name, max_cm in berths.items():
        harbour.add_berth(name, max_cm)
""",
    )
    work.replace(
        SERVICE,
        """    def add_berth(self, name: str, max_cm: int) -> Berth:
        if not BERTH_NAME""",
        '''    def add_berth(self, name: str, max_cm: int) -> Berth:
        berth = self.check_berth(name, max_cm)
        with self._store.transaction():
            self._store.add_berth(berth)
        return berth

    def check_berth(self, name: str, max_cm: int) -> Berth:
        """A berth that could be added. Raises BadRequest."""
        if not BERTH_NAME''',
    )
    work.replace(
        SERVICE,
        """        berth = Berth(name, max_cm)
        with self._store.transaction():
            self._store.add_berth(berth)
        return berth
""",
        "        return Berth(name, max_cm)\n",
    )


def s2(work, notes):
    work.replace(
        SERVICE,
        """    def charges(self, since: date, until: date) -> list[Charge]:
        return self._store.charges(since, until)
""",
        '''    def charges(self, since: date, until: date, berth: str = "") -> list[Charge]:
        """What was booked from `since` to before `until`, at one berth or at all."""
        found = self._store.charges(since, until)
        if not berth:
            return found
        if self._store.berth(berth) is None:
            raise NotFound(f"no berth {berth}")
        return [charge for charge in found if self._at(charge.stay) == berth]

    def _at(self, number: int) -> str:
        stay = self._store.stay(number)
        return stay.berth if stay else ""
''',
    )
    work.replace(
        HANDLERS,
        """    charges = harbour.charges(fields.day("since"), fields.day("until"))
    return {
        "charges": [
""",
        """    berth = fields.text_or_none("berth") or ""
    charges = harbour.charges(fields.day("since"), fields.day("until"), berth)
    return {
        "cents": sum(one.cents for one in charges),
        "charges": [
""",
    )
    work.insert_after(
        WIRE,
        "        return self.day(name) if self._body.get(name) is not None else None\n",
        """
    def text_or_none(self, name: str) -> str | None:
        return self.text(name) if self._body.get(name) is not None else None
""",
    )
    work.replace(
        README,
        "| `dues.list` | `since`, `until` | `charges` |\n",
        "| `dues.list` | `since`, `until`, `berth` | `charges`, `cents` |\n",
    )


def s3(work, notes):
    mine = notes.recall("dotted", about=ABOUT, path=PRACTICE) or "practice"
    usual = notes.recall("dotted", about=ABOUT, path=SCHEMA) or "harbour"
    work.replace(
        SCHEMA,
        '    sql("alter table vessels add column insured_until text"),\n',
        f"""    sql("alter table vessels add column insured_until text"),
    sql(
        "create table about (name text primary key, value text not null)",
        "insert into about values ('owner', '{usual}')",
    ),
""",
    )
    work.replace(
        STORE,
        "    # berths\n",
        """    # about

    def about(self, name: str) -> str:
        row = self._db.execute("select value from about where name = ?", (name,)).fetchone()
        return str(row["value"]) if row else ""

    def put_about(self, name: str, value: str) -> None:
        self._db.execute("insert or replace into about values (?, ?)", (name, value))

    # berths

    def count_berths(self) -> int:
        return int(self._db.execute("select count(*) from berths").fetchone()[0])
""",
    )
    work.replace(
        SERVICE,
        "    def add_berth(self",
        '''    def owner(self) -> str:
        """Whose book this is."""
        return self._store.about("owner")

    def give_to(self, owner: str) -> None:
        with self._store.transaction():
            self._store.put_about("owner", owner)

    def count_berths(self) -> int:
        """How many there are, free or not."""
        return self._store.count_berths()

    def add_berth(self''',
    )
    work.write(
        PRACTICE,
        f'''"""Books for people who practise."""

from __future__ import annotations

from quaybook.model import Vessel
from quaybook.service import Harbour

OWNER = "{mine}"
BERTHS = (("P1", 900), ("P2", 1200))
VESSELS = (Vessel("TRY-1", "Try One", 700), Vessel("TRY-2", "Try Two", 1100, home=True))


def furnish(harbour: Harbour) -> None:
    """Make an empty book one for practice."""
    harbour.give_to(OWNER)
    for name, max_cm in BERTHS:
        harbour.add_berth(name, max_cm)
    for vessel in VESSELS:
        harbour.register(vessel)
''',
    )
    work.replace(
        HANDLERS,
        "def berth_free(",
        '''def book_show(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    return {"owner": harbour.owner(), "berths": harbour.count_berths(), "open": len(harbour.open_stays())}


def berth_free(''',
    )
    work.insert_after(HANDLERS, "VERBS: dict[str, Handler] = {\n", '    "book.show": book_show,\n')
    work.replace(
        CLI,
        "    return parser\n",
        """
    practice = commands.add_parser("practice", parents=[common], help="make a book for practice")
    practice.set_defaults(run=do_practice)
    return parser
""",
    )
    work.replace(
        CLI,
        "def do_ask(",
        '''def do_practice(args: argparse.Namespace, harbour: Harbour) -> int:
    if harbour.count_berths():
        raise BadRequest(f"{args.db.name} holds a book already")
    furnish(harbour)
    print(f"{args.db}: {len(harbour.free_berths())} berths free")
    return 0


def do_ask(''',
    )
    work.insert_after(CLI, "from quaybook.handlers import answer\n", "from quaybook.practice import furnish\n")
    work.insert_after(README, "|---|---|---|\n", "| `book.show` | | `owner`, `berths`, `open` |\n")
    work.replace(
        README,
        "    quaybook ask DB VERB [",
        "    quaybook practice DB                 make a book for practice\n    quaybook ask DB VERB [",
    )
