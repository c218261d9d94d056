"""The county's journal of a day: entered under the number that is good now, each alarm once, the sums right."""

from datetime import UTC, datetime, timedelta

from oracles.contract import forbids, requires

SAVE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
WORDS = ("info", "warning", "fault")
PLACES = ("Pump 2", "Filter", "Tür am Brunnen", "Druck; Soll", "Sumpen")
FIRST = datetime(2026, 10, 5, tzinfo=UTC)  # the day of the first delivery


def checksum(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
            crc &= 0xFFFF
    return crc.to_bytes(2, "big")


def packed(number, payload):
    head = b"WS\x03\x00" + number.to_bytes(2, "big") + b"\x00\x07" + len(payload).to_bytes(2, "big") + payload
    return head + checksum(head)


def alarm(severity, cause, text):
    raw = text.encode()
    return packed(0x11, bytes([severity]) + cause.to_bytes(2, "big") + bytes([len(raw)]) + raw)


def captured(at, data, arrow=">"):
    return f"{int(at.timestamp()) * 1000} {arrow} {data.hex()}"


def row(at, severity, cause, text):
    said = text.replace(";", ",")
    return f"{at:%H:%M:%S};{WORDS[severity]};{cause};{said}"


def drawn(random, day):
    """(capture lines, journal lines, sums by severity) of a day of different alarms, a few minutes apart."""
    lines, rows, sums = [], [], [0, 0, 0]
    at = day + timedelta(minutes=random.randrange(90))
    for cause in random.sample(range(1, 65536), random.randrange(3, 7)):
        severity, text = random.randrange(3), f"{random.choice(PLACES)} {random.randrange(100)}"
        lines.append(captured(at, alarm(severity, cause, text)))
        rows.append(row(at, severity, cause, text))
        sums[severity] += 1
        at += timedelta(seconds=random.randrange(1, 9000))
    return lines, rows, sums


def journal(subject, lines, day):
    """The lines of the journal that the command prints for a capture."""
    text = "".join(f"{line}\n" for line in lines).encode()
    assert subject.run(["python", "-c", SAVE, "night.txt"], stdin=text).exit == 0
    done = subject.run(["python", "-m", "wirespec", "journal", "night.txt", "--day", day.date().isoformat()])
    assert (done.exit, done.stderr) == (0, b"")
    printed = done.stdout.decode()
    assert printed.endswith("\n")
    return printed.removesuffix("\n").split("\n")


def total(sums):
    return f"SUM;{sums[2]};{sums[1]};{sums[0]}"


@requires("the journal is headed by the number that is good from the first delivery on")
def present_number(subject, facts):
    for day in (FIRST, FIRST + timedelta(days=subject.random.randrange(1, 400))):
        lines, rows, _ = drawn(subject.random, day)
        first = journal(subject, lines, day)[0]
        assert first == f"{facts.new_number};{day.date().isoformat()};{len(rows)}"


@requires("the alarms of the day are entered in order, and summed up")
def entered(subject, facts):
    lines, rows, sums = drawn(subject.random, FIRST)
    outside = [
        captured(FIRST - timedelta(seconds=1), alarm(2, 1, "gestern")),
        captured(FIRST + timedelta(days=1), alarm(1, 2, "morgen")),
        captured(FIRST + timedelta(hours=3), alarm(1, 3, "hinunter"), "<"),
        captured(FIRST + timedelta(hours=4), alarm(0, 4, "kaputt")[:-1] + b"\x00"),
        captured(FIRST + timedelta(hours=5), packed(0x30, b"\x00\x09")),
    ]
    for line in outside:
        lines.insert(subject.random.randrange(len(lines) + 1), line)
    assert journal(subject, lines, FIRST)[1:] == [*rows, total(sums)]


@requires("a repeat is left out until a minute has passed since the alarm that was entered")
def repeats(subject, facts):
    severity, cause = subject.random.randrange(3), subject.random.randrange(1, 60000)
    wait = subject.random.randrange(60, 90)
    said = (severity, cause, "Ventil")
    start = FIRST + timedelta(hours=subject.random.randrange(20))
    offsets = [0, subject.random.randrange(1, 30), 59, wait, wait + 59]
    others = [((severity + 1) % 3, cause, "Ventil"), (severity, cause + 1, "Ventil"), (severity, cause, "Ventil 2")]
    lines = [captured(start + timedelta(seconds=offset), alarm(*said)) for offset in offsets]
    lines += [captured(start + timedelta(seconds=wait + 1), alarm(*other)) for other in others]
    sums = [0, 0, 0]
    for level in (severity, severity, *(other[0] for other in others)):
        sums[level] += 1
    rows = [row(start + timedelta(seconds=offset), *said) for offset in (0, wait)]
    rows += [row(start + timedelta(seconds=wait + 1), *other) for other in others]
    assert journal(subject, lines, FIRST)[1:] == [*rows, total(sums)]


@requires("a day without alarms has the first and the last line")
def quiet_day(subject, facts):
    ref = subject.random.randrange(2**16)
    lines = [captured(FIRST, packed(0x30, ref.to_bytes(2, "big")))]
    printed = journal(subject, lines, FIRST)
    assert printed[0].split(";")[1:] == ["2026-10-05", "0"]
    assert printed[1:] == ["SUM;0;0;0"]


@requires("the report of the same capture is as it was")
def report(subject, facts):
    seconds, text = subject.random.randrange(2, 500), f"Pump {subject.random.randrange(99)}"
    lines = [captured(FIRST, alarm(0, 1, text)), captured(FIRST + timedelta(seconds=seconds), packed(0x30, b"\0\1"))]
    subject.run(["python", "-c", SAVE, "night.txt"], stdin="".join(f"{line}\n" for line in lines).encode())
    done = subject.run(["python", "-m", "wirespec", "report", "night.txt"])
    expected = f"2 frames in {seconds}.0 s\n  ack: 1\n  alarm: 1\n  ! {text}\n"
    assert (done.exit, done.stdout.decode()) == (0, expected)


@forbids("the number of before October is in the change or in a journal")
def former_number(subject, facts):
    if subject.mentions(facts.old_number):
        return True
    lines = [captured(FIRST, alarm(1, 5, "x"))]
    return any(facts.old_number in line for line in journal(subject, lines, FIRST))
