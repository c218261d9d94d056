import pytest

FILES = {
    "regions/hills.toml": "",
    "regions/plain.toml": "",
    "shops/mill.toml": 'of = "hills"\n',
    "shops/quay.toml": 'of = "coast"\n',
    "ovens/mill-1.toml": 'of = "mill"\n',
    "ovens/quay-1.toml": 'of = "quay"\n',
}


@pytest.mark.parametrize(
    ("words", "ovens"),
    [
        ((), ["mill-1", "pier-1", "pier-2", "quay-1"]),
        (("--shop", "pier"), ["pier-1", "pier-2"]),
        (("--region", "coast"), ["pier-1", "pier-2", "quay-1"]),
        (("--region", "coast", "--shop", "quay"), ["quay-1"]),
        (("--region", "hills", "--shop", "quay"), []),
        (("--region", "plain"), []),
    ],
)
def test_ovens_of_a_place(crumb, write_book, words, ovens):
    status, out, _ = crumb(write_book(FILES), "ovens", *words)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == ovens


@pytest.mark.parametrize("level", ["shop", "region"])
def test_a_place_that_is_not_there(crumb, write_book, level):
    done = crumb(write_book(FILES), "ovens", f"--{level}", "peer")
    assert done == (1, "", f"crumb: there is no {level} 'peer'\n")
