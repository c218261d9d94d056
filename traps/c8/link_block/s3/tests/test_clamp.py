from pathlib import Path

import pytest

from frond import check, parse
from frond.cli import main
from frond.errors import CheckFault, RunFault

ROOT = Path(__file__).parent.parent


def said(deeds, text):
    ((_, _, found),) = deeds(f"rule r when true do say({text});")
    return found


@pytest.mark.parametrize(("value", "expected"), [(9, 10.0), (10, 10.0), (17.5, 17.5), (26, 25.0)])
def test_clamp(deeds, value, expected):
    assert said(deeds, f"clamp({value}, 10, 25)") == expected


@pytest.mark.parametrize(("value", "expected"), [(9, False), (10, True), (25, True), (25.1, False)])
def test_is_between(deeds, value, expected):
    assert said(deeds, f"is_between({value}, 10, 25)") is expected


@pytest.mark.parametrize("name", ["clamp", "is_between"])
def test_limits(deeds, name):
    said(deeds, f"{name}(1, 3, 3)")
    with pytest.raises(RunFault, match="the limits 25 and 10 are the wrong way round"):
        said(deeds, f"{name}(1, 25, 10)")
    with pytest.raises(CheckFault, match=f"{name} takes 3 arguments, not 2"):
        check(parse(f"let a = {name}(1, 2);"))


def test_people_find_them(capsys):
    main(["functions"])
    assert "held between the second and the third." in capsys.readouterr().out
    assert "| `clamp` | 3 | number |" in (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    assert "is_between 3" in (ROOT / "editors" / "frond.words").read_text(encoding="utf-8").splitlines()
