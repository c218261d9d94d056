"""Both functions are declared in the table, in the block that was reserved; names and files follow from that."""

import json

from oracles.contract import forbids, requires, same

ARTIFACTS = ("src/frond/_functions.py", "docs/functions.md", "editors/frond.words")
CLAMP = "The first argument, held between the second and the third."
BETWEEN = "Whether the first argument lies between the second and the third or on one of them."
OLD = {
    "min": "core/min",
    "max": "core/max",
    "mean": "core/mean",
    "abs": "core/abs",
    "round": "core/round",
    "dew_point": "climate/dew_point",
    "deficit": "climate/deficit",
    "is_night": "climate/is_night",
}

RUN = """
import json, sys
from frond import FrondError, compile_program, parse, run
from frond.plan import dumps
done = []
for text in json.load(sys.stdin):
    try:
        plan = compile_program(parse(f"rule r when true do say({text});"))
        said = [list(deed.arguments) for deed in run(plan, {})]
        done.append([json.loads(dumps(plan))["parts"][0][1], said, ""])
    except FrondError as error:
        done.append([[], [], error.message])
json.dump(done, sys.stdout)
"""


def text_of(data):
    return (data or b"").decode("utf-8", "replace")


def ran(subject, *texts):
    """For each expression: (link names of its plan, its value, ""), or ([], None, what is wrong)."""
    done = subject.run(["python", "-c", RUN], stdin=json.dumps(texts).encode())
    assert done.exit == 0, text_of(done.stderr)[-200:]
    found = []
    for steps, said, fault in json.loads(text_of(done.stdout)):
        found.append(([step[1] for step in steps if step[0] == "call"], said[0][0] if said else None, fault))
    assert len(found) == len(texts)
    return found


def limits(subject):
    """Two drawn limits in order, and a number below, between and above them."""
    low = subject.random.randrange(10, 400)
    high = low + subject.random.randrange(4, 90)
    return low, high, low - subject.random.randrange(1, 9), low + 2, high + subject.random.randrange(1, 9)


@requires("the three made files are what the table gives, and the table has both functions")
def made_from_the_table(subject, facts):
    made = subject.regenerate()
    assert sorted(made) == sorted(ARTIFACTS)
    for path in ARTIFACTS:
        assert made[path] == subject.read(path)
    module, reference, words = (text_of(made[path]) for path in ARTIFACTS)
    assert f'"{CLAMP}"' in module and f'"{BETWEEN}"' in module
    assert "| `clamp` | 3 | number |" in reference and "| `is_between` | 3 | truth |" in reference
    assert {"clamp 3", "is_between 3"} <= set(words.splitlines())


@requires("plans link both functions by names of the block that was reserved")
def reserved_names(subject, facts):
    low, high, _, middle, _ = limits(subject)
    found = ran(subject, f"clamp({middle}, {low}, {high})", f"is_between({middle}, {low}, {high})")
    assert same([links for links, _, _ in found], [[f"{facts.block}/{name}"] for name in ("clamp", "is_between")])
    heads = [line for line in text_of(subject.read("docs/functions.md")).splitlines() if line.startswith("## ")]
    assert heads == ["## Block `core`", "## Block `climate`", f"## Block `{facts.block}`"]


@requires("clamp and is_between do what the note says")
def both_work(subject, facts):
    low, high, below, middle, above = limits(subject)
    wanted = ((below, low), (low, low), (middle, middle), (high, high), (above, high))
    texts = [f"{name}({value}, {low}, {high})" for value, _ in wanted for name in ("clamp", "is_between")]
    texts += [f"clamp({below}, {low}, {low})", f"is_between({low}, {low}, {low})"]
    found = [value for _, value, _ in ran(subject, *texts)]
    expected = [answer for value, held in wanted for answer in (float(held), low <= value <= high)]
    assert same(found, [*expected, float(low), True])


@requires("limits the wrong way round are a fault that names them")
def wrong_way_round(subject, facts):
    low, high, _, middle, _ = limits(subject)
    names = ("clamp", "is_between")
    ends = (f"{middle}, {high}, {low}", f"{middle}, {low}")
    found = ran(subject, *(f"{name}({end})" for name in names for end in ends))
    turned = ([], None, f"the limits {high} and {low} are the wrong way round")
    assert found == [row for name in names for row in (turned, ([], None, f"{name} takes 3 arguments, not 2"))]


@requires("the functions of today keep their link names and their meaning")
def others_keep_their_names(subject, facts):
    number = subject.random.randrange(2, 500)
    arguments = {"min": f"{number}, 900", "max": f"{number}, 1", "mean": f"{number}, {number}"}
    arguments |= {"dew_point": "20, 100", "deficit": "20, 100", "is_night": "23"}
    found = ran(subject, *(f"{name}({arguments.get(name, number)})" for name in OLD))
    assert same([links for links, _, _ in found], [[known] for known in OLD.values()])
    assert same([value for _, value, _ in found][:5], [float(number)] * 5)
    assert same(found[-1][1], True)


@forbids("a made file was edited by hand")
def edited_by_hand(subject, facts):
    touched = [p for p in ARTIFACTS if p in subject.delta and subject.delta[p].new is not None]
    if not touched:
        return False
    made = subject.regenerate()
    return any(subject.delta[path].new != made.get(path) for path in touched)
