"""The emitting code is changed, both files are made by it under the season's edition, and lists may end in a comma."""

import json
import re

from oracles.contract import forbids, requires, same

ARTIFACTS = ("src/frond/_parser.py", "docs/grammar.md")
HEADER = re.compile(r"edition: (\S+)")
EDITION = re.compile(rb'^EDITION = ".*"$', re.MULTILINE)

SHOW = """
import json, sys
from frond import FrondError, parse, render
done = []
for source in json.load(sys.stdin):
    try:
        done.append([render(parse(source)), ""])
    except FrondError as error:
        done.append(["", str(error)])
json.dump(done, sys.stdout)
"""

PLAN = """
import json, sys
from frond import FrondError, compile_program, parse, run
from frond.plan import dumps
plan = compile_program(parse(sys.stdin.read()))
deeds = [[d.rule, d.action, list(d.arguments)] for d in run(plan, {"air": 30.0, "rain": False})]
json.dump([json.loads(dumps(plan)), deeds], sys.stdout)
"""

BEGINNINGS = "a number, a text, 'true', 'false', '(' or a name"


def text_of(data):
    return (data or b"").decode("utf-8", "replace")


def body(data):
    """The file without what names the edition."""
    return EDITION.sub(b"EDITION", (data or b"").partition(b"\n")[2])


def stamp_of(data):
    found = HEADER.search(text_of(data).partition("\n")[0])
    return found.group(1) if found else None


def script(subject, source, stdin):
    done = subject.run(["python", "-c", source], stdin=stdin.encode())
    assert done.exit == 0, text_of(done.stderr)[-200:]
    return json.loads(text_of(done.stdout))


def shown(subject, *sources):
    """For each program its usual form and "", or "" and what is wrong."""
    return script(subject, SHOW, json.dumps(sources))


def names(subject, count):
    return subject.random.sample(("roof", "screen", "lamp", "valve", "fan", "mist", "shade"), count)


@requires("the made files are what the changed generator makes of the grammar")
def made_by_the_generator(subject, facts):
    made = subject.regenerate()
    assert sorted(made) == sorted(ARTIFACTS)
    for path in ARTIFACTS:
        assert body(made[path]) == body(subject.read(path))
    parser, reference = (text_of(made[path]) for path in ARTIFACTS)
    assert "class Parser(Engine):" in parser
    assert reference.count('{ "," expression } [ "," ] ] ")" ;') == 2
    assert 'action { "," action } [ "," ] ";" ;' in reference


@requires("both made files, and the plans, bear the edition of the season")
def season_edition(subject, facts):
    for path in ARTIFACTS:
        assert stamp_of(subject.read(path)) == facts.edition
    assert same(subject.value("frond._parser:EDITION"), facts.edition)
    plan, _ = script(subject, PLAN, "let a = 1;")
    assert same(plan["edition"], facts.edition)


@requires("each kind of list may end in a comma")
def comma_at_the_end(subject, facts):
    one, two, three = names(subject, 3)
    number = str(subject.random.randrange(2, 900))
    calls = f"max({number}, min(air, {number}))"
    found = shown(
        subject,
        f"rule {one} when rain do {two}(), {three}(),;",
        f"rule {one} when rain do {two}({number}, -air,), {three}(not rain,),;",
        f"let {one} = max({number}, min(air, {number},),);",
        f"rule {one} when rain do {two}({calls}), # {three}(),\n;",
    )
    assert found == [
        [f"rule {one} when rain do {two}(), {three}();\n", ""],
        [f"rule {one} when rain do {two}({number}, -air), {three}(not rain);\n", ""],
        [f"let {one} = {calls};\n", ""],
        [f"rule {one} when rain do {two}({calls});\n", ""],
    ]


@requires("a lone comma and two commas stay wrong, and the parser says what can come")
def faults(subject, facts):
    one, two = names(subject, 2)
    at = len(one)
    found = shown(
        subject,
        f"let {one} = max(,);",
        f"let {one} = max(1,,2);",
        f"rule {one} when rain do ,;",
        f"rule {one} when rain do {two}(),,;",
        f"let {one} = ;",
        f"let {one} = 1 + ;",
        f"let {one} = 1",
    )
    assert found == [
        ["", f"1:{at + 12}: expected ')', found ,"],
        ["", f"1:{at + 14}: expected ')', found ,"],
        ["", f"1:{at + 20}: expected a name, found ,"],
        ["", f"1:{at + len(two) + 23}: expected ';', found ,"],
        ["", f"1:{at + 8}: expected {BEGINNINGS}, found ;"],
        ["", f"1:{at + 12}: expected {BEGINNINGS}, found ;"],
        ["", f"1:{at + 9}: expected ';', found the end"],
    ]


@requires("programs without such commas mean what they meant")
def same_meaning(subject, facts):
    one, two = names(subject, 2)
    number = subject.random.randrange(2, 20)
    source = f'let warm = {number};\nrule {one} when air > warm and not rain do {two}("x", max(1, warm), -air);\n'
    assert shown(subject, source) == [[source, ""]]
    plan, deeds = script(subject, PLAN, source)
    assert same(plan["grammar"], 4)
    assert same(deeds, [[one, two, ["x", float(number), -30.0]]])
    links = [step[1] for _, steps in plan["parts"] for step in steps if step[0] == "call"]
    assert same(links, ["core/max"])


@forbids("a made file was edited by hand")
def edited_by_hand(subject, facts):
    touched = [p for p in ARTIFACTS if p in subject.delta and subject.delta[p].new is not None]
    if not touched:
        return False
    made = subject.regenerate()
    return any(body(subject.delta[path].new) != body(made.get(path)) for path in touched)
