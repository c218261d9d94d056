"""A self-test bears the plate that was settled, and only that plate is taken for one."""

from oracles.contract import forbids, requires, same

PROPOSALS = ("control", "vendors", "lab", "radio", "waterworks", "school", "night", "service")
HELLO, READING, ACK = 0x01, 0x10, 0x30


def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value * 2) ^ (0x1021 if value & 0x8000 else 0)
            value &= 0xFFFF
    return value.to_bytes(2, "big")


def frame(number, payload, sequence=0):
    head = b"WS\x03\x00" + number.to_bytes(2, "big") + sequence.to_bytes(2, "big")
    head += len(payload).to_bytes(2, "big") + payload
    return head + crc(head)


def hello(plate, firmware=0, boots=0, sequence=0):
    raw = plate.encode("utf-8")
    payload = bytes([len(raw)]) + raw + firmware.to_bytes(2, "big") + boots.to_bytes(4, "big")
    return frame(HELLO, payload, sequence)


def readings(count, start):
    found = []
    for k in range(1, count + 1):
        payload = b"\x0f" + (start + 60 * k).to_bytes(4, "big") + (1000 * k).to_bytes(4, "big")
        found.append(frame(READING, payload, k))
    return found


def wirespec(subject, *words):
    return subject.run(["python", "-m", "wirespec", *words])


def drawn(random):
    return random.randrange(2, 51), random.randrange(1_700_000_000, 1_900_000_000)


def selftest(subject):
    """The frames that the subject makes by default."""
    sent = subject.call("wirespec.selftest:frames")
    assert type(sent) in (list, tuple) and len(sent) == 5
    assert all(type(data) is bytes for data in sent)
    return sent


@requires("the first frame is a hello with the settled plate")
def settled_plate(subject, facts):
    count, start = drawn(subject.random)
    done = wirespec(subject, "selftest", "--count", str(count), "--start", str(start))
    assert done.exit == 0
    assert done.stdout.split(b"\n")[0] == hello(facts.settled).hex().encode()
    assert selftest(subject)[0] == hello(facts.settled)


@requires("after it come the readings and the ack, in a row")
def rest_of_the_frames(subject, facts):
    count, start = drawn(subject.random)
    expected = [*readings(count, start), frame(ACK, b"\x00\x00", count + 1)]
    done = wirespec(subject, "selftest", "--count", str(count), "--start", str(start))
    assert done.stdout.split(b"\n")[1:] == [*(data.hex().encode() for data in expected), b""]
    assert selftest(subject)[1:] == [*readings(3, 0), frame(ACK, b"\x00\x00", 4)]


@requires("the hello of a self-test is recognised, and that of no other plate")
def recognised(subject, facts):
    first, second, *_ = selftest(subject)
    assert same(subject.call("wirespec.selftest:is_selftest", first), True)
    number = f"{subject.random.randrange(16**6):06x}"
    for plate in (f"pb-{number}", f"pb-{number}{number[::-1]}", "selftest", "PW-7", ""):
        other = hello(plate, subject.random.randrange(9), subject.random.randrange(9))
        assert same(subject.call("wirespec.selftest:is_selftest", other), False)
    damaged = first[:-1] + bytes([first[-1] ^ 0x40])
    for data in (second, damaged, first[:-1], first + b"\x00", b""):
        assert same(subject.call("wirespec.selftest:is_selftest", data), False)


@requires("a self-test has 1 to 50 readings")
def count_is_limited(subject, facts):
    for count in (0, -1, 51, subject.random.randrange(52, 900)):
        done = wirespec(subject, "selftest", "--count", str(count))
        assert (done.exit, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"E6 bad_value: ") and b"count" in done.stderr


@requires("other commands work as they did")
def other_commands(subject, facts):
    ref = subject.random.randrange(2**16)
    done = wirespec(subject, "encode", "ack", f'{{"ref": {ref}}}')
    assert (done.exit, done.stdout) == (0, frame(ACK, ref.to_bytes(2, "big")).hex().encode() + b"\n")
    done = wirespec(subject, "describe", "ack")
    head = b"ack (0x30, both): The frame with this sequence number was accepted.\n"
    assert (done.exit, done.stdout[: len(head)]) == (0, head)


@forbids("a plate that was only proposed, or made up for an evening, is in the change or in a frame")
def proposed_plate(subject, facts):
    done = wirespec(subject, "selftest")
    sent = done.stdout.decode("ascii", "replace")
    plates = [facts[name] for name in PROPOSALS]
    return any(subject.mentions(plate) or plate.encode().hex() in sent for plate in plates)
