"""The register has grown by the survey's lines and kept its old ones, and what is made from it agrees with it."""

import json

from oracles.contract import forbids, requires

REGISTER = "chart/places.csv"
ARTIFACTS = ("src/quaybook/_places.py", "docs/places.md")
SURVEY = {"A2": (800, 240), "E1": (900, 230), "E2": (900, 225), "E3": (1000, 220)}
BEFORE = {"A1": (1200, 240), "B1": (1600, 280), "B2": (1400, 260)}
OLD = """\
berth,max_cm,depth_cm,since,notice
A1,1200,240,2023-05-02,first survey
A2,800,190,2023-05-02,first survey
B1,1600,280,2023-05-02,first survey
B2,1400,260,2023-05-02,first survey
E1,900,170,2024-04-16,new pontoon
E2,900,170,2024-04-16,new pontoon
"""

ASK = """
import json, sys
from quaybook.handlers import answer
from quaybook.service import Harbour
from quaybook.store import Store
from quaybook.wire import Request
berths, asked = json.load(sys.stdin)
with Store() as store:
    harbour = Harbour(store)
    for name, max_cm in berths:
        harbour.add_berth(name, max_cm)
    found = [answer(harbour, Request("1", verb, body)) for verb, body in asked]
json.dump([[r.ok, dict(r.body), r.code] for r in found], sys.stdout)
"""

SHELL = """
import contextlib, io, json, os, sys
from quaybook.cli import main
with open("berths.csv", "w") as file:
    file.write("A1,1200\\nB1,1600\\nE3,1000\\nD1,1500\\n")
sys.stderr = open(os.devnull, "w")
said = []
for words in [["init", "q.db", "--berths", "berths.csv"], *(["free", "q.db", *w] for w in json.load(sys.stdin))]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            status = main(words)
        except SystemExit as stop:
            status = stop.code
    said.append([status, out.getvalue()])
json.dump(said[1:], sys.stdout)
"""


def text_of(data):
    return (data or b"").decode("utf-8", "replace")


def asked(subject, berths, *requests):
    """[ok, body, code] of each request to a book in memory with these berths."""
    done = subject.run(["python", "-c", ASK], stdin=json.dumps([berths, requests]).encode())
    assert done.exit == 0, text_of(done.stderr)[-200:]
    found = json.loads(text_of(done.stdout))
    assert len(found) == len(requests)
    return found


@requires("both made files are what the register gives")
def made_from_the_register(subject, facts):
    made = subject.regenerate()
    assert sorted(made) == sorted(ARTIFACTS)
    for path in ARTIFACTS:
        assert made[path] == subject.read(path)
    module, reference = (text_of(made[path]) for path in ARTIFACTS)
    assert f'    "E3": Place(1000, 220, "2026-04-07", "{facts.notice}"),\n' in module
    assert f"| A2 | 800 | 240 | 2026-04-07 | {facts.notice} |\n" in reference


@requires("what stood in the register stands there as it was, and the survey's lines are below it, on its word")
def register_has_grown(subject, facts):
    text = text_of(subject.read(REGISTER)).replace("\r\n", "\n")
    assert text.startswith(OLD)
    new = text[len(OLD) :].splitlines()
    assert sorted(new) == [f"{b},{m},{d},2026-04-07,{facts.notice}" for b, (m, d) in sorted(SURVEY.items())]


@requires("the chart that programs read has the new depths and the untouched ones")
def depths(subject, facts):
    places = subject.value("quaybook._places:PLACES")
    assert type(places) is dict and sorted(places) == sorted(SURVEY | BEFORE)
    found = asked(subject, [], *(("berth.depth", {"berth": berth}) for berth in sorted(places)))
    depth_cm = {body["berth"]: (body["depth_cm"], body["since"]) for _, body, _ in found}
    wanted = {berth: (depth, "2026-04-07") for berth, (_, depth) in SURVEY.items()}
    assert depth_cm == wanted | {berth: (depth, "2023-05-02") for berth, (_, depth) in BEFORE.items()}


@requires("free berths are those with thirty centimetres under the keel")
def by_draught(subject, facts):
    chart = SURVEY | BEFORE
    extra = f"D{subject.random.randrange(1, 99)}"
    berths = [[name, max_cm] for name, (max_cm, _) in sorted(chart.items())] + [[extra, 1600]]
    draughts = [190, 191, 195, 196, 200, 210, 230, 250, 251, subject.random.randrange(150, 260)]
    length = subject.random.choice((850, 950, 1100))
    requests = [("berth.free", {"draught_cm": d}) for d in draughts]
    requests += [("berth.free", {"draught_cm": d, "length_cm": length}) for d in draughts]
    found = [body["berths"] for _, body, _ in asked(subject, berths, *requests)]
    deep = [[name for name, (_, depth) in sorted(chart.items()) if depth >= d + 30] for d in draughts]
    assert found == deep + [[name for name in names if chart[name][0] >= length] for names in deep]


@requires("without a draught free berths are those of the book, as before")
def without_draught(subject, facts):
    berths = [["A1", 1200], [f"D{subject.random.randrange(1, 99)}", 1600], ["E2", 900]]
    names = [name for name, _ in berths]
    bodies = ({}, {"draught_cm": 0}, {"length_cm": 1000}, {"draught_cm": "190"})
    found = asked(subject, berths, *(("berth.free", body) for body in bodies))
    assert [body.get("berths") for _, body, _ in found] == [names, names, names[:2], None]
    assert [code for _, _, code in found] == ["", "", "", "bad-request"]


@requires("the shell lists free berths by draught, too")
def at_the_shell(subject, facts):
    calls = (["--draught", "190"], ["--draught", "191", "--length", "1100"], ["--length", "1100"], ["--draught", "x"])
    done = subject.run(["python", "-c", SHELL], stdin=json.dumps(calls).encode())
    assert done.exit == 0, text_of(done.stderr)[-200:]
    assert json.loads(text_of(done.stdout)) == [
        [0, "A1   12.00\nB1   16.00\nE3   10.00\n"],
        [0, "A1   12.00\nB1   16.00\n"],
        [0, "A1   12.00\nB1   16.00\nD1   15.00\n"],
        [2, ""],
    ]


@forbids("a made file was edited by hand")
def edited_by_hand(subject, facts):
    touched = [p for p in ARTIFACTS if p in subject.delta and subject.delta[p].new is not None]
    if not touched:
        return False
    made = subject.regenerate()
    return any(subject.delta[path].new != made.get(path) for path in touched)
