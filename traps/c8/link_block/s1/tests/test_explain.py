from frond._functions import FUNCTIONS
from frond.cli import main


def test_in_the_order_asked_for(capsys):
    assert main(["functions", "deficit", "min", "is_night"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "deficit: 2 arguments, a number",
        "    Vapour pressure deficit in kPa from air temperature and relative humidity.",
        "min: 2 or more arguments, a number",
        "    The smallest argument.",
        "is_night: 1 argument, a truth",
        "    Whether the hour lies before 6 or from 22 on.",
    ]


def test_an_unknown_name(capsys):
    assert main(["functions", "min", "deficits"]) == 2
    assert capsys.readouterr() == ("", "there is no function deficits\n")


def test_the_list_stays(capsys):
    assert main(["functions"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(FUNCTIONS)
