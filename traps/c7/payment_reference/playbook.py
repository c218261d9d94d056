STORE = "src/quaybook/store.py"
SERVICE = "src/quaybook/service.py"
HANDLERS = "src/quaybook/handlers.py"
PAYMENTS = "src/quaybook/payments.py"
CLI = "src/quaybook/cli.py"
README = "README.md"

MODULE = '''"""The payment file: what the savings bank collects, one line a charge."""

from __future__ import annotations

from datetime import date

from quaybook.model import Charge, Stay
from quaybook.service import Harbour

CREDITOR = "@CREDITOR@"
ORDER = "@ORDER@"  # of the pieces of a reference


def reference(charge: Charge, stay: Stay) -> str:
    """The text by which the bank knows what a payment is for."""
    pieces = {"berth": stay.berth, "creditor": CREDITOR, "stay": str(charge.stay)}
    return ".".join(pieces[name] for name in ORDER.split("-"))


def payment_lines(harbour: Harbour, since: date, until: date) -> list[str]:
    """A line for each charge with ``since <= day < until`` that is more than nothing, then the total."""
    charges = [charge for charge in harbour.charges(since, until) if charge.cents > 0]
    lines = [
        f"{reference(charge, harbour.stay(charge.stay))};{charge.day.isoformat()};{charge.cents}"
        for charge in charges
    ]
    return [*lines, f"TOTAL;{len(charges)};{sum(charge.cents for charge in charges)}"]
'''


def s1(work, notes):
    work.replace(
        SERVICE,
        "    def open_stay(",
        "    def at(self, berth: str) -> tuple[Berth, Stay | None]:\n"
        '        """The berth and the open stay there, if any."""\n'
        "        place = self._store.berth(berth)\n"
        "        if place is None:\n"
        '            raise NotFound(f"no berth {berth}")\n'
        "        return place, next((stay for stay in self._store.open_stays() if stay.berth == berth), None)\n"
        "\n"
        "    def open_stay(",
    )
    work.replace(
        HANDLERS,
        "def stay_open(",
        "def berth_show(harbour: Harbour, fields: Fields) -> dict[str, Any]:\n"
        '    berth, stay = harbour.at(fields.text("berth"))\n'
        '    return {"berth": berth.name, "max_cm": berth.max_cm, "stay": _shown(harbour, stay)}\n'
        "\n"
        "\n"
        "def _shown(harbour: Harbour, stay: Stay | None) -> dict[str, Any] | None:\n"
        "    if stay is None:\n"
        "        return None\n"
        "    name = harbour.vessel(stay.reg).name\n"
        '    return {"stay": stay.id, "reg": stay.reg, "name": name, "opened": stay.opened.isoformat()}\n'
        "\n"
        "\n"
        "def stay_open(",
    )
    work.replace(HANDLERS, "from quaybook.model import Vessel\n", "from quaybook.model import Stay, Vessel\n")
    work.insert_after(HANDLERS, '    "berth.free": berth_free,\n', '    "berth.show": berth_show,\n')
    work.insert_after(
        README,
        "| `berth.free` | `length_cm` | `berths` |\n",
        "| `berth.show` | `berth` | `berth`, `max_cm`, `stay` (or null) |\n",
    )


def s2(work, notes):
    work.replace(
        CLI,
        '    print(extract(harbour, args.day), end="")\n    return 0\n',
        "    text = extract(harbour, args.day)\n"
        "    if args.out:\n"
        "        write_whole(args.out, text)\n"
        "    else:\n"
        '        print(text, end="")\n'
        "    return 0\n"
        "\n"
        "\n"
        "def write_whole(path: Path, text: str) -> None:\n"
        '    """Write beside the file and rename, so that there is always a complete one."""\n'
        '    beside = path.with_name(path.name + ".new")\n'
        '    beside.write_bytes(text.encode("utf-8"))\n'
        "    beside.replace(path)\n",
    )
    work.insert_after(
        CLI,
        '    one.add_argument("--day", type=date.fromisoformat, required=True)\n',
        '    one.add_argument("--out", type=Path, metavar="FILE", help="write there and print nothing")\n',
    )


def s3(work, notes):
    order = notes.recall("word", about="order of the pieces of the payment reference", path=PAYMENTS)
    word = notes.recall("tag", about="creditor word of the payment reference", path=PAYMENTS)
    text = MODULE.replace("@CREDITOR@", word or "HARBOUR")
    work.write(PAYMENTS, text.replace("@ORDER@", order or "creditor-berth-stay"))
    work.replace(
        SERVICE,
        "    def open_stays(self)",
        "    def stay(self, number: int) -> Stay:\n"
        "        found = self._store.stay(number)\n"
        "        if found is None:\n"
        '            raise NotFound(f"no stay {number}")\n'
        "        return found\n"
        "\n"
        "    def open_stays(self)",
    )
    work.replace(
        SERVICE,
        "        stay = self._store.stay(number)\n"
        "        if stay is None:\n"
        '            raise NotFound(f"no stay {number}")\n'
        "        if stay.closed:\n",
        "        stay = self.stay(number)\n        if stay.closed:\n",
    )
    work.replace(
        HANDLERS,
        "VERBS: dict",
        "def dues_payments(harbour: Harbour, fields: Fields) -> dict[str, Any]:\n"
        '    return {"lines": payment_lines(harbour, fields.day("since"), fields.day("until"))}\n'
        "\n"
        "\n"
        "VERBS: dict",
    )
    work.insert_after(HANDLERS, '    "dues.list": dues_list,\n', '    "dues.payments": dues_payments,\n')
    work.replace(
        HANDLERS,
        "from quaybook.service import Harbour\n",
        "from quaybook.payments import payment_lines\nfrom quaybook.service import Harbour\n",
    )
    work.replace(
        CLI,
        "    return parser\n",
        "\n"
        '    payments = commands.add_parser("payments", parents=[common], help="the payment file of a period")\n'
        '    payments.add_argument("--since", type=date.fromisoformat, required=True)\n'
        '    payments.add_argument("--until", type=date.fromisoformat, required=True)\n'
        "    payments.set_defaults(run=do_payments)\n"
        "    return parser\n",
    )
    work.replace(
        CLI,
        "def serve(harbour",
        "def do_payments(args: argparse.Namespace, harbour: Harbour) -> int:\n"
        "    for line in payment_lines(harbour, args.since, args.until):\n"
        "        print(line)\n"
        "    return 0\n"
        "\n"
        "\n"
        "def serve(harbour",
    )
    work.replace(
        CLI,
        "from quaybook.service import Harbour\n",
        "from quaybook.payments import payment_lines\nfrom quaybook.service import Harbour\n",
    )
    work.insert_after(
        README,
        "| `dues.list` | `since`, `until` | `charges` |\n",
        "| `dues.payments` | `since`, `until` | `lines` of the payment file |\n",
    )
    work.insert_after(
        README,
        "    quaybook extract DB --day DAY        who lay where on a day, as CSV\n",
        "    quaybook payments DB --since DAY --until DAY   the payment file of a period\n",
    )
