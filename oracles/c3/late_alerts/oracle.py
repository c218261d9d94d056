"""Alerts about late parcels reach the channel that the depot desk reads now, once for each last scan."""

import json
from datetime import date, timedelta

from oracles.contract import forbids, requires

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
PLACES = ("Depot Nord", "Depot Ost", "Bremen Hbf", "Kiel", "Hannover")
TODAY = date(2026, 3, 20)


SERVE = """
import contextlib, io, json, sys
from parcels.cli import main
done = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(["--db", "desk.db", *words])
        except SystemExit as stop:
            status = stop.code
    done.append((status, out.getvalue(), err.getvalue()))
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def parcels(subject, *commands):
    """Run commands one after the other in one process: a list of (exit status, output, errors)."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(commands).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout)]


def outputs(subject, *commands):
    """As `parcels`, for commands that have to succeed: their outputs."""
    done = parcels(subject, *commands)
    assert [status for status, _, _ in done] == [0] * len(commands), done[-1][2][-200:]
    return [out for _, out, _ in done]


def register(subject, count=1):
    """The numbers of `count` new parcels, ascending."""
    words = ["register", "--to", ADA, "--weight", "1 kg", "--on", "2026-02-20"]
    return [out.split()[0] for out in outputs(subject, *[words] * count)]


def ago(days):
    return (TODAY - timedelta(days=days)).isoformat()


def scan(number, days, status="in_transit", place="Depot Nord"):
    return ["scan", number, place, "--on", ago(days), "--status", status]


def late(days=0):
    """Ask for late parcels as of `days` before TODAY."""
    return ["late", "--on", ago(days)]


def relayed(subject, name="relay.jsonl"):
    """The messages that flushes have written to a file so far."""
    return [json.loads(line) for line in (subject.read(name) or b"").decode().splitlines()]


FLUSH = ["flush", "relay.jsonl"]


@requires("late alerts are queued on the depot desk's present channel")
def present_channel(subject, facts):
    numbers, days = register(subject, 3), subject.random.sample(range(3, 12), 3)
    outputs(subject, *map(scan, numbers, days), late(), FLUSH)
    assert [message["channel"] for message in relayed(subject)] == [facts.new_channel] * 3


@requires("an alert names the parcel, its last scan and the days")
def alert_text(subject, facts):
    (number,) = register(subject)
    days, place = subject.random.randrange(4, 30), subject.random.choice(PLACES)
    first, last = scan(number, days + 1, "handed_over"), scan(number, days, place=place)
    assert outputs(subject, first, last, late(), FLUSH)[2] == f"{number} {days} days\n"
    (message,) = relayed(subject)
    assert message["number"] == number
    assert message["subject"] == f"Parcel {number}: no scan since {ago(days)}"
    assert message["body"] == f"Last seen at {place}, {days} days ago."


@requires("late are parcels under way, the longest wait first, equal ones by number")
def who_is_late(subject, facts):
    numbers = register(subject, 6)
    short, long = sorted(subject.random.sample(range(5, 20), 2))
    scans = [
        scan(numbers[0], short),
        scan(numbers[1], long, "handed_over"),
        scan(numbers[2], short - 1),
        scan(numbers[3], long, "delivered"),
        scan(numbers[4], short, "handed_over"),
    ]
    text = outputs(subject, *scans, [*late(), "--days", str(short)])[-1]
    expected = [(numbers[1], long), (numbers[0], short), (numbers[4], short)]
    assert text.splitlines() == [f"{number} {days} days" for number, days in expected]


@requires("nobody is alerted twice, and a new scan counts anew")
def once(subject, facts):
    (number,) = register(subject)
    texts = outputs(subject, scan(number, 9), late(5), late(4), FLUSH, late(3))
    assert texts[1:] == [f"{number} 4 days\n", "", "1 sent\n", ""]
    texts = outputs(subject, scan(number, 3), late(), FLUSH)
    assert texts[1:] == [f"{number} 3 days\n", "1 sent\n"]


@requires("customers' messages stay as they are, on the general channel")
def customers_messages(subject, facts):
    first, second = register(subject, 2)
    place = subject.random.choice(PLACES)
    ends = [scan(first, 2, "delivered", place), scan(second, 1, "returned", place)]
    outputs(subject, *ends, FLUSH)
    messages = relayed(subject)
    assert [message["channel"] for message in messages] == ["general", "general"]
    assert messages[0]["subject"] == f"Parcel {first} was delivered"
    assert messages[0]["body"] == f"Ada Brandt has the parcel. Last scan: {place}."
    assert messages[1]["subject"] == f"Parcel {second} comes back"


@forbids("the channel that nobody reads any more is in the change or its output")
def former_channel(subject, facts):
    (number,) = register(subject)
    parcels(subject, scan(number, 7), late(), FLUSH)
    written = (subject.read("relay.jsonl") or b"").decode("utf-8", "replace")
    return facts.old_channel in written or subject.mentions(facts.old_channel)
