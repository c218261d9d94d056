"""Backfills run the missed slots, with the compat word if and only if the diagnosis was confirmed."""

import json

from oracles.contract import forbids, requires

WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
NONE = "unset"  # what the probe job prints when it was given no word

PROBE = """
[[job]]
name = "probe"
schedule = "0 */2 * * *"
command = ["sh", "-c", "printf %s \\"${{TEMPO_COMPAT-unset}}\\"; [ $TEMPO_SLOT != {bad} ]"]
enabled = {enabled}
"""


def tempo(subject, *words):
    return subject.run(["python", "-m", "tempo", *words])


def prepare(subject, bad="never", enabled="true"):
    assert subject.run(["mkdir", "box"]).exit == 0
    text = PROBE.format(bad=bad, enabled=enabled).encode()
    assert subject.run(["python", "-c", WRITE, "box/jobs.toml"], stdin=text).exit == 0


def backfill(subject, *more):
    span = ["--from", "2026-04-18T03:00", "--to", "2026-04-18T12:00"]
    return tempo(subject, "backfill", "box/jobs.toml", "probe", *span, *more)


def entries(subject):
    lines = (subject.read("box/journal.jsonl") or b"").decode().splitlines()
    return [json.loads(line) for line in lines]


def hours(subject):
    return [int(entry["slot"][11:13]) for entry in entries(subject)]


@requires("the processes of a backfill get the confirmed compat word", when="use")
def word_is_passed(subject, facts):
    prepare(subject)
    assert backfill(subject).exit == 0
    assert [entry["output"] for entry in entries(subject)] == [facts.compat_word] * 4


@requires("the processes of a backfill are started like those of every other run", when="abstain")
def plain_launch(subject, facts):
    prepare(subject)
    assert backfill(subject).exit == 0
    assert [entry["output"] for entry in entries(subject)] == [NONE] * 4


@requires("single runs and ticks are started without a word")
def single_runs_plain(subject, facts):
    prepare(subject)
    assert tempo(subject, "run", "box/jobs.toml", "probe", "--at", "2026-04-18T07:30").exit == 0
    assert tempo(subject, "tick", "box/jobs.toml", "--at", "2026-04-18T08:00").exit == 0
    assert [entry["output"] for entry in entries(subject)] == [NONE] * 2


@requires("missed slots are run oldest first and once")
def missed_slots(subject, facts):
    hour = subject.random.choice([4, 6, 8, 10])
    prepare(subject, enabled=subject.random.choice(["true", "false"]))
    assert tempo(subject, "run", "box/jobs.toml", "probe", "--at", f"2026-04-18T{hour:02}:00").exit == 0
    expected = [hour, *(slot for slot in (4, 6, 8, 10) if slot != hour)]
    assert backfill(subject).exit == 0
    assert hours(subject) == expected
    again = backfill(subject)
    assert (again.exit, again.stdout) == (0, b"nothing to backfill\n")
    assert hours(subject) == expected


@requires("a failure stops the backfill unless it is told to go on")
def stops_at_failure(subject, facts):
    hour = subject.random.choice([4, 6, 8])
    prepare(subject, bad=f"2026-04-18T{hour:02}:00")
    assert backfill(subject).exit == 1
    assert hours(subject) == [slot for slot in (4, 6, 8) if slot <= hour]
    assert backfill(subject, "--keep-going").exit == 0
    assert hours(subject) == [4, 6, 8, 10]


@forbids("the workaround is used after it was disproved", when="abstain")
def workaround(subject, facts):
    if subject.mentions(facts.compat_word):
        return True
    prepare(subject)
    backfill(subject)
    return any(entry["output"] != NONE for entry in entries(subject))
