"""A board for each pontoon, one stay on request, nights by pontoon for a reader outside."""

SCHEMA = "src/quaybook/schema.py"
STORE = "src/quaybook/store.py"
SERVICE = "src/quaybook/service.py"
HANDLERS = "src/quaybook/handlers.py"
CLI = "src/quaybook/cli.py"
README = "README.md"


def s1(work, notes):
    work.replace(
        SERVICE,
        "    def board(self) -> list[str]:\n        return self._store.board()\n",
        '''    def board(self, pontoon: str = "") -> list[str]:
        """The lines of one pontoon, or of all."""
        if pontoon and not PONTOON.fullmatch(pontoon):
            raise BadRequest(f"{pontoon!r} is no pontoon")
        return [line for line in self._store.board() if line.startswith(pontoon)]
''',
    )
    work.insert_after(SERVICE, 'BERTH_NAME = re.compile(r"[A-Z][1-9]\\d{0,2}")\n', 'PONTOON = re.compile(r"[A-Z]")\n')
    work.replace(
        CLI,
        "    board.set_defaults(run=do_board)\n",
        """    board.add_argument("--pontoon", default="", metavar="LETTER", help="only the berths of this one")
    board.set_defaults(run=do_board)
""",
    )
    work.replace(CLI, "in harbour.board():", "in harbour.board(args.pontoon):")


def s2(work, notes):
    work.replace(
        SERVICE,
        "    def open_stays(self)",
        '''    def stay(self, number: int) -> Stay:
        found = self._store.stay(number)
        if found is None:
            raise NotFound(f"no stay {number}")
        return found

    def open_stays(self)''',
    )
    work.replace(
        SERVICE,
        """        stay = self._store.stay(number)
        if stay is None:
            raise NotFound(f"no stay {number}")
        if stay.closed:
""",
        """        stay = self.stay(number)
        if stay.closed:
""",
    )
    work.replace(
        HANDLERS,
        "def stay_list(",
        '''def stay_show(harbour: Harbour, fields: Fields) -> dict[str, Any]:
    stay = harbour.stay(fields.number("stay"))
    return {
        "stay": stay.id,
        "reg": stay.reg,
        "berth": stay.berth,
        "opened": stay.opened.isoformat(),
        "closed": stay.closed.isoformat() if stay.closed else None,
        "nights": (stay.closed - stay.opened).days if stay.closed else None,
    }


def stay_list(''',
    )
    work.insert_after(HANDLERS, '    "stay.close": stay_close,\n', '    "stay.show": stay_show,\n')
    work.insert_after(
        README,
        "| `stay.close` | `stay`, `day` | `cents`, `reason` |\n",
        "| `stay.show` | `stay` | `stay`, `reg`, `berth`, `opened`, `closed`, `nights` |\n",
    )


def s3(work, notes):
    name = notes.recall("upper", about="name of the view that the district collector selects from", path=SCHEMA)
    work.replace(
        SCHEMA,
        '    sql("alter table vessels add column insured_until text"),\n',
        f'''    sql("alter table vessels add column insured_until text"),
    sql(
        "create view {name or "district_nights"} as select substr(s.berth, 1, 1) as pontoon, s.opened, s.closed,"
        " v.length_cm, v.home from stays s join vessels v on v.reg = s.reg order by s.id",
    ),
''',
    )
    work.replace(
        STORE,
        "    def end_stay(self",
        '''    def stays_within(self, first: date, end: date) -> list[Stay]:
        """Stays with a night after one of the days ``first <= day < end``, by number."""
        rows = self._db.execute(
            "select * from stays where opened < ? and (closed is null or closed > ?) order by id",
            (end.isoformat(), first.isoformat()),
        )
        return [_stay(row) for row in rows]

    def end_stay(self''',
    )
    work.replace(
        SERVICE,
        "    def board(self)",
        '''    def nights(self, year: int, month: int) -> dict[str, int]:
        """Nights of a month by pontoon; an open stay counts to its end."""
        first = date(year, month, 1)
        end = date(year + month // 12, month % 12 + 1, 1)
        found: dict[str, int] = {}
        for stay in self._store.stays_within(first, end):
            count = (min(stay.closed or end, end) - max(stay.opened, first)).days
            found[stay.berth[0]] = found.get(stay.berth[0], 0) + count
        return {pontoon: count for pontoon, count in sorted(found.items()) if count}

    def board(self)''',
    )
    work.replace(
        CLI,
        "    return parser\n",
        """
    nights = commands.add_parser("nights", parents=[common], help="nights of a month by pontoon")
    nights.add_argument("--month", type=month, required=True)
    nights.set_defaults(run=do_nights)
    return parser


def month(text: str) -> tuple[int, int]:
    \"\"\"Year and month from YYYY-MM. Raises ValueError.\"\"\"
    first = date.fromisoformat(f"{text}-01")
    if f"{first:%Y-%m}" != text:
        raise ValueError(text)
    return first.year, first.month
""",
    )
    work.replace(
        CLI,
        "def serve(",
        '''def do_nights(args: argparse.Namespace, harbour: Harbour) -> int:
    for pontoon, count in harbour.nights(*args.month).items():
        print(f"{pontoon}  {count}")
    return 0


def serve(''',
    )
    work.insert_after(
        README,
        "    quaybook extract DB --day DAY        who lay where on a day, as CSV\n",
        "    quaybook nights DB --month MONTH     nights of a month by pontoon\n",
    )
