from crumb.layers import Layer
from crumb.resolve import Step, resolve
from crumb.views.explain import explain


def test_lines(crumb, own_book):
    _, out, _ = crumb(own_book, "explain", "pier-1", "bake.top", "--lines")
    assert out.splitlines() == [
        "bake.top: heat from above",
        "  default              230 C",
        "  company.toml:2       235 C",
        "  ovens/pier-1.toml:4  228 C",
    ]


def test_without_the_option(crumb, own_book):
    assert "  company.toml       235 C" in crumb(own_book, "explain", "pier-1", "bake.top")[1].splitlines()


def test_what_has_no_line(crumb, own_book, make_book):
    _, out, _ = crumb(own_book, "explain", "pier-2", "bake.time", "--lines", "--set", "bake.time=1 h")
    assert out.splitlines()[1:] == ["  default  22 m", "  --set    1 h"]
    book = make_book()
    found = resolve(book.schema, [Layer("oven", "x.toml", {"bake.top": "99 C"})])[0]
    assert found.steps == (Step("oven", "x.toml", 99),)
    assert explain(found, lines=True)[-1] == "  x.toml   99 C"
