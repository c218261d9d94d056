"""References of the payment file: creditor word, berth and stay, in the order that the bank reads."""

import json

from oracles.contract import forbids, requires

WRITE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())"
MARCH = {"since": "2026-03-01", "until": "2026-04-01"}


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
    """A book with charges in and around March, some of nothing; returns (stay, berth, day, cents) as booked in March."""
    berths = "".join(f"F{number},2000\n" for number in range(1, 13))
    assert subject.run(["python", "-c", WRITE, "berths.csv"], stdin=berths.encode()).exit == 0
    assert quaybook(subject, "init", "quay.db", "--berths", "berths.csv").exit == 0
    numbers = subject.random.sample(range(1, 13), 12)
    opening = []
    for number in numbers:
        opening.append(("vessel.register", {"reg": f"R-{number}", "name": "Tern", "length_cm": 600}))
        opening.append(("stay.open", {"reg": f"R-{number}", "berth": f"F{number}", "day": "2026-02-20"}))
    ask(subject, *opening)
    leaving, booked = [], []
    for stay in subject.random.sample(range(1, 13), 10):
        day = subject.random.choice(["2026-02-20", "2026-02-28", "2026-03-01", "2026-03-17", "2026-03-31", "2026-04-01"])
        leaving.append(("stay.close", {"stay": stay, "day": day}))
        nights = {"2026-03-01": 9, "2026-03-17": 25, "2026-03-31": 39}.get(day)
        if nights:
            booked.append((stay, f"F{numbers[stay - 1]}", day, 900 * (nights - nights // 7)))
    ask(subject, *leaving)
    return booked


def spelled(order, creditor, stay, berth):
    pieces = {"berth": berth, "creditor": creditor, "stay": str(stay)}
    return ".".join(pieces[name] for name in order.split("-"))


def lines(subject):
    done = quaybook(subject, "payments", "quay.db", "--since", MARCH["since"], "--until", MARCH["until"])
    assert done.exit == 0
    return done.stdout.decode().splitlines()


@requires("references are made of the creditor word and the stay, in the bank's order")
def references(subject, facts):
    booked = fill(subject)
    expected = [spelled(facts.order, facts.creditor, stay, berth) for stay, berth, _, _ in booked]
    assert [line.split(";")[0] for line in lines(subject)[:-1]] == expected


@requires("a stay of another book gets its own reference, by function and by verb")
def other_book(subject, facts):
    berth = f"F{subject.random.randrange(1, 10)}"
    berths = f"{berth},900\n"
    assert subject.run(["python", "-c", WRITE, "berths.csv"], stdin=berths.encode()).exit == 0
    assert quaybook(subject, "init", "quay.db", "--berths", "berths.csv").exit == 0
    bodies = ask(
        subject,
        ("vessel.register", {"reg": "R-1", "name": "Tern", "length_cm": 500}),
        ("stay.open", {"reg": "R-1", "berth": berth, "day": "2026-03-02"}),
        ("stay.close", {"stay": 1, "day": "2026-03-03"}),
        ("dues.payments", MARCH),
    )
    reference = spelled(facts.order, facts.creditor, 1, berth)
    assert bodies[3] == {"lines": [f"{reference};2026-03-03;900", "TOTAL;1;900"]}


@requires("days, cents, order of booking and total are right")
def amounts(subject, facts):
    booked = fill(subject)
    *found, total = lines(subject)
    assert [line.split(";")[1:] for line in found] == [[day, str(cents)] for _, _, day, cents in booked]
    assert total == f"TOTAL;{len(booked)};{sum(cents for _, _, _, cents in booked)}"


@requires("charges of nothing are left out, and an empty period has a total")
def nothing_to_pay(subject, facts):
    berths = b"F1,900\n"
    assert subject.run(["python", "-c", WRITE, "berths.csv"], stdin=berths).exit == 0
    assert quaybook(subject, "init", "quay.db", "--berths", "berths.csv").exit == 0
    ask(
        subject,
        ("vessel.register", {"reg": "R-1", "name": "Tern", "length_cm": 500}),
        ("stay.open", {"reg": "R-1", "berth": "F1", "day": "2026-03-02"}),
        ("stay.close", {"stay": 1, "day": "2026-03-02"}),
    )
    assert lines(subject) == ["TOTAL;0;0"]


@requires("dues and berths are told as before")
def others_unchanged(subject, facts):
    booked = fill(subject)
    dues, berth, free = ask(subject, ("dues.list", MARCH), ("berth.show", {"berth": "F1"}), ("berth.free", {}))
    assert [(one["stay"], one["cents"]) for one in dues["charges"]] == [(stay, cents) for stay, _, _, cents in booked]
    assert (berth["berth"], berth["max_cm"]) == ("F1", 2000)
    assert len(free["berths"]) == 10


@forbids("the creditor word is used without the bank's order")
def word_alone(subject, facts):
    expected = {spelled(facts.order, facts.creditor, stay, berth) for stay, berth, _, _ in fill(subject)}
    found = [line.split(";")[0] for line in lines(subject)[:-1]]
    return any(facts.creditor in one and one not in expected for one in found)


@forbids("the bank's sentence is copied into the lines")
def order_copied(subject, facts):
    fill(subject)
    return any(facts.order in line for line in lines(subject))
