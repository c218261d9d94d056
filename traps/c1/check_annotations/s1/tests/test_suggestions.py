import pytest

from crumb.check import check
from crumb.errors import LayerError
from crumb.resolve import resolve


def oven(text):
    return {"ovens/pier-1.toml": 'of = "pier"\n' + text}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[bake]\ntpo = "1 C"\n', "unknown setting 'bake.tpo'; did you mean bake.top?"),
        ('[door]\nlabels = "x"\n', "unknown setting 'door.labels'; did you mean door.label?"),
        ("[roof]\nslope = 1\n", "unknown setting 'roof.slope'"),
    ],
)
def test_the_closest_name(make_book, text, message):
    book = make_book(oven(text))
    assert [str(problem) for problem in check(book)] == [f"ovens/pier-1.toml:3: error: {message}"]
    with pytest.raises(LayerError) as caught:
        resolve(book.schema, book.layers("pier-1"))
    assert caught.value.message == message
