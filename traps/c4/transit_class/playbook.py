TARIFF = "src/quaybook/tariff.py"
SCHEMA = "src/quaybook/schema.py"
STORE = "src/quaybook/store.py"
SERVICE = "src/quaybook/service.py"
HANDLERS = "src/quaybook/handlers.py"
CLI = "src/quaybook/cli.py"
README = "README.md"


def s1(work, notes):
    work.replace(
        STORE,
        "class Store:\n",
        "# Berths as they lie: by letter of the pontoon, then by number.\n"
        'AS_THEY_LIE = "substr({0}, 1, 1), cast(substr({0}, 2) as integer)"\n'
        "\n"
        "\n"
        "class Store:\n",
    )
    work.replace(
        STORE,
        '            " and name not in (select berth from stays where closed is null) order by name",\n',
        '            " and name not in (select berth from stays where closed is null)"\n'
        """            f" order by {AS_THEY_LIE.format('name')}",\n""",
    )
    work.replace(
        STORE,
        '            "select * from stays where opened <= ?1 and (closed is null or closed > ?1) order by berth",\n',
        '            "select * from stays where opened <= ?1 and (closed is null or closed > ?1)"\n'
        """            f" order by {AS_THEY_LIE.format('berth')}",\n""",
    )


def s2(work, notes):
    work.replace(
        STORE,
        "    def end_stay(self",
        "    def move_stay(self, number: int, berth: str) -> None:\n"
        '        self._db.execute("update stays set berth = ? where id = ?", (berth, number))\n'
        "\n"
        "    def end_stay(self",
    )
    work.replace(
        SERVICE,
        "        vessel = self.vessel(reg)\n"
        "        place = self._store.berth(berth)\n"
        "        if place is None:\n"
        '            raise NotFound(f"no berth {berth}")\n'
        "        if vessel.length_cm > place.max_cm:\n"
        '            raise Conflict(f"{vessel.name} is too long for berth {berth}")\n'
        "        for stay in self._store.open_stays():\n"
        "            if stay.berth == berth:\n"
        '                raise Conflict(f"berth {berth} is taken")\n'
        "            if stay.reg == reg:\n"
        '                raise Conflict(f"{vessel.name} lies at berth {stay.berth}")\n',
        "        vessel = self.vessel(reg)\n"
        "        self._check_berth(vessel, berth)\n"
        "        for stay in self._store.open_stays():\n"
        "            if stay.reg == reg:\n"
        '                raise Conflict(f"{vessel.name} lies at berth {stay.berth}")\n',
    )
    work.replace(
        SERVICE,
        "    def close_stay(self",
        "    def shift(self, number: int, berth: str) -> Stay:\n"
        '        """The vessel goes on with its stay at another berth, and the pontoon shows it."""\n'
        "        stay = self._open(number)\n"
        "        vessel = self.vessel(stay.reg)\n"
        "        if stay.berth == berth:\n"
        '            raise Conflict(f"{vessel.name} lies at berth {berth}")\n'
        "        self._check_berth(vessel, berth)\n"
        "        shifted = replace(stay, berth=berth)\n"
        "        with self._store.transaction():\n"
        "            self._store.move_stay(number, berth)\n"
        "            self._store.show(number, board.line(shifted, vessel))\n"
        "        return shifted\n"
        "\n"
        "    def close_stay(self",
    )
    work.replace(
        SERVICE,
        "    def _open(self, number: int) -> Stay:\n",
        "    def _check_berth(self, vessel: Vessel, berth: str) -> None:\n"
        '        """Refuse a berth that is unknown, too short or taken."""\n'
        "        place = self._store.berth(berth)\n"
        "        if place is None:\n"
        '            raise NotFound(f"no berth {berth}")\n'
        "        if vessel.length_cm > place.max_cm:\n"
        '            raise Conflict(f"{vessel.name} is too long for berth {berth}")\n'
        "        if any(stay.berth == berth for stay in self._store.open_stays()):\n"
        '            raise Conflict(f"berth {berth} is taken")\n'
        "\n"
        "    def _open(self, number: int) -> Stay:\n",
    )
    work.replace(
        SERVICE, "import re\nfrom datetime import date\n", "import re\nfrom dataclasses import replace\nfrom datetime import date\n"
    )
    work.replace(
        HANDLERS,
        "def stay_close(",
        "def stay_shift(harbour: Harbour, fields: Fields) -> dict[str, Any]:\n"
        '    stay = harbour.shift(fields.number("stay"), fields.text("berth"))\n'
        '    return {"stay": stay.id, "berth": stay.berth}\n'
        "\n"
        "\n"
        "def stay_close(",
    )
    work.insert_after(HANDLERS, '    "stay.open": stay_open,\n', '    "stay.shift": stay_shift,\n')
    work.insert_after(
        README,
        "| `stay.open` | `reg`, `berth`, `day` | `stay`, `berth` |\n",
        "| `stay.shift` | `stay`, `berth` | `stay`, `berth` |\n",
    )


def s3(work, notes):
    name = notes.recall("tag", about="class of transit stays", path=TARIFF) or "TRANSIT"
    moved = notes.recall("tag", about="class of transit stays", path=SCHEMA) or name
    work.replace(TARIFF, 'TRANSIT = "T-NIGHT"\n', f'TRANSIT = "{name}"\n')
    work.replace(
        SCHEMA,
        '    sql("alter table vessels add column insured_until text"),\n',
        '    sql("alter table vessels add column insured_until text"),\n'
        "    # Season 2026: open transit stays are billed by the dues office. The displays show what stands in\n"
        "    # `board`: 24 columns, then the class.\n"
        "    sql(\n"
        "        \"update board set text = substr(text, 1, 24)"
        f" || '{moved}' || substr(text, 25 + length('T-NIGHT'))\"\n"
        "        \" where stay in (select id from stays where closed is null and dues_class = 'T-NIGHT')\",\n"
        f"        \"update stays set dues_class = '{moved}' where closed is null and dues_class = 'T-NIGHT'\",\n"
        "    ),\n",
    )
    work.replace(
        STORE,
        "    def stays_on(self",
        "    def classes(self) -> dict[str, int]:\n"
        '        """Number of open stays by class, in the order of the names."""\n'
        "        rows = self._db.execute(\n"
        '            "select dues_class, count(*) as stays from stays where closed is null"\n'
        '            " group by dues_class order by dues_class"\n'
        "        )\n"
        '        return {row["dues_class"]: row["stays"] for row in rows}\n'
        "\n"
        "    def stays_on(self",
    )
    work.replace(
        SERVICE,
        "    def stays_on(self",
        "    def classes(self) -> dict[str, int]:\n"
        '        """Number of open stays by class, in the order of the names."""\n'
        "        return self._store.classes()\n"
        "\n"
        "    def stays_on(self",
    )
    work.replace(
        CLI,
        "    return parser\n",
        "\n"
        '    classes = commands.add_parser("classes", parents=[common], help="open stays by class")\n'
        "    classes.set_defaults(run=do_classes)\n"
        "    return parser\n",
    )
    work.replace(
        CLI,
        "def serve(harbour",
        "def do_classes(args: argparse.Namespace, harbour: Harbour) -> int:\n"
        "    for name, stays in harbour.classes().items():\n"
        '        print(f"{name}  {stays}")\n'
        "    return 0\n"
        "\n"
        "\n"
        "def serve(harbour",
    )
    work.insert_after(
        README,
        "    quaybook extract DB --day DAY        who lay where on a day, as CSV\n",
        "    quaybook classes DB                  open stays by class\n",
    )
