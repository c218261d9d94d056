"""What `colalign` takes and refuses."""

import pytest

from tabulate import tabulate

ROWS = [["oak", 36], ["hornbeam", 41]]


def lines(**kwargs):
    return tabulate(ROWS, tablefmt="plain", **kwargs).splitlines()


def test_surplus_is_ignored():
    assert lines(colalign=["right", "left", "right"]) == lines(colalign=["right", "left"])
    assert tabulate([], headers=["a"], colalign=["left", "left"]).splitlines()[0] == "a"


@pytest.mark.parametrize(
    ("colalign", "number", "word"),
    [(["left", "centre"], 2, "centre"), (["middle"], 1, "middle"), (["left", "left", "Left"], 3, "Left"), ([1], 1, 1)],
)
def test_no_alignment(colalign, number, word):
    with pytest.raises(ValueError) as caught:
        lines(colalign=colalign)
    assert str(caught.value) == f"colalign: column {number}: {word!r} is no alignment"


@pytest.mark.parametrize("colalign", ["right", "left right"])
def test_a_single_text(colalign):
    with pytest.raises(ValueError) as caught:
        lines(colalign=colalign)
    assert str(caught.value) == "colalign is a list with one alignment for each column"


def test_alignments():
    assert lines(colalign=("right", "center")) == ["     oak  36", "hornbeam  41"]
    assert lines(colalign=iter([None, "decimal"])) == lines(colalign=[None, "decimal"])
