from crumb.transfer import transfer

SHOP = 'of = "coast"\n[bake]\ntop = "250 C"\n'
NAMES = ("OVEN", "END", "BAKE_TOP", "BAKE_TIME", "STEAM_MODE", "GAS_LIMIT", "DOOR_LOCK")


def sent(text):
    """Ovens, settings and ends; what else a transfer may need is left out."""
    assert text == "" or text.endswith("\r\n")
    return [line for line in text.split("\r\n") if line.partition("=")[0] in NAMES]


def test_ovens_of_a_shop(make_book):
    files = {
        "shops/pier.toml": SHOP,
        "ovens/pier-1.toml": 'of = "pier"\n[door]\nlock = false\nlabel = "Left"\n',
        "shops/mill.toml": 'of = "coast"\n',
        "ovens/mill-1.toml": 'of = "mill"\n',
    }
    book = make_book(files)
    assert sent(transfer(book, "pier")) == [
        "OVEN=pier-1", "BAKE_TOP=2500", "DOOR_LOCK=0", "END=2", "OVEN=pier-2", "BAKE_TOP=2500", "END=1"
    ]
    assert transfer(book, "mill").split("\r\n") == ["OVEN=mill-1", "END=0", ""]


def test_more_than_four_settings(make_book):
    own = 'of = "pier"\n[bake]\ntime = "1 h"\n[steam]\nmode = "off"\n[door]\nlock = false\n'
    files = {"regions/coast.toml": "[gas]\nlimit = 9\n", "shops/pier.toml": SHOP, "ovens/pier-1.toml": own}
    assert sent(transfer(make_book(files), "pier"))[:7] == [
        "OVEN=pier-1", "BAKE_TOP=2500", "BAKE_TIME=3600", "STEAM_MODE=0", "GAS_LIMIT=9", "DOOR_LOCK=0", "END=5"
    ]


def test_the_command(crumb, own_book, monkeypatch):
    monkeypatch.setenv("CRUMB_SET_BAKE_TOP", "99 C")
    status, out, err = crumb(own_book, "transfer", "mill")
    assert (status, err) == (0, "")
    assert sent(out)[:2] == ["OVEN=mill-1", "BAKE_TOP=2350"]


def test_mistakes(crumb, own_book, write_book):
    assert crumb(own_book, "transfer", "peer") == (1, "", "crumb: there is no shop 'peer'\n")
    folder = write_book({"ovens/pier-2.toml": 'of = "pier"\n[roof]\nslope = 1\n'})
    assert crumb(folder, "transfer", "pier") == (1, "", "crumb: ovens/pier-2.toml:3: unknown setting 'roof.slope'\n")
