ERRORS = "src/quaybook/errors.py"
MODEL = "src/quaybook/model.py"
STORE = "src/quaybook/store.py"
SERVICE = "src/quaybook/service.py"
HANDLERS = "src/quaybook/handlers.py"
WIRE = "src/quaybook/wire.py"
CLI = "src/quaybook/cli.py"
README = "README.md"


def s1(work, notes):
    work.replace(
        WIRE,
        "        return date.fromisoformat(self.text(name))\n",
        "        text = self.text(name)\n"
        "        try:\n"
        "            return day_of(text)\n"
        "        except ValueError:\n"
        '            raise BadRequest(f"{name}: {text} is no day (YYYY-MM-DD)") from None\n',
    )
    work.replace(
        WIRE,
        "class Fields:\n",
        "def day_of(text: str) -> date:\n"
        '    """A day as YYYY-MM-DD and in no other form. Raises ValueError."""\n'
        "    day = date.fromisoformat(text)\n"
        "    if day.isoformat() != text:\n"
        '        raise ValueError(f"{text!r} is no day")\n'
        "    return day\n"
        "\n"
        "\n"
        "class Fields:\n",
    )
    work.replace(CLI, '"--day", type=date.fromisoformat, ', '"--day", type=day_of, ')
    work.replace(CLI, "from datetime import date\n", "")
    work.replace(
        CLI,
        "from quaybook.wire import Request, decode, encode\n",
        "from quaybook.wire import Request, day_of, decode, encode\n",
    )


def s2(work, notes):
    work.replace(
        STORE,
        "    # stays\n",
        "    def vessels(self) -> list[Vessel]:\n"
        '        return [_vessel(row) for row in self._db.execute("select * from vessels")]\n'
        "\n"
        "    # stays\n",
    )
    work.replace(
        SERVICE,
        "    def free_berths(",
        "    def find(self, text: str) -> list[Vessel]:\n"
        '        """Vessels with `text` in name or registration, whatever its case; by name, at most FOUND."""\n'
        "        wanted = text.casefold()\n"
        "        found = [\n"
        "            vessel\n"
        "            for vessel in self._store.vessels()\n"
        "            if wanted in vessel.name.casefold() or wanted in vessel.reg.casefold()\n"
        "        ]\n"
        "        return sorted(found, key=lambda vessel: (vessel.name, vessel.reg))[:FOUND]\n"
        "\n"
        "    def free_berths(",
    )
    work.insert_after(SERVICE, "LONGEST_CM = 4000\n", "FOUND = 20\n")
    work.replace(
        HANDLERS,
        "def berth_free(",
        "def vessel_find(harbour: Harbour, fields: Fields) -> dict[str, Any]:\n"
        '    found = harbour.find(fields.text("text"))\n'
        '    return {"vessels": [{"reg": vessel.reg, "name": vessel.name} for vessel in found]}\n'
        "\n"
        "\n"
        "def berth_free(",
    )
    work.insert_after(HANDLERS, '    "vessel.show": vessel_show,\n', '    "vessel.find": vessel_find,\n')
    work.insert_after(
        README,
        "| `vessel.show` | `reg` | the vessel |\n",
        "| `vessel.find` | `text` | `vessels`, at most 20, with `reg` and `name` |\n",
    )


def s3(work, notes):
    code = notes.recall("tag", about="response code arrivals vessels insurance lapsed", path=ERRORS)
    work.append(
        ERRORS,
        "\n\n"
        "class InsuranceLapsed(Conflict):\n"
        '    """The vessel wants to arrive and its insurance has run out; terminals have a page for it."""\n'
        "\n"
        f'    code = "{code or "insurance-lapsed"}"\n',
    )
    work.insert_after(
        MODEL,
        "    insured_until: date | None = None\n",
        "\n"
        "    def lapsed_on(self, day: date) -> bool:\n"
        '        """Whether the insurance had run out before `day`; without a date it is not known to have."""\n'
        "        return self.insured_until is not None and self.insured_until < day\n",
    )
    work.replace(
        SERVICE,
        '                raise Conflict(f"{vessel.name} lies at berth {stay.berth}")\n'
        "        with self._store.transaction():\n",
        '                raise Conflict(f"{vessel.name} lies at berth {stay.berth}")\n'
        "        if vessel.lapsed_on(day):\n"
        '            raise InsuranceLapsed(f"{vessel.name} was insured until {vessel.insured_until}")\n'
        "        with self._store.transaction():\n",
    )
    work.replace(
        SERVICE,
        "from quaybook.errors import BadRequest, Conflict, NotFound\n",
        "from quaybook.errors import BadRequest, Conflict, InsuranceLapsed, NotFound\n",
    )
    work.replace(
        SERVICE,
        "    def stays_on(self",
        "    def lapsed(self, day: date) -> list[tuple[Stay, Vessel]]:\n"
        '        """Open stays whose vessel is not insured any more on `day`, by number."""\n'
        "        pairs = [(stay, self.vessel(stay.reg)) for stay in self._store.open_stays()]\n"
        "        return [(stay, vessel) for stay, vessel in pairs if vessel.lapsed_on(day)]\n"
        "\n"
        "    def stays_on(self",
    )
    work.replace(
        HANDLERS,
        "def berth_free(",
        "def vessel_lapsed(harbour: Harbour, fields: Fields) -> dict[str, Any]:\n"
        "    return {\n"
        '        "vessels": [\n'
        '            {"reg": stay.reg, "berth": stay.berth, "insured_until": str(vessel.insured_until)}\n'
        '            for stay, vessel in harbour.lapsed(fields.day("day"))\n'
        "        ]\n"
        "    }\n"
        "\n"
        "\n"
        "def berth_free(",
    )
    work.insert_after(HANDLERS, '    "vessel.find": vessel_find,\n', '    "vessel.lapsed": vessel_lapsed,\n')
    work.insert_after(
        README,
        "| `vessel.find` | `text` | `vessels`, at most 20, with `reg` and `name` |\n",
        "| `vessel.lapsed` | `day` | `vessels` that lie here without insurance |\n",
    )
