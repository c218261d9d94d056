import csv
import io
import re
from pathlib import Path

import pytest

from parcels import export
from parcels.errors import InvalidInput
from parcels.labels import render_label

SPELLED = r"[0-9A-F]{4} [0-9A-F]{4} [0-9A-F]{4} \d\d"
SLIP = Path(__file__).parents[1] / "forms" / "customs-slip.txt"


def test_spelled():
    from parcels.numbers import spelled

    assert spelled("no-0a1b2c3d4e5f") == "0A1B 2C3D 4E5F 19"
    assert spelled("number-000000000005") == "0000 0000 0005 05"


@pytest.mark.parametrize("text", ["0a1b2c3d4e5f", "no-0a1b2c3d4e5", "no-0a1b2c3d4e5g", "no 0a1b2c3d4e5f", ""])
def test_what_cannot_be_spelled(text):
    from parcels.numbers import spelled

    with pytest.raises(InvalidInput):
        spelled(text)


def test_the_list_has_a_column(make_parcel):
    stream = io.StringIO()
    export.write("customs", [make_parcel(1, "CH"), make_parcel(2, "NO")], stream)
    first, second = csv.DictReader(io.StringIO(stream.getvalue()), delimiter=";")
    assert list(first)[-1] == "declarant"
    assert first["declarant"] == second["declarant"] != ""


@pytest.mark.parametrize("width", [24, 40])
def test_labels_that_leave_the_union(make_parcel, width):
    lines = render_label(make_parcel(1, "CH", reference="A-17"), width).splitlines()
    assert {len(line) for line in lines} == {width}
    assert lines[-3][2:-2].rstrip() == "Ref A-17"
    assert re.fullmatch(f"CD {SPELLED}", lines[-2][2:-2].rstrip())
    assert "CD " not in render_label(make_parcel(1, "FR"), width)


def test_the_slip_is_filled_in():
    lines = SLIP.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 12
    assert re.fullmatch(f"Declarant   {SPELLED}", lines[7])
