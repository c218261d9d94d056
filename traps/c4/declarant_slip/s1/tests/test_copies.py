import pytest

from parcels.cli import main

TO = "Ada Brandt; Hafenweg 3; 20457; Hamburg"


@pytest.fixture
def parcels(tmp_path, capsys):
    def run(*words):
        status = main(["--db", str(tmp_path / "desk.db"), *words])
        return status, capsys.readouterr().out

    return run


@pytest.fixture
def numbers(parcels):
    return [parcels("register", "--to", TO, "--weight", "1 kg")[1].split()[0] for _ in range(2)]


def test_each_label_comes_several_times(parcels, numbers):
    first, second = (parcels("label", number)[1] for number in numbers)
    assert first != second
    status, text = parcels("label", *numbers, "--copies", "2")
    assert (status, text.split("\f")) == (0, [first, first, second, second])
    assert parcels("label", numbers[1], "--copies", "1") == (0, second)


@pytest.mark.parametrize("copies", ["0", "-1", "10", "two", "1.5"])
def test_other_copies_are_wrong_usage(parcels, numbers, copies):
    with pytest.raises(SystemExit) as stop:
        parcels("label", numbers[0], "--copies", copies)
    assert stop.value.code == 2


def test_the_sheet_of_the_desk(desk):
    from datetime import date

    number = desk.register(TO, "1 kg", date(2026, 8, 3)).number
    assert desk.sheet([number], copies=3).split("\f") == [desk.label(number)] * 3
    assert desk.sheet([number]) == desk.label(number)
