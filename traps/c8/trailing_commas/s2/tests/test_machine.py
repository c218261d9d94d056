import pytest

from frond import Plan, run
from frond.errors import RunFault


def value(deeds, text, **readings):
    ((_, _, found),) = deeds(f"rule r when true do say({text});", **readings)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4 / 2", 5.0),
        ("-(2 - 5)", 3.0),
        ("1 < 2 and not 2 <= 1", True),
        ("false or 3 != 3", False),
        ('"a" == "a"', True),
        ("min(3, 1, 2) + max(1, 2)", 3.0),
        ("mean(1, 2, 6)", 3.0),
        ("round(2.5) + round(-2.5)", 0.0),
        ("abs(-4)", 4.0),
        ("is_night(5)", True),
        ("is_night(6)", False),
    ],
)
def test_expressions(deeds, text, expected):
    found = value(deeds, text)
    assert found == expected
    assert type(found) is type(expected)


def test_climate(deeds):
    assert value(deeds, "dew_point(20, 100)") == pytest.approx(20)
    assert value(deeds, "dew_point(20, 50)") == pytest.approx(9.26, abs=0.01)
    assert value(deeds, "deficit(25, 60)") == pytest.approx(1.265, abs=0.005)


def test_rules_in_order_and_only_when_true(deeds):
    source = "let w = 24; rule a when air > w do open(air); rule b when rain do shut(); rule c when not rain do x(), y();"
    assert deeds(source, air=25.0, rain=False) == [("a", "open", 25.0), ("c", "x"), ("c", "y")]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("let a = b;", "in the definition of a: there is no reading b"),
        ("let a = 1 / 0;", "in the definition of a: division by zero"),
        ('let a = 1 + "x";', "in the definition of a: 'x' is no number"),
        ("let a = true < false;", "in the definition of a: True is no number"),
        ("rule r when 1 do x();", "in rule r: 1.0 is neither true nor false"),
        ("let a = 1 and true;", "in the definition of a: 1.0 is neither true nor false"),
        ("let a = abs(true);", "in the definition of a: True is no number"),
        ("let a = dew_point(20, 0);", "in the definition of a: a relative humidity of 0 % cannot be"),
    ],
)
def test_values_that_do_not_fit(deeds, source, message):
    with pytest.raises(RunFault) as caught:
        deeds(source)
    assert str(caught.value) == message


def test_foreign_instructions():
    with pytest.raises(RunFault, match="in a definition: no function has the link name a/b"):
        run(Plan(4, "x", (("", (("call", "a/b", 0),)),)), {})
    with pytest.raises(RunFault, match="in a definition: the machine does not know fly"):
        run(Plan(4, "x", (("", (("push", 1.0), ("push", 1.0), ("fly",))),)), {})
