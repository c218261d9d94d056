import re

import pytest

from crumb.fingerprint import fingerprint
from crumb.resolve import resolve

FILES = {"ovens/pier-2.toml": 'of = "pier"\n[door]\nlabel = "Größe"\n'}


def of(book, oven):
    return fingerprint(resolve(book.schema, book.layers(oven)))


def test_sixteen_digits_that_depend_on_the_values(make_book):
    book = make_book(FILES)
    one, two = of(book, "pier-1"), of(book, "pier-2")
    assert re.fullmatch("[0-9a-f]{16}", one)
    assert one != two
    assert of(book, "pier-1") == one


def test_the_order_of_the_schema_does_not_matter(make_book):
    book = make_book(FILES)
    settings = resolve(book.schema, book.layers("pier-2"))
    assert fingerprint(settings[::-1]) == fingerprint(settings)


def test_the_command(crumb, write_book):
    folder = write_book(FILES)
    status, out, _ = crumb(folder, "fingerprint", "pier-2", "pier-1")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == ["pier-2", "pier-1"]
    _, other, _ = crumb(folder, "fingerprint", "pier-2", "--set", "door.label=Oven")
    assert other.split()[1] == out.split()[3]
    assert crumb(folder, "fingerprint", "pier-1", "pier-9") == (1, "", "crumb: there is no oven 'pier-9'\n")


def test_against_a_list(crumb, write_book, tmp_path):
    folder = write_book(FILES)
    path = tmp_path / "list.txt"
    path.write_text(crumb(folder, "fingerprint", "pier-1")[1])
    words = ("fingerprint", "--against", str(path))
    assert crumb(folder, *words, "pier-1") == (0, "pier-1 same\n", "")
    assert crumb(folder, *words, "pier-2", "pier-1") == (1, "pier-2 not listed\npier-1 same\n", "")
    assert crumb(folder, *words, "pier-1", "--set", "bake.top=99 C") == (1, "pier-1 differs\n", "")


@pytest.mark.parametrize("name", ["none.txt"])
def test_a_list_that_is_not_there(crumb, write_book, name):
    done = crumb(write_book(), "fingerprint", "--against", name, "pier-1")
    assert done == (1, "", f"crumb: {name}: No such file or directory\n")
