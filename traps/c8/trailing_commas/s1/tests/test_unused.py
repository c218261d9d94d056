import pytest

from frond import parse
from frond.check import unused
from frond.cli import main


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("", []),
        ("let a = 1;", ["a"]),
        ("let b = 1; let a = 2; rule r when true do go(a);", ["b"]),
        ("let z = 1; let a = 2; rule r when air > 1 do go();", ["z", "a"]),
        ("let a = 1; let b = a; rule r when true do go();", ["b"]),
        ("let a = 1; let b = abs(a) + 2; rule r when not (b == 2) do go();", []),
    ],
)
def test_names(source, names):
    assert unused(parse(source)) == names


def test_the_command(tmp_path, capsys):
    file = tmp_path / "five.frond"
    file.write_text("let old = 1; let warm = 20; let spare = 2; rule r when air > warm do go();")
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == "ok; readings: air\nunused: old, spare\n"


def test_the_command_with_nothing_to_say(tmp_path, capsys):
    file = tmp_path / "six.frond"
    file.write_text("rule r when air > 1 do go();")
    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == "ok; readings: air\n"
