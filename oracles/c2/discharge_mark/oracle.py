"""Plans that drain have the mark of the card that still stands in their head; all other plans look as they did."""

import json

from oracles.contract import forbids, requires, same

OTHERS = ("first", "second", "fourth", "fifth", "dike", "load")

SERVE = """
import contextlib, io, json, pathlib, sys
from frond import FrondError
from frond.cli import main
from frond.plan import dumps, loads
said = []
for do, text in json.load(sys.stdin):
    if do == "loads":
        try:
            plan = loads(text)
            said.append([plan.discharge, dumps(plan)])
        except FrondError as fault:
            said.append([type(fault).__name__, str(fault)])
        continue
    pathlib.Path("house.frond").write_text(text, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([do, "house.frond"])
    said.append([status, out.getvalue() + err.getvalue()])
json.dump(said, sys.stdout)
"""


def served(subject, *steps):
    """Each step is (command, program) or ("loads", plan); [exit status, all output] or [discharge, plan] of each."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    said = json.loads(done.stdout.decode("utf-8", "replace"))
    assert len(said) == len(steps)
    return said


def wet(subject):
    """A drawn program with two rules that drain around one that does not, and the names of the two."""
    one, two = subject.random.sample(("flush", "night", "rinse", "salt", "tray"), 2)
    level = subject.random.randrange(2, 90)
    text = f'rule {one} when ec > {level} do note("ec"), drain("all", {level});\n'
    text += f'rule vent when air > {level} do open("drain");\nrule {two} when wet do drain();\n'
    return text, [one, two]


def dry(subject):
    """A drawn program that lets no water out, and its plan to the byte."""
    level, name = subject.random.randrange(2, 90), subject.random.choice(("vent", "drain", "lamp"))
    text = f'let warm = {level};\nrule {name} when air > warm do open("drain");\n'
    steps = f'["load", "air"], ["load", "warm"], [">"], ["guard"], ["push", "drain"], ["act", "open", 1]'
    parts = f'  ["", [["push", {level}.0], ["store", "warm"]]],\n  ["{name}", [{steps}]]'
    return text, f'{{"format": 1, "grammar": 4, "edition": "local", "parts": [\n{parts}\n]}}\n'


@requires("a plan that drains has the mark that still stands in its head, behind the edition")
def mark_that_stands(subject, facts):
    text, _ = wet(subject)
    ((status, plan),) = served(subject, ("compile", text))
    assert status == 0
    head = json.loads(plan)
    assert list(head) == ["format", "grammar", "edition", "discharge", "parts"]
    assert same(head["discharge"], facts.third)
    (found,) = served(subject, ("loads", plan))
    assert found == [facts.third, plan]


@requires("a plan that lets no water out is the same to the byte")
def others_as_they_were(subject, facts):
    text, plan = dry(subject)
    found = served(subject, ("compile", text), ("loads", plan), ("check", text))
    assert found == [[0, plan], ["", plan], [0, "ok; readings: air\n"]]


@requires("plans of other makers are read with the mark that they bear, and refused without one")
def plans_of_others(subject, facts):
    text, _ = wet(subject)
    head = json.loads(served(subject, ("compile", text))[0][1])
    bare = {name: value for name, value in head.items() if name != "discharge"}
    other = f"year {subject.random.randrange(1990, 2020)}"
    found = served(
        subject,
        ("loads", json.dumps(bare | {"discharge": other})),
        ("loads", json.dumps(bare)),
        ("loads", json.dumps(bare | {"discharge": ""})),
        ("loads", json.dumps(bare | {"discharge": [other]})),
        ("loads", json.dumps(bare | {"parts": bare["parts"][1:2], "discharge": other})),
    )
    assert [first for first, _ in found] == [other, *["FrondError"] * 3, other]
    missing = "a plan that drains bears no discharge mark"
    assert [text for _, text in found[1:4]] == [missing, missing, "this is no plan"]


@requires("the check says which rules drain")
def check_says_which(subject, facts):
    text, names = wet(subject)
    found = served(subject, ("check", text), ("check", text + "rule r when sqrt(1) > 2 do drain();\n"))
    assert found[0] == [0, f"ok; readings: air, ec, wet\ndrains: {', '.join(names)}\n"]
    assert found[1][0] == 2 and "there is no function sqrt" in found[1][1]


@requires("listings, runs and the usual form are not concerned")
def the_rest(subject, facts):
    text, names = wet(subject)
    assert served(subject, ("show", text)) == [[0, text]]
    done = subject.run(["python", "-m", "frond", "compile", "house.frond", "--listing"])
    assert done.exit == 0
    assert [line for line in done.stdout.decode().splitlines() if line[:1] != " "] == [
        f"rule {name}" for name in (names[0], "vent", names[1])
    ]
    done = subject.run(["python", "-m", "frond", "run", "house.frond", "ec=1", "air=99", "wet=true"])
    assert done.stdout.decode() == f'vent: open("drain")\n{names[1]}: drain()\n'


@forbids("a mark that was called in, or is for other water or for lamps, is used")
def mark_of_another(subject, facts):
    return any(subject.mentions(facts[name]) for name in OTHERS)
