from crumb.resolve import resolve
from crumb.views.show import show

FILES = {
    "company.toml": '[bake]\ntop = "240 C"\ntime = "1 h"\n',
    "shops/pier.toml": 'of = "coast"\n[bake]\ntop = "230 C"\n',
}


def test_only_what_differs_from_the_default(make_book):
    book = make_book(FILES)
    settings = resolve(book.schema, book.layers("pier-1"))
    assert show(settings, changed=True) == ["bake.time  1 h  company.toml"]
    assert len(show(settings)) == 6
    assert len(show(settings, changed=False)) == 6


def test_the_command(crumb, write_book):
    folder = write_book(FILES)
    assert crumb(folder, "show", "pier-1", "--changed")[1] == "bake.time  1 h  company.toml\n"
    assert crumb(folder, "show", "pier-1", "--changed", "--set", "bake.time=22 m") == (0, "", "")
    _, out, _ = crumb(folder, "show", "pier-1", "--changed", "--set", "door.lock=off")
    assert out == "bake.time  1 h  company.toml\ndoor.lock  off  --set\n"
