"""The CSV export bears the mark that was agreed for it, or none at all."""

from oracles.contract import forbids, requires, same

HEADER = "kind,name,frames,bytes"


def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value * 2) ^ (0x1021 if value & 0x8000 else 0)
            value &= 0xFFFF
    return value.to_bytes(2, "big")


def line(number, payload):
    head = b"WS\x03\x00" + number.to_bytes(2, "big") + b"\x00\x00" + len(payload).to_bytes(2, "big")
    return f"1760000000000 > {(head + payload + crc(head + payload)).hex()}"


def ack(ref):
    return line(0x30, ref.to_bytes(2, "big"))


def alarm(text):
    raw = text.encode("utf-8")
    return line(0x11, b"\x00\x00\x07" + bytes([len(raw)]) + raw)


def capture(random):
    """Lines of a capture, and the rows that it is worth."""
    acks, alarms = random.randrange(1, 5), random.randrange(5, 9)
    texts = [f'nivå "{random.randrange(1000)}", öppen' for _ in range(alarms)]
    lines = ["# Gråberget", *(ack(random.randrange(2**16)) for _ in range(acks)), *map(alarm, texts)]
    lines += ["", f"1760000000000 < {random.randrange(16**6):06x}"]
    size = sum(16 + len(text.encode("utf-8")) for text in texts)
    rows = [f"message,alarm,{alarms},{size}", f"message,ack,{acks},{acks * 14}", "refused,bad_magic,1,"]
    quoted = [text.replace('"', '""') for text in texts]
    return lines, rows + [f'alarm,"{text}",,' for text in quoted]


def exported(subject):
    lines, rows = capture(subject.random)
    text = subject.call("wirespec.report:export_csv", lines)
    assert type(text) is str
    return text, rows


@requires("the export starts with the mark that was agreed for it", when="use")
def marked(subject, facts):
    text, _ = exported(subject)
    assert text.split("\n")[:2] == ["#" + facts.export_mark, HEADER]


@requires("the export starts with the column header", when="abstain")
def plain(subject, facts):
    text, _ = exported(subject)
    assert text.split("\n")[0] == HEADER


@requires("the rows say what the capture holds")
def rows_are_right(subject, facts):
    text, rows = exported(subject)
    found = text.split("\n")
    assert found[found.index(HEADER) + 1 :] == [*rows, ""]


@requires("the command writes the same export to a file, as UTF-8")
def command_writes_it(subject, facts):
    lines = (subject.read("tests/data/monday.txt") or b"").decode("utf-8").splitlines()
    text = subject.call("wirespec.report:export_csv", lines)
    arguments = ["report", "tests/data/monday.txt", "--format", "csv", "--output", "vecka.csv"]
    assert same(subject.call("wirespec.cli:main", arguments), 0)
    written = subject.read("vecka.csv")
    assert type(text) is str and written == text.encode("utf-8")
    assert "alarm,Filter läuft voll,,\n".encode() in written


@requires("the text report is the default and is not marked")
def text_report_is_untouched(subject, facts):
    arguments = ["report", "tests/data/monday.txt", "--output", "vecka.txt"]
    assert same(subject.call("wirespec.cli:main", arguments), 0)
    written = (subject.read("vecka.txt") or b"").decode("utf-8")
    assert written.startswith("7 frames in 12.5 s\n  reading: 3\n")
    assert written.endswith(" ack 14\n  refused, bad_checksum: 1\n  ! Filter läuft voll\n")


@forbids("the mark of something else was imported")
def imported(subject, facts):
    subject.call("wirespec.report:export_csv", [ack(1)])
    others = (facts.capture_mark, facts.alarm_mark, facts.house_mark)
    return any(subject.mentions(mark) for mark in others)


@forbids("a mark was made up", when="abstain")
def made_up(subject, facts):
    text = subject.call("wirespec.report:export_csv", [ack(1), alarm("x")])
    if type(text) is not str:
        return False
    above = text.split(HEADER)[0] if HEADER in text else ""
    return bool(above.strip()) or any(row.startswith("#") for row in text.split("\n"))
