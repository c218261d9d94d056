from crumb.check import check


def said(book):
    return [str(problem) for problem in check(book)]


def oven(label, shop="pier"):
    return f'of = "{shop}"\n[door]\nlabel = "{label}"\n'


def test_two_doors(make_book):
    files = {"ovens/pier-1.toml": oven("Left"), "ovens/pier-2.toml": oven("Left")}
    assert said(make_book(files)) == ["ovens/pier-2.toml: warning: the label 'Left' stands on pier-1, too"]


def test_label_of_the_shop(make_book):
    files = {"shops/pier.toml": 'of = "coast"\n[door]\nlabel = "Pier"\n', "ovens/pier-1.toml": oven("Pier")}
    assert said(make_book(files)) == []


def test_three_doors(make_book):
    files = {f"ovens/pier-{number}.toml": oven("Left") for number in (1, 2, 3)}
    assert said(make_book(files)) == [
        "ovens/pier-2.toml: warning: the label 'Left' stands on pier-1, too",
        "ovens/pier-3.toml: warning: the label 'Left' stands on pier-1, too",
    ]


def test_defaults_and_other_shops(make_book):
    files = {"shops/quay.toml": 'of = "coast"\n', "ovens/quay-1.toml": oven("Left", "quay"), "ovens/pier-1.toml": oven("Left")}
    assert said(make_book(files)) == []
    assert said(make_book()) == []


def test_what_cannot_be_compared(make_book):
    files = {"ovens/pier-1.toml": oven("Left") + "[roof]\nslope = 1\n", "ovens/pier-2.toml": oven("Left")}
    assert [line for line in said(make_book(files)) if "warning" in line] == []
    assert said(make_book(schema='[gas.limit]\nkind = "number"\ndefault = 1\n')) == []
