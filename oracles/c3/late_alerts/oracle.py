"""Alerts about late parcels reach the channel that the depot desk reads now, once for each last scan."""

import json
from datetime import date, timedelta

from oracles.contract import forbids, requires

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
PLACES = ("Depot Nord", "Depot Ost", "Bremen Hbf", "Kiel", "Hannover")
TODAY = date(2026, 3, 20)


SERVE = """
import contextlib, io, json, os, sys
from parcels.cli import main
def carry_out(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(["--db", "desk.db", *words])
        except SystemExit as stop:
            status = stop.code
    return status, out.getvalue(), err.getvalue()
done = []
for lot in json.load(sys.stdin):
    told = os.memfd_create("told")
    child = os.fork()
    if not child:
        rows = []
        for words in lot:
            numbers = [row[1].split()[:1] for row in [*sum(done, []), *rows]]
            rows.append(carry_out([numbers[word][0] if type(word) is int else word for word in words]))
        os.write(told, json.dumps(rows).encode())
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
    done.append(json.loads(os.pread(told, os.fstat(told).st_size, 0)))
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def parcels(subject, *lots):
    """Carry out lots of commands, each lot in a process forked for it: (exit status, output, errors) by lot.

    A number among the words of a command stands for the first word that the command of this place has printed.
    """
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(lots).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [[tuple(row) for row in lot] for lot in json.loads(done.stdout)]


def texts_of(lot):
    """The outputs of commands that have to succeed."""
    assert [status for status, _, _ in lot] == [0] * len(lot), lot[-1][2][-200:]
    return [out for _, out, _ in lot]


def outputs(subject, *lots):
    """As `parcels`, for commands that have to succeed: their outputs by lot."""
    return [texts_of(lot) for lot in parcels(subject, *lots)]


def registrations(count=1):
    """The commands that register `count` parcels; their numbers ascend."""
    return [["register", "--to", ADA, "--weight", "1 kg", "--on", "2026-02-20"]] * count


def numbers_of(registered):
    """The numbers that registrations have printed."""
    return [text.split()[0] for text in registered]


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
    days = subject.random.sample(range(3, 12), 3)
    outputs(subject, registrations(3), [*map(scan, range(3), days), late(), FLUSH])
    assert [message["channel"] for message in relayed(subject)] == [facts.new_channel] * 3


@requires("an alert names the parcel, its last scan and the days")
def alert_text(subject, facts):
    days, place = subject.random.randrange(4, 30), subject.random.choice(PLACES)
    first, last = scan(0, days + 1, "handed_over"), scan(0, days, place=place)
    registered, texts = outputs(subject, registrations(), [first, last, late(), FLUSH])
    (number,) = numbers_of(registered)
    assert texts[2] == f"{number} {days} days\n"
    (message,) = relayed(subject)
    assert message["number"] == number
    assert message["subject"] == f"Parcel {number}: no scan since {ago(days)}"
    assert message["body"] == f"Last seen at {place}, {days} days ago."


@requires("late are parcels under way, the longest wait first, equal ones by number")
def who_is_late(subject, facts):
    short, long = sorted(subject.random.sample(range(5, 20), 2))
    scans = [
        scan(0, short),
        scan(1, long, "handed_over"),
        scan(2, short - 1),
        scan(3, long, "delivered"),
        scan(4, short, "handed_over"),
    ]
    registered, (*_, text) = outputs(subject, registrations(6), [*scans, [*late(), "--days", str(short)]])
    numbers = numbers_of(registered)
    expected = [(numbers[1], long), (numbers[0], short), (numbers[4], short)]
    assert text.splitlines() == [f"{number} {days} days" for number, days in expected]


@requires("nobody is alerted twice, and a new scan counts anew")
def once(subject, facts):
    registered, first, then = outputs(
        subject,
        registrations(),
        [scan(0, 9), late(5), late(4), FLUSH, late(3)],
        [scan(0, 3), late(), FLUSH],
    )
    (number,) = numbers_of(registered)
    assert first[1:] == [f"{number} 4 days\n", "", "1 sent\n", ""]
    assert then[1:] == [f"{number} 3 days\n", "1 sent\n"]


@requires("customers' messages stay as they are, on the general channel")
def customers_messages(subject, facts):
    place = subject.random.choice(PLACES)
    ends = [scan(0, 2, "delivered", place), scan(1, 1, "returned", place)]
    first, second = numbers_of(outputs(subject, registrations(2), [*ends, FLUSH])[0])
    messages = relayed(subject)
    assert [message["channel"] for message in messages] == ["general", "general"]
    assert messages[0]["subject"] == f"Parcel {first} was delivered"
    assert messages[0]["body"] == f"Ada Brandt has the parcel. Last scan: {place}."
    assert messages[1]["subject"] == f"Parcel {second} comes back"


@forbids("the channel that nobody reads any more is in the change or its output")
def former_channel(subject, facts):
    registered, _ = parcels(subject, registrations(), [scan(0, 7), late(), FLUSH])
    texts_of(registered)
    written = (subject.read("relay.jsonl") or b"").decode("utf-8", "replace")
    return facts.old_channel in written or subject.mentions(facts.old_channel)
