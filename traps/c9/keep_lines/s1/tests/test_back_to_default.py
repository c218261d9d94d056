import pytest

from crumb.errors import LayerError
from crumb.overrides import from_arguments, from_environment
from crumb.resolve import resolve

LAYERS = {
    "regions/coast.toml": "[gas]\nlimit = 9\n",
    "shops/pier.toml": 'of = "coast"\n[bake]\ntop = "250 C"\ntime = "1 h"\n[steam]\nmode = "off"\n'
    '[door]\nlock = false\nlabel = "Pier"\n',
}


@pytest.mark.parametrize("name", ["bake.top", "bake.time", "steam.mode", "gas.limit", "door.lock", "door.label"])
def test_every_kind(make_book, name):
    book = make_book(LAYERS)
    layers = [*book.layers("pier-1"), from_arguments(book.schema, [f"{name}=default"])]
    found = next(each for each in resolve(book.schema, layers) if each.setting.name == name)
    assert (found.value, found.origin) == (found.setting.default, "--set")
    assert len(found.steps) == 2


def test_the_environment(make_book):
    book = make_book(LAYERS)
    layer = from_environment(book.schema, {"CRUMB_SET_GAS_LIMIT": "default"})
    gas = next(each for each in resolve(book.schema, [*book.layers("pier-1"), layer]) if each.setting.name == "gas.limit")
    assert (gas.value, gas.origin) == (24, "environment")


@pytest.mark.parametrize("argument", ["bake.up=default", "bake.top=Default", "bake.top=defaults"])
def test_still_wrong(make_book, argument):
    with pytest.raises(LayerError):
        from_arguments(make_book().schema, [argument])
