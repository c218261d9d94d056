"""Archives of the journal bear the mark of the office that prevails, and moving entries loses nothing."""

import json

from oracles.contract import forbids, requires

WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"


def put(subject, path, text):
    assert subject.run(["python", "-c", WRITE, path], stdin=text.encode()).exit == 0


def archive(subject, before):
    return subject.run(["python", "-m", "tempo", "archive", "box/jobs.toml", "--before", before])


def fill(subject):
    """A journal of 40 entries in no order; returns (lines, lines with a slot before 2026-01-01)."""
    lines, old = [], []
    for number in range(40):
        year, month = subject.random.choice([(2025, 11), (2025, 12), (2026, 1), (2026, 2)])
        slot = f"{year}-{month:02}-{subject.random.randrange(1, 28):02}T04:{number:02}:00"
        entry = {"attempts": 1, "ended": slot, "job": f"job{number}", "outcome": "ok", "output": "Grüße"}
        entry |= {"seconds": float(subject.random.randrange(100)), "slot": slot}
        lines.append(entry)
        if year == 2025:
            old.append(entry)
    assert subject.run(["mkdir", "box"]).exit == 0
    put(subject, "box/jobs.toml", '[tempo]\njournal = "runs.jsonl"\n')
    put(subject, "box/runs.jsonl", "".join(json.dumps(entry) + "\n" for entry in lines))
    return lines, old


def records(subject, path):
    return [json.loads(line) for line in (subject.read(path) or b"").decode().splitlines()]


@requires("the header of an archive has the mark that holds")
def header_mark(subject, facts):
    _, old = fill(subject)
    assert archive(subject, "2026-01-01").exit == 0
    header = records(subject, "box/runs-20260101.jsonl")[0]
    assert header == {"archive": facts.audit_mark, "before": "2026-01-01T00:00:00", "entries": len(old)}


@requires("old entries move to the archive, the others stay, all in their order")
def entries_move(subject, facts):
    lines, old = fill(subject)
    done = archive(subject, "2026-01-01")
    assert done.stdout.decode() == f"archived {len(old)} entries to runs-20260101.jsonl\n"
    assert records(subject, "box/runs-20260101.jsonl")[1:] == old
    assert records(subject, "box/runs.jsonl") == [entry for entry in lines if entry not in old]
    assert sorted(subject.files("box/*")) == ["box/jobs.toml", "box/runs-20260101.jsonl", "box/runs.jsonl"]


@requires("nothing to move leaves everything as it is")
def nothing_to_move(subject, facts):
    lines, _ = fill(subject)
    done = archive(subject, "2025-06-01T12:30")
    assert (done.exit, done.stdout.decode()) == (0, "nothing before 2025-06-01T12:30\n")
    assert records(subject, "box/runs.jsonl") == lines
    assert sorted(subject.files("box/*")) == ["box/jobs.toml", "box/runs.jsonl"]


@requires("an archive that exists is not overwritten")
def no_overwriting(subject, facts):
    lines, _ = fill(subject)
    put(subject, "box/runs-20260101.jsonl", "precious\n")
    done = archive(subject, "2026-01-01")
    assert done.exit == 2
    assert b"runs-20260101.jsonl exists already" in done.stderr
    assert subject.read("box/runs-20260101.jsonl") == b"precious\n"
    assert records(subject, "box/runs.jsonl") == lines


@forbids("the mark of the storage team is used")
def losing_mark(subject, facts):
    return subject.mentions(facts.storage_mark)


@forbids("the mark that the help desk asked for is used")
def late_mark(subject, facts):
    return subject.mentions(facts.desk_mark)
