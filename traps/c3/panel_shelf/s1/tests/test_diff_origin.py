from crumb.compare import differences
from crumb.resolve import resolve
from crumb.views.diff import diff


def test_five_columns(crumb, own_book):
    assert crumb(own_book, "diff", "pier-1", "pier-2", "--origin")[1].splitlines() == [
        "bake.top   228 C      ovens/pier-1.toml  235 C  company.toml",
        "bake.time  20 m 30 s  ovens/pier-1.toml  22 m   default",
    ]


def test_three_without_it(crumb, own_book, make_book):
    assert crumb(own_book, "diff", "pier-1", "pier-2")[1].count(".toml") == 0
    book = make_book({"ovens/pier-1.toml": 'of = "pier"\n[door]\nlock = false\n'})
    found = differences(*(resolve(book.schema, book.layers(oven)) for oven in ("pier-1", "pier-2")))
    assert diff(found) == diff(found, origin=False) == ["door.lock  off  on"]
    assert diff(found, origin=True) == ["door.lock  off  ovens/pier-1.toml  on  default"]


def test_no_difference(crumb, own_book):
    assert crumb(own_book, "diff", "pier-1", "pier-1", "--origin") == (0, "", "")
