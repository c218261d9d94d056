"""Exports of captures are written and read under the schema that the archive has now."""

import json

from oracles.contract import forbids, requires

# Files are written first; each command runs in a fork of its own, from a process in which none has run.
SERVE = """
import json, os, runpy, sys
from pathlib import Path
given = json.load(open(0, "rb", closefd=False))
for path, text in given["files"].items():
    Path(path).write_bytes(text.encode())
if given["commands"]:
    import wirespec.cli
def start(words):
    out, err = os.memfd_create("out"), os.memfd_create("err")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.argv[1:] = words
        runpy.run_module("wirespec", run_name="__main__", alter_sys=True)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [status, *(os.pread(number, 1 << 20, 0).decode("utf-8", "replace") for number in (out, err))]
json.dump([start(words) for words in given["commands"]], sys.stdout)
"""


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


def asked(subject, files, *commands):
    texts = {path: "".join(f"{line}\n" for line in lines) for path, lines in files.items()}
    given = json.dumps({"files": texts, "commands": commands})
    return subject.run(["python", "-c", SERVE], stdin=given.encode())


def served(subject, files, *commands):
    """Write files, given by their lines, and run commands: [exit status, output, errors] of each."""
    done = asked(subject, files, *commands)
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout.decode("utf-8", "replace"))


def read(subject, exports):
    """Read exports back, each given by its lines: (exit status, what is printed as lines, errors) of each."""
    files = {f"{number}.jsonl": lines for number, lines in enumerate(exports)}
    found = served(subject, files, *(["lines", "--back", path] for path in files))
    return [(status, out.splitlines(), err) for status, out, err in found]


def exported(subject, capture):
    """The lines of the export of a capture."""
    ((status, out, _),) = served(subject, {"day.txt": [line for line, _ in capture]}, ["lines", "day.txt"])
    printed = out.splitlines()
    assert status == 0 and printed
    return printed


@requires("an export is headed by the schema that the archive has now")
def present_schema(subject, facts):
    capture = drawn(subject.random)
    served(subject, {"day.txt": [line for line, _ in capture]})
    done = subject.run(["python", "-m", "wirespec", "lines", "day.txt"])
    printed = done.stdout.decode("utf-8", "replace").splitlines()
    assert done.exit == 0 and printed
    header = json.loads(printed[0])
    assert header == {"schema": facts.new_schema, "protocol": 3, "entries": len(capture)}
    assert type(header["protocol"]) is int and type(header["entries"]) is int


@requires("only an export of that schema is read back")
def read_back(subject, facts):
    capture = drawn(subject.random)
    printed = exported(subject, capture)
    header = json.loads(printed[0])
    number = f"{subject.random.randrange(16**12):012x}"
    others = (f"unitlog:frames:{number}", "unitlog:frames", "wirespec-capture", "", None)
    found = read(subject, [printed, *([json.dumps({**header, "schema": name}), *printed[1:]] for name in others)])
    assert found[0] == (0, [line for line, _ in capture], "")
    assert found[1:] == [(2, [], "line 1 is no header of a capture export\n")] * len(others)


@requires("the entries say what the capture holds, in its order")
def entries_are_right(subject, facts):
    capture = drawn(subject.random)
    assert [json.loads(line) for line in exported(subject, capture)[1:]] == [row for _, row in capture]


@requires("a line that is no entry and a wrong count are refused")
def damage(subject, facts):
    printed = exported(subject, drawn(subject.random))
    place = subject.random.randrange(1, len(printed))
    count = len(printed) - 1
    bad = [*printed[:place], '{"at_ms": 7}', *printed[place + 1 :]]
    assert read(subject, [bad, printed[:-1]]) == [
        (2, [], f"line {place + 1} is no entry\n"),
        (2, [], f"{count - 1} entries, but the header says {count}\n"),
    ]


@requires("the report of a capture is as it was")
def report(subject, facts):
    refs = [subject.random.randrange(2**16) for _ in range(subject.random.randrange(2, 6))]
    day = [f"{1000 * n} > {ack(ref).hex()}" for n, ref in enumerate(refs)]
    ((status, out, _),) = served(subject, {"day.txt": day}, ["report", "day.txt"])
    assert (status, out) == (0, f"{len(refs)} frames in {len(refs) - 1}.0 s\n  ack: {len(refs)}\n")


@forbids("the former schema is in the change or in an export")
def former_schema(subject, facts):
    asked(subject, {"day.txt": [f"5 > {ack(5).hex()}"]}, ["lines", "day.txt"])
    return subject.mentions(facts.old_schema)
