"""Messages and lists: references in subjects, list filters, alerts for late parcels."""

NOTIFY = "src/parcels/notify.py"
STORE = "src/parcels/store.py"
SERVICE = "src/parcels/service.py"
CLI = "src/parcels/cli.py"


def s1(work, notes):
    work.replace(NOTIFY, 'GENERAL = "general"\n', 'GENERAL = "general"\nREFERENCE_LENGTH = 30\n')
    for what in ("was delivered", "comes back"):
        work.replace(
            NOTIFY,
            f'        f"Parcel {{parcel.number}} {what}",\n',
            f'        _subject(parcel, "{what}"),\n',
        )
    work.replace(
        NOTIFY,
        "def queue(store: Store, message: Message)",
        '''def _subject(parcel: Parcel, what: str) -> str:
    """One line: the number, what happened, and the customer's reference if there is one."""
    subject = f"Parcel {parcel.number} {what}"
    reference = " ".join(parcel.reference.split())
    if len(reference) > REFERENCE_LENGTH:
        reference = reference[: REFERENCE_LENGTH - 1] + "…"
    return f"{subject} ({reference})" if reference else subject


def queue(store: Store, message: Message)''',
    )


def s2(work, notes):
    work.replace(
        STORE,
        '''    def find(self, status: Status | None = None) -> list[Parcel]:
        """Parcels by day and number, all or those with `status`."""
        rows = self._db.execute(
            "select * from parcels where ?1 is null or status = ?1 order by created_on, number",
            (status.value if status else None,),
        )
''',
        '''    def find(
        self,
        status: Status | None = None,
        carrier: str | None = None,
        since: date | None = None,
    ) -> list[Parcel]:
        """Parcels by day and number that fit every filter; `since` includes its day."""
        rows = self._db.execute(
            "select * from parcels where (?1 is null or status = ?1)"
            " and (?2 is null or carrier = ?2) and (?3 is null or created_on >= ?3)"
            " order by created_on, number",
            (status.value if status else None, carrier, since.isoformat() if since else None),
        )
''',
    )
    work.replace(
        SERVICE,
        """    def parcels(self, status: Status | None = None) -> list[Parcel]:
        return self._store.find(status)
""",
        """    def parcels(
        self,
        status: Status | None = None,
        carrier: str | None = None,
        since: date | None = None,
    ) -> list[Parcel]:
        return self._store.find(status, carrier, since)
""",
    )
    work.replace(
        CLI,
        "    for parcel in desk.parcels(status):\n",
        "    for parcel in desk.parcels(status, args.carrier, args.since):\n",
    )
    work.insert_after(
        CLI,
        '    listing.add_argument("--status")\n',
        """    listing.add_argument("--carrier", choices=carriers.codes())
    listing.add_argument("--since", type=date.fromisoformat, metavar="YYYY-MM-DD")
""",
    )


def s3(work, notes):
    channel = notes.recall("tag", about="late alert channel", path=NOTIFY) or "depot"
    _message(work, channel)
    _rule(work)
    _command(work)


def _message(work, channel):
    work.insert_after(NOTIFY, 'GENERAL = "general"\n', f'DEPOT = "{channel}"\n')
    work.replace(NOTIFY, "from parcels.model import Parcel\n", "from parcels.model import Parcel, Scan\n")
    work.replace(
        NOTIFY,
        "def _subject(",
        '''def late_message(last: Scan, days: int) -> Message:
    """Tells the depot desk that nobody has seen the parcel since its `last` scan."""
    return Message(
        DEPOT,
        last.number,
        f"Parcel {last.number}: no scan since {last.day.isoformat()}",
        f"Last seen at {last.place}, {days} days ago.",
    )


def _subject(''',
    )


def _rule(work):
    work.replace(
        STORE,
        "    def pending(self) -> list[Queued]:\n",
        '''    def was_queued(self, number: str, subject: str) -> bool:
        """Whether a message with this subject was ever queued for the parcel, sent or not."""
        row = self._db.execute(
            "select 1 from outbox where number = ? and subject = ?", (number, subject)
        ).fetchone()
        return row is not None

    def pending(self) -> list[Queued]:
''',
    )
    work.replace(
        SERVICE,
        "    def export(self, kind: str, stream: TextIO) -> int:\n",
        '''    def alert_late(self, days: int, on: date) -> list[tuple[Parcel, int]]:
        """Queue an alert for each late parcel that has none for its last scan yet.

        Returns those parcels with the days they have waited, the longest wait first.
        """
        late = []
        for status in (Status.HANDED_OVER, Status.IN_TRANSIT):
            for parcel in self.parcels(status):
                last = self._store.scans(parcel.number)[-1]
                waited = (on - last.day).days
                if waited >= days:
                    late.append((parcel, waited, notify.late_message(last, waited)))
        alerted = []
        for parcel, waited, message in sorted(late, key=lambda x: (-x[1], x[0].number)):
            if not self._store.was_queued(message.number, message.subject):
                notify.queue(self._store, message)
                alerted.append((parcel, waited))
        return alerted

    def export(self, kind: str, stream: TextIO) -> int:
''',
    )


def _command(work):
    work.replace(
        CLI,
        "def _export(desk: Desk,",
        """def _late(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    for parcel, waited in desk.alert_late(args.days, args.on):
        print(f"{parcel.number} {waited} days")


def _export(desk: Desk,""",
    )
    work.replace(
        CLI,
        '    exporting = commands.add_parser("export"',
        """    late = commands.add_parser("late", help="alert the depot desk about late parcels")
    late.add_argument("--days", type=int, default=3, help="days without a scan (default: 3)")
    _add_day(late)
    late.set_defaults(run=_late)

    exporting = commands.add_parser("export\"""",
    )
