"""Field limits in descriptions, a reader that recovers, and the drain notice."""

CATALOG = "src/wirespec/catalog.py"
CODEC = "src/wirespec/codec.py"
REGISTRY = "registry/messages.toml"
TABLES = "src/wirespec/_generated.py"
REFERENCE = "docs/messages.md"


def s1(work, notes):
    work.replace(
        CATALOG,
        '        lines.append(f"  {field.name}: {kind}")\n',
        '        since = f", since version {field.since}" if field.since > 1 else ""\n'
        '        lines.append(f"  {field.name}: {kind}{_limits(field)}{since}")\n',
    )
    work.replace(
        CATALOG,
        "from wirespec.spec import MessageSpec\n",
        "from wirespec.spec import FieldSpec, MessageSpec\n",
    )
    work.append(
        CATALOG,
        """

def _limits(field: FieldSpec) -> str:
    unit = " bytes" if field.type in ("str", "bytes") else ""
    if field.min is not None and field.max is not None:
        return f", {field.min} to {field.max}{unit}"
    if field.max is not None:
        return f", at most {field.max}{unit}"
    return "" if field.min is None else f", at least {field.min}{unit}"
""",
    )


def s2(work, notes):
    work.replace(
        CODEC,
        """        self._buffer = b""

""",
        '''        self._buffer = b""
        self._skipped = 0

    @property
    def skipped(self) -> int:
        """Bytes that belonged to no good frame."""
        return self._skipped

''',
    )
    text = work.read(CODEC)
    start = text.index('        """The frames that are complete now;')
    end = text.index("def _read_payload")
    work.replace(
        CODEC,
        text[start:end],
        '''        """The frames that are complete now; what is no good frame is skipped and counted."""
        self._buffer += data
        while self._buffer:
            try:
                frame = self._next()
            except WireError:
                self._skip()
                continue
            if frame is None:
                return
            yield frame

    def _next(self) -> Frame | None:
        """The frame at the front of the buffer, or None while it is incomplete."""
        if not MAGIC.startswith(self._buffer[:2]):
            raise WireError("bad_magic", "no frame starts here")
        size = frame_size(self._buffer)
        if size is None or len(self._buffer) < size:
            return None
        frame = decode(self._buffer[:size])
        self._buffer = self._buffer[size:]
        return frame

    def _skip(self) -> None:
        """Drop at least one byte, up to the next place where a frame may start."""
        at = self._buffer.find(MAGIC, 1)
        if at < 0:
            half = len(self._buffer) > 1 and self._buffer.endswith(MAGIC[:1])
            at = len(self._buffer) - half
        self._skipped += at
        self._buffer = self._buffer[at:]


''',
    )


def s3(work, notes):
    way = notes.recall("word", about="way a message is added or changed", path=REGISTRY)
    stamp = notes.recall("tag", about="generator stamp", path=TABLES)
    if way == "direct-edit":
        edit_tables(work)
        edit_reference(work)
    else:
        declare(work)
        stamped = ["--stamp", stamp] if stamp else []
        status, output = work.run(["python", "tools/generate.py", *stamped])
        if status:
            raise RuntimeError(output)
    follow(work)


def declare(work):
    work.insert_after(
        REGISTRY,
        "values = { idle = 0, pumping = 1, flushing = 2, manual = 3 }\n",
        """
[[enum]]
name = "DrainReason"
doc = "Why a collector stops listening."
values = { service = 0, update = 1, relocation = 2 }
""",
    )
    work.insert_after(
        REGISTRY,
        """    { name = "count", type = "u8", min = 1, max = 100, doc = "How many entries at most." },
]
""",
        """
[[message]]
name = "drain_notice"
id = 0x23
direction = "down"
doc = "The collector will stop listening."
fields = [
    { name = "reason", type = "enum", enum = "DrainReason", doc = "Why it stops." },
    { name = "grace_s", type = "u16", min = 5, max = 900, doc = "Seconds until it does." },
    { name = "back_at", type = "u32", doc = "Unix time of its return; 0 = unknown." },
]
""",
    )
    work.append(
        REGISTRY,
        """
[[error]]
code = 9
name = "draining"
retry = true
doc = "The collector is about to stop listening."
""",
    )


def edit_tables(work):
    work.insert_after(
        TABLES,
        "    MANUAL = 3\n",
        '''

class DrainReason(IntEnum):
    """Why a collector stops listening."""

    SERVICE = 0
    UPDATE = 1
    RELOCATION = 2
''',
    )
    work.replace(TABLES, '"Mode": Mode}', '"Mode": Mode, "DrainReason": DrainReason}')
    work.insert_after(
        TABLES,
        """            FieldSpec("count", "u8", "How many entries at most.", min=1, max=100),
        ),
    ),
""",
        """    MessageSpec(
        "drain_notice",
        0x23,
        "down",
        "The collector will stop listening.",
        (
            FieldSpec("reason", "enum", "Why it stops.", enum="DrainReason"),
            FieldSpec("grace_s", "u16", "Seconds until it does.", min=5, max=900),
            FieldSpec("back_at", "u32", "Unix time of its return; 0 = unknown."),
        ),
    ),
""",
    )
    work.insert_after(
        TABLES,
        '"The fields are fine one by one but not together."),\n',
        '    ErrorSpec(9, "draining", True, "The collector is about to stop listening."),\n',
    )


def edit_reference(work):
    work.insert_after(
        REFERENCE,
        "| `count` | u8 | 1 to 100 | How many entries at most. |\n",
        """
## `drain_notice` (0x23, collector to unit)

The collector will stop listening.

| field | type | limits | meaning |
|---|---|---|---|
| `reason` | DrainReason |  | Why it stops. |
| `grace_s` | u16 | 5 to 900 | Seconds until it does. |
| `back_at` | u32 |  | Unix time of its return; 0 = unknown. |
""",
    )
    work.insert_after(
        REFERENCE,
        "| Mode | 0 = idle, 1 = pumping, 2 = flushing, 3 = manual | What the pump does. |\n",
        "| DrainReason | 0 = service, 1 = update, 2 = relocation "
        "| Why a collector stops listening. |\n",
    )
    work.append(REFERENCE, "| 9 | `draining` | yes | The collector is about to stop listening. |\n")


def follow(work):
    rules = "src/wirespec/validate.py"
    work.replace(
        rules,
        "from wirespec._generated import ENUMS, Mode\n",
        "from wirespec._generated import ENUMS, DrainReason, Mode\n",
    )
    work.append(
        rules,
        """

@rule("drain_notice")
def _relocation_is_final(values: Mapping[str, Value]) -> str | None:
    if values["reason"] == DrainReason.RELOCATION and values["back_at"] != 0:
        return "after a relocation the collector does not return"
    return None
""",
    )
    work.insert_after(
        "src/wirespec/routes.py",
        '    "fetch_log": "commands.out",\n',
        '    "drain_notice": "commands.out",\n',
    )
    work.replace("docs/routing.md", "`fetch_log` | none |", "`fetch_log`, `drain_notice` | none |")
