"""Outbound lists bear the call word of the paper that counts, and say who left on the day."""

import json

from oracles.contract import forbids, requires

DAY = "2026-02-08"

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
    """Carry out the steps: [exit status, output, errors] of each command."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout)


def bodies(row, count):
    """The bodies of the responses to `ask`, all of which have to be granted."""
    status, out, _ = row
    assert status == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert [one["ok"] for one in answers] == [True] * count
    return [one["body"] for one in answers]


def filled(subject, *steps):
    """Carry out the steps on a book with ten vessels that arrive and mostly leave.

    What `served` says of them, and the cells of the list of DAY, without the call word.
    """
    berths = "".join(f"C{number},2000\n" for number in range(1, 11))
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
    book = (write("berths.csv", berths), quaybook("init", "quay.db", "--berths", "berths.csv"))
    requests = [*arrivals, *departures]
    init, answers, *found = served(subject, *book, ask(*requests), *steps)
    assert init[0] == 0
    bodies(answers, len(requests))
    return found, [*cells, [DAY, "END", str(len(cells))]]


def outbound(day):
    return quaybook("outbound", "quay.db", "--day", day)


def lines(row):
    """What a command that has to succeed printed."""
    status, out, _ = row
    assert status == 0
    return out.splitlines()


def start_outbound(subject):
    """A real start of the command, on a book that is not there yet."""
    subject.run(["python", "-m", "quaybook", *outbound(DAY)["run"]])


@requires("lists begin their lines with the call word that counts")
def call_word(subject, facts):
    (done,), cells = filled(subject, outbound(DAY))
    assert lines(done) == [";".join([facts.annex_call, *row]) for row in cells]


@requires("a day on which nobody left has an end line")
def quiet_day(subject, facts):
    (done,), _ = filled(subject, outbound("2026-02-06"))
    assert lines(done) == [f"{facts.annex_call};2026-02-06;END;0"]


@requires("the list has everybody who left, in the order of the stays")
def who_left(subject, facts):
    (done,), cells = filled(subject, outbound(DAY))
    assert [line.split(";")[1:] for line in lines(done)] == cells


@requires("the verb gives the same lines as the command")
def verb(subject, facts):
    (asked, done), cells = filled(subject, ask(("lock.outbound", {"day": DAY})), outbound(DAY))
    (body,) = bodies(asked, 1)
    assert body == {"lines": lines(done)}
    assert len(body["lines"]) == len(cells)


@requires("extract, board and refusals are what they were")
def others_unchanged(subject, facts):
    (extract, board, refused), _ = filled(
        subject,
        quaybook("extract", "quay.db", "--day", "2026-02-07"),
        quaybook("board", "quay.db"),
        quaybook("ask", "quay.db", "lock.inbound", f"day={DAY}"),
    )
    rows = extract[1].splitlines()
    assert rows[0] == "day,berth,registration,name,length_m,class"
    assert len(rows) == 1 + 7
    assert all(row.endswith(",T-NIGHT") for row in rows[1:])
    assert len(board[1].splitlines()) == 2
    assert refused[0] == 1
    assert json.loads(refused[1])["code"] == "bad-request"


@forbids("the call word of the circular is used")
def circular_word(subject, facts):
    start_outbound(subject)
    return subject.mentions(facts.circular_call)


@forbids("the call word that the fuel dock passed on is used")
def radio_word(subject, facts):
    start_outbound(subject)
    return subject.mentions(facts.dock_call)
