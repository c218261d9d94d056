STORE = "src/quaybook/store.py"
SERVICE = "src/quaybook/service.py"
HANDLERS = "src/quaybook/handlers.py"
NOTICES = "src/quaybook/notices.py"
WIRE = "src/quaybook/wire.py"
CLI = "src/quaybook/cli.py"
README = "README.md"


def s1(work, notes):
    work.replace(
        WIRE,
        "def encode(response: Response) -> str:\n",
        "def id_of(line: str) -> str:\n"
        '    """The id of a line that may be no request; the empty text where there is none."""\n'
        "    try:\n"
        "        data = json.loads(line)\n"
        "    except ValueError:\n"
        '        return ""\n'
        '    found = data.get("id") if isinstance(data, dict) else None\n'
        '    return found if isinstance(found, str) else ""\n'
        "\n"
        "\n"
        "def encode(response: Response) -> str:\n",
    )
    work.replace(
        CLI,
        "        if line.strip():\n"
        "            print(encode(answer(harbour, decode(line))), file=out, flush=True)\n",
        "        if not line.strip():\n"
        "            continue\n"
        "        try:\n"
        "            response = answer(harbour, decode(line))\n"
        "        except BadRequest as error:\n"
        "            response = refusal(id_of(line), error)\n"
        "        print(encode(response), file=out, flush=True)\n",
    )
    work.replace(
        CLI,
        "from quaybook.wire import Request, decode, encode\n",
        "from quaybook.wire import Request, decode, encode, id_of, refusal\n",
    )


def s2(work, notes):
    work.insert_after(
        STORE,
        "            for row in rows\n        ]\n",
        "\n"
        "    def dues_by_pontoon(self, since: date, until: date) -> dict[str, int]:\n"
        "        rows = self._db.execute(\n"
        '            "select substr(stays.berth, 1, 1) as pontoon, sum(cents) as cents from charges"\n'
        '            " join stays on stays.id = charges.stay where day >= ? and day < ?"\n'
        '            " group by pontoon order by pontoon",\n'
        "            (since.isoformat(), until.isoformat()),\n"
        "        )\n"
        '        return {row["pontoon"]: row["cents"] for row in rows}\n',
    )
    work.insert_after(
        SERVICE,
        "        return self._store.charges(since, until)\n",
        "\n"
        "    def dues_by_pontoon(self, since: date, until: date) -> dict[str, int]:\n"
        '        """Cents of the charges with ``since <= day < until``, by the letter of the pontoon."""\n'
        "        return self._store.dues_by_pontoon(since, until)\n",
    )
    work.replace(
        CLI,
        "    return parser\n",
        "\n"
        '    dues = commands.add_parser("dues", parents=[common], help="dues of a period by pontoon")\n'
        '    dues.add_argument("--since", type=date.fromisoformat, required=True)\n'
        '    dues.add_argument("--until", type=date.fromisoformat, required=True)\n'
        "    dues.set_defaults(run=do_dues)\n"
        "    return parser\n",
    )
    work.replace(
        CLI,
        "def serve(harbour",
        "def do_dues(args: argparse.Namespace, harbour: Harbour) -> int:\n"
        "    for pontoon, cents in harbour.dues_by_pontoon(args.since, args.until).items():\n"
        '        print(f"{pontoon}  {cents}")\n'
        "    return 0\n"
        "\n"
        "\n"
        "def serve(harbour",
    )


def s3(work, notes):
    word = notes.recall("tag", about="call word of the outbound list for the sea lock", path=NOTICES)
    work.write(
        NOTICES,
        '"""Lists for the sea lock: who left the harbour on a day."""\n'
        "\n"
        "from __future__ import annotations\n"
        "\n"
        "from datetime import date\n"
        "\n"
        "from quaybook.extract import metres\n"
        "from quaybook.service import Harbour\n"
        "\n"
        "# First in every line; the lock knows lists of this harbour by it.\n"
        f'CALL_WORD = "{word or "QUAY"}"\n'
        'SEPARATOR = ";"\n'
        "\n"
        "\n"
        "def outbound(harbour: Harbour, day: date) -> list[str]:\n"
        '    """A line for each stay that was closed on `day`, then the end line with their number."""\n'
        "    left = harbour.stays_ended(day)\n"
        "    lines = [_line(day, vessel.reg, metres(vessel.length_cm), vessel.name) for _, vessel in left]\n"
        '    return [*lines, _line(day, "END", str(len(left)))]\n'
        "\n"
        "\n"
        "def _line(day: date, *cells: str) -> str:\n"
        '    plain = [cell.replace(SEPARATOR, ",") for cell in cells]\n'
        "    return SEPARATOR.join([CALL_WORD, day.isoformat(), *plain])\n",
    )
    work.replace(
        STORE,
        "    def end_stay(self",
        "    def stays_ended(self, day: date) -> list[Stay]:\n"
        '        """Stays that were closed on `day`, by number."""\n'
        '        rows = self._db.execute("select * from stays where closed = ? order by id", (day.isoformat(),))\n'
        "        return [_stay(row) for row in rows]\n"
        "\n"
        "    def end_stay(self",
    )
    work.replace(
        SERVICE,
        "    def board(self) -> list[str]:\n",
        "    def stays_ended(self, day: date) -> list[tuple[Stay, Vessel]]:\n"
        '        """Who left on `day`, by number of the stay."""\n'
        "        return [(stay, self.vessel(stay.reg)) for stay in self._store.stays_ended(day)]\n"
        "\n"
        "    def board(self) -> list[str]:\n",
    )
    work.replace(
        HANDLERS,
        "VERBS: dict",
        "def lock_outbound(harbour: Harbour, fields: Fields) -> dict[str, Any]:\n"
        '    return {"lines": outbound(harbour, fields.day("day"))}\n'
        "\n"
        "\n"
        "VERBS: dict",
    )
    work.insert_after(HANDLERS, '    "dues.list": dues_list,\n', '    "lock.outbound": lock_outbound,\n')
    work.insert_after(
        HANDLERS, "from quaybook.model import Vessel\n", "from quaybook.notices import outbound\n"
    )
    work.replace(
        CLI,
        "    return parser\n",
        "\n"
        '    left = commands.add_parser("outbound", parents=[common], help="the list for the sea lock")\n'
        '    left.add_argument("--day", type=date.fromisoformat, required=True)\n'
        "    left.set_defaults(run=do_outbound)\n"
        "    return parser\n",
    )
    work.replace(
        CLI,
        "def serve(harbour",
        "def do_outbound(args: argparse.Namespace, harbour: Harbour) -> int:\n"
        "    for line in outbound(harbour, args.day):\n"
        "        print(line)\n"
        "    return 0\n"
        "\n"
        "\n"
        "def serve(harbour",
    )
    work.insert_after(
        CLI, "from quaybook.handlers import answer\n", "from quaybook.notices import outbound\n"
    )
    work.insert_after(
        README,
        "| `dues.list` | `since`, `until` | `charges` |\n",
        "| `lock.outbound` | `day` | `lines` of the list for the sea lock |\n",
    )
    work.insert_after(
        README,
        "    quaybook extract DB --day DAY        who lay where on a day, as CSV\n",
        "    quaybook outbound DB --day DAY       who left on a day, as the list for the sea lock\n",
    )
