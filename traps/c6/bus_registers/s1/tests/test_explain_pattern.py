import pytest


def test_a_group(crumb, own_book):
    status, out, _ = crumb(own_book, "explain", "pier-1", "bake.*")
    parts = out.split("\n\n")
    assert status == 0
    assert [part.split(":")[0] for part in parts] == ["bake.top", "bake.bottom", "bake.time"]
    assert parts[1] == "bake.bottom: heat from below\n  default  210 C"
    assert out.endswith("  ovens/pier-1.toml  20 m 30 s\n")


def test_question_marks_and_overrides(crumb, own_book):
    _, out, _ = crumb(own_book, "explain", "pier-1", "*.to?", "--set", "bake.top=99 C")
    assert out.splitlines()[-1].split() == ["--set", "99", "C"]
    assert out.count(":") == 1


def test_one_name(crumb, own_book):
    assert crumb(own_book, "explain", "pier-2", "gas.limit")[1].splitlines()[0] == "gas.limit: connected load in kW"


@pytest.mark.parametrize("name", ["bke.*", "BAKE.*", "bake"])
def test_nothing_fits(crumb, own_book, name):
    assert crumb(own_book, "explain", "pier-1", name) == (1, "", f"crumb: there is no setting {name!r}\n")
