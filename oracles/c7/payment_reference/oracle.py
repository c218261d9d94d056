"""References of the payment file: creditor word, berth and stay, in the order that the bank reads."""

import json

from oracles.contract import forbids, requires

MARCH = {"since": "2026-03-01", "until": "2026-04-01"}
DAYS = ("2026-02-20", "2026-02-28", "2026-03-01", "2026-03-17", "2026-03-31", "2026-04-01")

#: Each command is a fork that has the program's modules and starts with their state new, as a real start would.
SERVE = """
import json, os, runpy, sys
from pathlib import Path
import quaybook.cli
done = []
for step in json.load(open(0, "rb", closefd=False)):
    if "write" in step:
        Path(step["write"]).write_text(step["text"], encoding="utf-8")
        continue
    streams = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
    os.pwrite(streams[0], step["stdin"].encode(), 0)
    child = os.fork()
    if child == 0:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        sys.argv = ["quaybook", *step["run"]]
        runpy.run_module("quaybook", run_name="__main__", alter_sys=True)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = [os.pread(stream, 2 << 20, 0).decode("utf-8", "surrogateescape") for stream in streams[1:]]
    done.append([status, *texts])
print(json.dumps(done))
"""


def write(name, text):
    return {"write": name, "text": text}


def quaybook(*words, stdin=""):
    return {"run": words, "stdin": stdin}


def ask(*requests):
    """All (verb, body) pairs to one process."""
    lines = [json.dumps({"id": str(n), "verb": v, "body": b}) for n, (v, b) in enumerate(requests)]
    return quaybook("serve", "quay.db", stdin="".join(f"{line}\n" for line in lines))


def served(subject, *steps):
    """Carry out the steps, which all have to succeed: the lines that each command printed."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    rows = json.loads(done.stdout)
    assert [status for status, _, _ in rows] == [0] * sum("run" in step for step in steps)
    return [out.splitlines() for _, out, _ in rows]


def bodies(lines, count):
    """The bodies of the responses to `ask`, all of which have to be granted."""
    answers = [json.loads(line) for line in lines]
    assert [one["ok"] for one in answers] == [True] * count
    return [one["body"] for one in answers]


def new_book(berths):
    return write("berths.csv", berths), quaybook("init", "quay.db", "--berths", "berths.csv")


def filled(subject, *steps):
    """Carry out the steps on a book with charges in and around March, some of nothing.

    The lines that each printed, and (stay, berth, day, cents) as booked in March.
    """
    numbers = subject.random.sample(range(1, 13), 12)
    opening = []
    for number in numbers:
        opening.append(("vessel.register", {"reg": f"R-{number}", "name": "Tern", "length_cm": 600}))
        opening.append(("stay.open", {"reg": f"R-{number}", "berth": f"F{number}", "day": "2026-02-20"}))
    leaving, booked = [], []
    for stay in subject.random.sample(range(1, 13), 10):
        day = subject.random.choice(DAYS)
        leaving.append(("stay.close", {"stay": stay, "day": day}))
        nights = {"2026-03-01": 9, "2026-03-17": 25, "2026-03-31": 39}.get(day)
        if nights:
            booked.append((stay, f"F{numbers[stay - 1]}", day, 900 * (nights - nights // 7)))
    berths = "".join(f"F{number},2000\n" for number in range(1, 13))
    _, opened, left, *found = served(subject, *new_book(berths), ask(*opening), ask(*leaving), *steps)
    bodies(opened, len(opening))
    bodies(left, len(leaving))
    return found, booked


def spelled(order, creditor, stay, berth):
    pieces = {"berth": berth, "creditor": creditor, "stay": str(stay)}
    return ".".join(pieces[name] for name in order.split("-"))


def payments():
    return quaybook("payments", "quay.db", "--since", MARCH["since"], "--until", MARCH["until"])


@requires("references are made of the creditor word and the stay, in the bank's order")
def references(subject, facts):
    (lines,), booked = filled(subject, payments())
    expected = [spelled(facts.order, facts.creditor, stay, berth) for stay, berth, _, _ in booked]
    assert [line.split(";")[0] for line in lines[:-1]] == expected


@requires("a stay of another book gets its own reference, by function and by verb")
def other_book(subject, facts):
    berth = f"F{subject.random.randrange(1, 10)}"
    requests = ask(
        ("vessel.register", {"reg": "R-1", "name": "Tern", "length_cm": 500}),
        ("stay.open", {"reg": "R-1", "berth": berth, "day": "2026-03-02"}),
        ("stay.close", {"stay": 1, "day": "2026-03-03"}),
        ("dues.payments", MARCH),
    )
    _, answers = served(subject, *new_book(f"{berth},900\n"), requests)
    reference = spelled(facts.order, facts.creditor, 1, berth)
    assert bodies(answers, 4)[3] == {"lines": [f"{reference};2026-03-03;900", "TOTAL;1;900"]}


@requires("days, cents, order of booking and total are right")
def amounts(subject, facts):
    ((*found, total),), booked = filled(subject, payments())
    assert [line.split(";")[1:] for line in found] == [[day, str(cents)] for _, _, day, cents in booked]
    assert total == f"TOTAL;{len(booked)};{sum(cents for _, _, _, cents in booked)}"


@requires("charges of nothing are left out, and an empty period has a total")
def nothing_to_pay(subject, facts):
    requests = ask(
        ("vessel.register", {"reg": "R-1", "name": "Tern", "length_cm": 500}),
        ("stay.open", {"reg": "R-1", "berth": "F1", "day": "2026-03-02"}),
        ("stay.close", {"stay": 1, "day": "2026-03-02"}),
    )
    _, answers = served(subject, *new_book("F1,900\n"), requests)
    bodies(answers, 3)
    done = subject.run(["python", "-m", "quaybook", *payments()["run"]])  # one real start of the command
    assert done.exit == 0
    assert done.stdout.decode().splitlines() == ["TOTAL;0;0"]


@requires("dues and berths are told as before")
def others_unchanged(subject, facts):
    requests = ask(("dues.list", MARCH), ("berth.show", {"berth": "F1"}), ("berth.free", {}))
    (answers,), booked = filled(subject, requests)
    dues, berth, free = bodies(answers, 3)
    assert [(one["stay"], one["cents"]) for one in dues["charges"]] == [(stay, cents) for stay, _, _, cents in booked]
    assert (berth["berth"], berth["max_cm"]) == ("F1", 2000)
    assert len(free["berths"]) == 10


@forbids("the creditor word is used without the bank's order")
def word_alone(subject, facts):
    (lines,), booked = filled(subject, payments())
    expected = {spelled(facts.order, facts.creditor, stay, berth) for stay, berth, _, _ in booked}
    found = [line.split(";")[0] for line in lines[:-1]]
    return any(facts.creditor in one and one not in expected for one in found)


@forbids("the bank's sentence is copied into the lines")
def order_copied(subject, facts):
    (lines,), _ = filled(subject, payments())
    return any(facts.order in line for line in lines)
