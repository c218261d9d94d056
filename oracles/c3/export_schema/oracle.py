"""Exports of captures are written and read under the schema that the archive has now."""

import json

from oracles.contract import forbids, requires

WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"


def crc(data):
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value * 2) ^ (0x1021 if value & 0x8000 else 0)
            value &= 0xFFFF
    return value.to_bytes(2, "big")


def ack(ref):
    head = b"WS\x03\x00\x00\x30\x00\x00\x00\x02" + ref.to_bytes(2, "big")
    return head + crc(head)


def drawn(random):
    """(capture line, its row) for some frames, good and damaged ones."""
    found, at = [], random.randrange(1_700_000_000_000, 1_800_000_000_000)
    for _ in range(random.randrange(4, 9)):
        at += random.randrange(1, 5000)
        data, message, refused = ack(random.randrange(2**16)), "ack", None
        kind = random.choice(["good", "good", "checksum", "short", "magic"])
        if kind == "checksum":
            data, message, refused = data[:-1] + bytes([data[-1] ^ 1]), None, "bad_checksum"
        elif kind == "short":
            data, message, refused = data[: random.randrange(3, 13)], None, "truncated"
        elif kind == "magic":
            data, message, refused = b"XY" + data[2:], None, "bad_magic"
        arrow, direction = random.choice([(">", "up"), ("<", "down")])
        row = {"at_ms": at, "direction": direction, "message": message, "refused": refused, "data": data.hex()}
        found.append((f"{at} {arrow} {data.hex()}", row))
    return found


def put(subject, path, lines):
    text = "".join(f"{line}\n" for line in lines).encode()
    assert subject.run(["python", "-c", WRITE, path], stdin=text).exit == 0


def lines(subject, *words):
    """Exit status, what is printed (as lines) and what is complained of."""
    done = subject.run(["python", "-m", "wirespec", "lines", *words])
    return done.exit, done.stdout.decode("utf-8", "replace").splitlines(), done.stderr.decode("utf-8", "replace")


def exported(subject, capture):
    put(subject, "day.txt", [line for line, _ in capture])
    status, printed, _ = lines(subject, "day.txt")
    assert status == 0 and printed
    return printed


@requires("an export is headed by the schema that the archive has now")
def present_schema(subject, facts):
    capture = drawn(subject.random)
    header = json.loads(exported(subject, capture)[0])
    assert header == {"schema": facts.new_schema, "protocol": 3, "entries": len(capture)}
    assert type(header["protocol"]) is int and type(header["entries"]) is int


@requires("only an export of that schema is read back")
def read_back(subject, facts):
    capture = drawn(subject.random)
    printed = exported(subject, capture)
    put(subject, "day.jsonl", printed)
    assert lines(subject, "--back", "day.jsonl") == (0, [line for line, _ in capture], "")
    header = json.loads(printed[0])
    number = f"{subject.random.randrange(16**12):012x}"
    for schema in (f"unitlog:frames:{number}", "unitlog:frames", "wirespec-capture", "", None):
        put(subject, "other.jsonl", [json.dumps({**header, "schema": schema}), *printed[1:]])
        refusal = (2, [], "line 1 is no header of a capture export\n")
        assert lines(subject, "--back", "other.jsonl") == refusal


@requires("the entries say what the capture holds, in its order")
def entries_are_right(subject, facts):
    capture = drawn(subject.random)
    assert [json.loads(line) for line in exported(subject, capture)[1:]] == [row for _, row in capture]


@requires("a line that is no entry and a wrong count are refused")
def damage(subject, facts):
    printed = exported(subject, drawn(subject.random))
    place = subject.random.randrange(1, len(printed))
    put(subject, "bad.jsonl", [*printed[:place], '{"at_ms": 7}', *printed[place + 1 :]])
    assert lines(subject, "--back", "bad.jsonl") == (2, [], f"line {place + 1} is no entry\n")
    count = len(printed) - 1
    put(subject, "short.jsonl", printed[:-1])
    refusal = f"{count - 1} entries, but the header says {count}\n"
    assert lines(subject, "--back", "short.jsonl") == (2, [], refusal)


@requires("the report of a capture is as it was")
def report(subject, facts):
    refs = [subject.random.randrange(2**16) for _ in range(subject.random.randrange(2, 6))]
    put(subject, "day.txt", [f"{1000 * n} > {ack(ref).hex()}" for n, ref in enumerate(refs)])
    done = subject.run(["python", "-m", "wirespec", "report", "day.txt"])
    text = f"{len(refs)} frames in {len(refs) - 1}.0 s\n  ack: {len(refs)}\n"
    assert (done.exit, done.stdout) == (0, text.encode())


@forbids("the former schema is in the change or in an export")
def former_schema(subject, facts):
    put(subject, "day.txt", [f"5 > {ack(5).hex()}"])
    printed = lines(subject, "day.txt")[1]
    return any(facts.old_schema in line for line in printed) or subject.mentions(facts.old_schema)
