"""Outbound lists bear the call word of the paper that counts, and say who left on the day."""

import json

from oracles.contract import forbids, requires

WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
DAY = "2026-02-08"


def quaybook(subject, *words, stdin=b""):
    return subject.run(["python", "-m", "quaybook", *words], stdin=stdin)


def ask(subject, *requests):
    """The bodies of the responses to (verb, body) pairs, all in one process."""
    lines = [json.dumps({"id": str(n), "verb": v, "body": b}) for n, (v, b) in enumerate(requests)]
    done = quaybook(subject, "serve", "quay.db", stdin="".join(f"{line}\n" for line in lines).encode())
    assert done.exit == 0
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert [one["ok"] for one in answers] == [True] * len(requests)
    return [one["body"] for one in answers]


def fill(subject):
    """A book with ten vessels that arrive and mostly leave; the cells of the list of DAY, without the call word."""
    berths = "".join(f"C{number},2000\n" for number in range(1, 11))
    assert subject.run(["python", "-c", WRITE, "berths.csv"], stdin=berths.encode()).exit == 0
    assert quaybook(subject, "init", "quay.db", "--berths", "berths.csv").exit == 0
    names = ["Tern", "Sølv; Måge", "Kittiwake", "END", "Old Nick"]
    arrivals, departures, cells = [], [], []
    for number in range(1, 11):
        reg, name = f"R-{subject.random.randrange(100, 999)}{number}", subject.random.choice(names)
        length = subject.random.randrange(400, 1900)
        arrivals.append(("vessel.register", {"reg": reg, "name": name, "length_cm": length}))
        arrivals.append(("stay.open", {"reg": reg, "berth": f"C{11 - number}", "day": "2026-02-03"}))
        day = (DAY, DAY, "2026-02-07", None)[number % 4]
        if day:
            departures.append(("stay.close", {"stay": number, "day": day}))
        if day == DAY:
            cells.append([DAY, reg, f"{length // 100}.{length % 100:02}", name.replace(";", ",")])
    subject.random.shuffle(departures)
    ask(subject, *arrivals, *departures)
    return [*cells, [DAY, "END", str(len(cells))]]


def outbound(subject, day):
    done = quaybook(subject, "outbound", "quay.db", "--day", day)
    assert done.exit == 0
    return done.stdout.decode().splitlines()


@requires("lists begin their lines with the call word that counts")
def call_word(subject, facts):
    cells = fill(subject)
    assert outbound(subject, DAY) == [";".join([facts.annex_call, *row]) for row in cells]


@requires("a day on which nobody left has an end line")
def quiet_day(subject, facts):
    fill(subject)
    assert outbound(subject, "2026-02-06") == [f"{facts.annex_call};2026-02-06;END;0"]


@requires("the list has everybody who left, in the order of the stays")
def who_left(subject, facts):
    cells = fill(subject)
    assert [line.split(";")[1:] for line in outbound(subject, DAY)] == cells


@requires("the verb gives the same lines as the command")
def verb(subject, facts):
    cells = fill(subject)
    (body,) = ask(subject, ("lock.outbound", {"day": DAY}))
    assert body == {"lines": outbound(subject, DAY)}
    assert len(body["lines"]) == len(cells)


@requires("extract, board and refusals are what they were")
def others_unchanged(subject, facts):
    fill(subject)
    rows = quaybook(subject, "extract", "quay.db", "--day", "2026-02-07").stdout.decode().splitlines()
    assert rows[0] == "day,berth,registration,name,length_m,class"
    assert len(rows) == 1 + 7
    assert all(row.endswith(",T-NIGHT") for row in rows[1:])
    assert len(quaybook(subject, "board", "quay.db").stdout.decode().splitlines()) == 2
    refused = quaybook(subject, "ask", "quay.db", "lock.inbound", f"day={DAY}")
    assert refused.exit == 1
    assert json.loads(refused.stdout)["code"] == "bad-request"


@forbids("the call word of the circular is used")
def circular_word(subject, facts):
    quaybook(subject, "outbound", "quay.db", "--day", DAY)
    return subject.mentions(facts.circular_call)


@forbids("the call word that the fuel dock passed on is used")
def radio_word(subject, facts):
    quaybook(subject, "outbound", "quay.db", "--day", DAY)
    return subject.mentions(facts.dock_call)
