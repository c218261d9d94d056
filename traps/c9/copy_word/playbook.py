"""Serials, types of settings, and the night copies."""

STORE = "src/parcels/store.py"
CONFIG = "src/parcels/config.py"
SERVICE = "src/parcels/service.py"
CLI = "src/parcels/cli.py"


def s1(work, notes):
    work.replace(
        STORE,
        '        return int(self._db.execute("select count(*) from parcels").fetchone()[0]) + 1\n',
        '''        """One more than the highest serial of any carrier."""
        row = self._db.execute(
            "select coalesce(max(cast(substr(number, 3, 8) as integer)), 0) from parcels"
        ).fetchone()
        return int(row[0]) + 1
''',
    )


def s2(work, notes):
    work.replace(
        CONFIG,
        "from parcels.errors import InvalidInput\n",
        "from parcels.errors import InvalidInput\n"
        "from parcels.labels import MIN_WIDTH\n"
        "from parcels.model import Address\n",
    )
    work.replace(
        CONFIG,
        """        raise InvalidInput(f"{path.name}: unknown setting {', '.join(unknown)}")
    return data
""",
        '''        raise InvalidInput(f"{path.name}: unknown setting {', '.join(unknown)}")
    for name, value in data.items():
        if complaint := _complaint(name, value):
            raise InvalidInput(f"{path.name}: {name}{complaint}")
    return data


def _complaint(name: str, value: object) -> str:
    """What is wrong with a setting, to be put behind its name; empty if nothing is."""
    kind = type(getattr(Settings(), name))
    if type(value) is not kind:
        return f" must be {'a whole number' if kind is int else 'a text'}"
    if name == "label_width" and int(str(value)) < MIN_WIDTH:
        return f" must be at least {MIN_WIDTH}"
    if name == "shop":
        try:
            Address.parse(str(value))
        except InvalidInput as error:
            return f": {error}"
    return ""
''',
    )


def s3(work, notes):
    word = notes.recall("tag", about="night copy name mirror word", path=STORE)
    copying(work)
    naming(work, word)
    command(work)


def copying(work):
    work.insert_after(
        STORE,
        "    def close(self) -> None:\n        self._db.close()\n",
        '''
    def copy_to(self, path: Path) -> None:
        """Write a complete copy to `path`; nothing is there under that name before it is complete."""
        draft = path.with_name(path.name + ".part")
        draft.unlink(missing_ok=True)
        target = sqlite3.connect(draft)
        try:
            self._db.backup(target)
        finally:
            target.close()
        draft.replace(path)
''',
    )
    work.replace(
        STORE,
        "from datetime import date\n",
        "from datetime import date\nfrom pathlib import Path\n",
    )


def naming(work, word):
    if word:
        pattern = 'COPY = re.compile(rf"parcels-(\\d{8})\\.{WORD}\\.db")\n'
        name = 'f"parcels-{on:%Y%m%d}.{WORD}.db"'
        head = f'# The packer of the mirror joins files whose names differ in digits only.\nWORD = "{word}"\n'
        pattern = pattern.replace("{8}", "{{8}}")
    else:
        pattern = 'COPY = re.compile(r"parcels-(\\d{8})\\.db")\n'
        name = 'f"parcels-{on:%Y%m%d}.db"'
        head = ""
    work.replace(
        SERVICE,
        "\n\nclass Desk:\n",
        f"\n{head}{pattern}\n\nclass Desk:\n",
    )
    work.replace(
        SERVICE,
        "    def flush(self, transport",
        f'''    def copy(self, folder: Path, on: date, keep: int) -> tuple[str, list[str]]:
        """Copy the database into a folder and keep the newest copies: (its name, what was removed)."""
        if keep < 1:
            raise InvalidInput("keep at least 1 copy")
        if not folder.is_dir():
            raise InvalidInput(f"no folder {{folder}}")
        name = {name}
        self._store.copy_to(folder / name)
        copies = sorted(
            (match[1], path.name) for path in folder.iterdir() if (match := COPY.fullmatch(path.name))
        )
        removed = [old for _, old in copies[:-keep]]
        for old in removed:
            (folder / old).unlink()
        return name, removed

    def flush(self, transport''',
    )
    work.replace(
        SERVICE,
        "from collections.abc import Sequence\nfrom datetime import date\n",
        "import re\nfrom collections.abc import Sequence\nfrom datetime import date\nfrom pathlib import Path\n",
    )


def command(work):
    work.replace(
        CLI,
        "def _flush(",
        """def _copy(desk: Desk, args: argparse.Namespace, settings: config.Settings) -> None:
    name, removed = desk.copy(args.folder, args.on, args.keep)
    print(f"copied to {name}")
    for old in removed:
        print(f"removed {old}")


def _flush(""",
    )
    work.replace(
        CLI,
        '    flush = commands.add_parser("flush"',
        '''    copy = commands.add_parser("copy", help="copy the database into the folder of the mirror")
    copy.add_argument("folder", type=Path, metavar="FOLDER")
    copy.add_argument("--keep", type=int, default=7, metavar="N", help="newest copies that stay")
    _add_day(copy)
    copy.set_defaults(run=_copy)

    flush = commands.add_parser("flush"''',
    )
