import json

import pytest

from frond import FrondError, compile_program, parse
from frond.plan import dumps, loads

EVERYTHING = """
let a = -(1 + 2 - 3 * 4 / 5);
rule r when not (a < 1 or a <= 1) and a > 1 and a >= 1 and a == 1 and a != max(1, air) do go("x", true), stop();
"""


def plan(*parts):
    return json.dumps({"format": 1, "grammar": 4, "edition": "x", "parts": parts})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([["r", [["fly"]]]], "part 1: fly is no instruction"),
        ([["", [["push", 1], ["store", "a"]]], ["r", [["load", "a"], ["Guard"]]]], "part 2: Guard is no instruction"),
        ([["r", [["call", "core/min"]]]], "part 1: call takes 2 operands, not 1"),
        ([["r", [["push"]]]], "part 1: push takes 1 operands, not 0"),
        ([["r", [["guard", True]]]], "part 1: guard takes 0 operands, not 1"),
        ([["r", [["+", 1, 2]]]], "part 1: + takes 0 operands, not 2"),
        ([["r", [[]]]], "this is no plan"),
        ([["r", 5]], "this is no plan"),
    ],
)
def test_refused(parts, message):
    with pytest.raises(FrondError) as caught:
        loads(plan(*parts))
    assert str(caught.value) == message


def test_everything_that_the_compiler_makes():
    made = compile_program(parse(EVERYTHING))
    assert loads(dumps(made)) == made
