import pytest

from frond import compile_program, parse
from frond.cli import main
from frond.plan import listing

ROOF = 'let warm = 24;\nrule vent when air > warm do open("roof");\n'
LISTING = """\
let warm
    push 24.0
rule vent
    load air
    load warm
    >
    guard
    push "roof"
    act open 1
"""


def test_a_listing():
    assert listing(compile_program(parse(ROOF))) == LISTING
    assert listing(compile_program(parse(""))) == ""


@pytest.mark.parametrize(
    ("expression", "lines"),
    [
        ("true", ["push true"]),
        ("-x", ["load x", "neg"]),
        ("min(1, 2)", ["push 1.0", "push 2.0", "call core/min 2"]),
        ('"min"', ['push "min"']),
    ],
)
def test_instructions(expression, lines):
    found = listing(compile_program(parse(f"let a = {expression};"))).splitlines()
    assert found == ["let a", *(f"    {line}" for line in lines)]


def test_the_option(tmp_path, capsys):
    (tmp_path / "roof.frond").write_text(ROOF)
    assert main(["compile", str(tmp_path / "roof.frond"), "--listing"]) == 0
    assert capsys.readouterr().out == LISTING
    assert main(["compile", str(tmp_path / "roof.frond")]) == 0
    assert capsys.readouterr().out.startswith('{"format": 1')
