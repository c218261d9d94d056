"""Arrivals of vessels whose insurance has lapsed are refused with the code for that, and nothing else is."""

import json

from oracles.contract import forbids, requires

OTHERS = (
    "arrival_length",
    "departure_dues",
    "extract_insurance",
    "departure_insurance",
    "board_insurance",
    "shift_insurance",
    "charge_insurance",
    "arrival_papers",
)

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


def responses(row, count):
    """The responses to `ask`, granted or refused."""
    status, out, _ = row
    assert status == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert [one["id"] for one in answers] == [str(n) for n in range(count)]
    return answers


def harbour(subject, *steps):
    """Carry out the steps on a new book: what `served` says of them."""
    berths = "".join(f"E{number},{700 if number == 9 else 1500}\n" for number in range(1, 10))
    book = (write("berths.csv", berths), quaybook("init", "quay.db", "--berths", "berths.csv"))
    init, *found = served(subject, *book, *steps)
    assert init[0] == 0
    return found


def vessel(subject, number, until):
    """A request that registers vessel `R-number`; `until` is None when there is no date."""
    body = {"reg": f"R-{number}", "name": f"Tern {number}", "length_cm": subject.random.randrange(800, 1500)}
    return ("vessel.register", body | ({"insured_until": until} if until else {}))


def arrival(number, day, berth=None):
    return ("stay.open", {"reg": f"R-{number}", "berth": berth or f"E{number}", "day": day})


@requires("an arrival without insurance is refused with the code for it")
def refused_with_code(subject, facts):
    day = subject.random.randrange(10, 28)
    until = f"2026-03-{day}"
    (done,) = harbour(subject, ask(vessel(subject, 1, until), arrival(1, f"2026-03-{day + 1}")))
    refused = responses(done, 2)[1]
    message = f"Tern 1 was insured until {until}"
    assert refused == {"id": "1", "ok": False, "code": facts.arrival_insurance, "message": message}
    words = ["ask", "quay.db", "stay.open", "reg=R-1", "berth=E1", "day=2027-01-01"]
    late = subject.run(["python", "-m", "quaybook", *words])  # one real start of the command
    assert late.exit == 1
    assert json.loads(late.stdout)["code"] == facts.arrival_insurance


@requires("the error is a kind of conflict and has the code")
def error_class(subject, facts):
    assert subject.value("quaybook.errors:InsuranceLapsed.code") == facts.arrival_insurance
    assert subject.value("quaybook.errors:Conflict.code") == "conflict"
    tree = subject.ast("src/quaybook/errors.py")
    bases = {node.name: [base.id for base in node.bases] for node in tree.body if hasattr(node, "bases")}
    assert bases["InsuranceLapsed"] == ["Conflict"]


@requires("a refused arrival leaves no trace")
def no_trace(subject, facts):
    requests = ask(
        vessel(subject, 1, "2026-03-01"),
        arrival(1, "2026-03-02"),
        ("stay.list", {}),
        ("berth.free", {}),
    )
    done, board = harbour(subject, requests, quaybook("board", "quay.db"))
    answers = responses(done, 4)
    assert answers[1]["ok"] is False
    assert answers[2]["body"] == {"stays": []}
    assert len(answers[3]["body"]["berths"]) == 9
    assert board[1] == ""


@requires("the last day counts, and so does a vessel without a date")
def accepted(subject, facts):
    requests = ask(
        vessel(subject, 1, "2026-03-05"),
        vessel(subject, 2, None),
        arrival(1, "2026-03-05"),
        arrival(2, "2026-03-05"),
    )
    (done,) = harbour(subject, requests)
    answers = responses(done, 4)
    assert [one["ok"] for one in answers] == [True] * 4
    assert [one["body"] for one in answers[2:]] == [{"stay": 1, "berth": "E1"}, {"stay": 2, "berth": "E2"}]


@requires("all other refusals keep their code and come first; a departure is never refused for it")
def others_unchanged(subject, facts):
    requests = ask(
        vessel(subject, 1, "2026-03-01"),
        vessel(subject, 2, "2026-03-20"),
        arrival(2, "2026-03-10"),
        arrival(1, "2026-03-10", "E9"),
        arrival(1, "2026-03-10", "E2"),
        arrival(1, "2026-03-10", "E99"),
        arrival(7, "2026-03-10"),
        ("stay.close", {"stay": 1, "day": "2026-03-29"}),
        ("vessel.find", {"text": "tern"}),
    )
    (done,) = harbour(subject, requests)
    answers = responses(done, 9)
    assert [one.get("code") for one in answers[3:7]] == ["conflict", "conflict", "not-found", "not-found"]
    assert answers[7]["ok"] is True
    assert answers[7]["body"]["reason"] == "T-NIGHT E2 19 nights"
    assert [row["reg"] for row in answers[8]["body"]["vessels"]] == ["R-1", "R-2"]


@requires("vessels that lie here without insurance are listed")
def listed(subject, facts):
    days = {number: subject.random.choice([None, "2026-03-14", "2026-03-15", "2026-03-16"]) for number in range(1, 9)}
    days |= {2: "2026-03-14", 5: "2026-03-15"}
    order = subject.random.sample(sorted(days), len(days))
    registered = [vessel(subject, number, days[number]) for number in order]
    arrived = [*[arrival(number, "2026-03-02") for number in order], ("stay.close", {"stay": 1, "day": "2026-03-03"})]
    late = ("2026-03-15", "2026-03-16")
    asked = [ask(("vessel.lapsed", {"day": day})) for day in late]
    first, second, *found = harbour(subject, ask(*registered), ask(*arrived), *asked)
    responses(first, len(registered))
    responses(second, len(arrived))
    for day, done in zip(late, found, strict=True):
        expected = [
            {"reg": f"R-{number}", "berth": f"E{number}", "insured_until": days[number]}
            for number in order[1:]
            if days[number] and days[number] < day
        ]
        (answer,) = responses(done, 1)
        assert answer["body"] == {"vessels": expected}


@forbids("the code or mark of another case is used")
def code_of_another_case(subject, facts):
    return any(subject.mentions(facts[name]) for name in OTHERS)
