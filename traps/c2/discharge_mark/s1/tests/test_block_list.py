from frond.cli import main


def test_one_block(capsys):
    assert main(["functions", "--block", "climate"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["dew_point", "deficit", "is_night"]
    assert lines[2] == "is_night   Whether the hour lies before 6 or from 22 on."


def test_names_line_up_among_themselves(capsys):
    assert main(["functions", "--block", "core"]) == 0
    assert capsys.readouterr().out.startswith("min    The smallest argument.\n")


def test_no_such_block(capsys):
    assert main(["functions", "--block", "clima"]) == 2
    assert capsys.readouterr() == ("", "there is no block clima\n")


def test_the_whole_list_stays(capsys):
    assert main(["functions"]) == 0
    assert capsys.readouterr().out.startswith("min        The smallest argument.\n")
