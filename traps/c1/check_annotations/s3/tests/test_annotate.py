import pytest

from crumb.check import Problem
from crumb.views.annotate import annotate

FILES = {
    "company.toml": '[door]\nlabel = "Oven"\n',
    "regions/coast.toml": "[gas]\nlimit = 99\n",
}


def behind_the_matcher(lines):
    """The rest of each line; what stands in front is the same in all of them."""
    parts = [line.partition(" ") for line in lines]
    assert len({first for first, _, _ in parts}) <= 1
    return [rest for _, _, rest in parts]


def test_severity_place_message():
    problems = [
        Problem("a.toml", 3, "error", "50% rye"),
        Problem("b.toml", 0, "warning", "idle"),
    ]
    assert behind_the_matcher(annotate(problems)) == ["error a.toml:3 50%25 rye", "warning b.toml idle"]
    assert annotate([]) == []


@pytest.mark.parametrize(("count", "last"), [(10, "error a.toml:10 m"), (13, "notice a.toml 3 more")])
def test_ten_a_file(count, last):
    problems = [Problem("a.toml", n, "error", "m") for n in range(1, count + 1)]
    lines = behind_the_matcher(annotate([*problems, Problem("b.toml", 1, "error", "m")]))
    assert lines[-2:] == [last, "error b.toml:1 m"]
    assert len(lines) == min(count, 11) + 1


def test_the_command(crumb, write_book):
    folder = write_book(FILES)
    status, out, _ = crumb(folder, "check", "--annotate")
    assert status == 1
    assert behind_the_matcher(out.splitlines()) == [
        "warning company.toml:2 door.label repeats the default",
        "error regions/coast.toml:2 gas.limit: 99 is above 40",
    ]


def test_errors_only(crumb, write_book):
    folder = write_book(FILES)
    plain = "regions/coast.toml:2: error: gas.limit: 99 is above 40\n"
    assert crumb(folder, "check", "--errors-only") == (1, plain, "")
    assert crumb(folder, "check", "--errors-only", "--annotate")[1].count("\n") == 1
    folder = write_book({**FILES, "regions/coast.toml": ""})
    assert crumb(folder, "check", "--errors-only") == (0, "", "")
    assert crumb(folder, "check")[0] == 1
