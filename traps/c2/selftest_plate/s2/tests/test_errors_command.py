import pytest

from wirespec.cli import main
from wirespec.errors import describe_error, error_for_code


def test_a_line_for_a_row():
    assert describe_error(error_for_code(2)) == (
        "2 bad_checksum (worth a retry): The checksum does not match."
    )
    assert describe_error(error_for_code(1)) == (
        "1 bad_magic: The frame does not start with the magic number."
    )


def test_all_rows(capsys):
    assert main(["errors"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [str(number) for number in range(1, len(lines) + 1)]


@pytest.mark.parametrize("code", ["4", "E4", "e4"])
def test_one_row(code, capsys):
    assert main(["errors", code]) == 0
    assert capsys.readouterr().out == "4 trailing_bytes: Bytes are left after the last field.\n"


@pytest.mark.parametrize("code", ["99", "E0", "four"])
def test_unknown_code(code, capsys):
    assert main(["errors", code]) == 2
    assert capsys.readouterr().err == f"no error has the code {code}\n"
