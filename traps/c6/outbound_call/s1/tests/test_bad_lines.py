import io
import json

import pytest

from quaybook.cli import serve
from quaybook.wire import id_of


def answers(harbour, *lines):
    out = io.StringIO()
    serve(harbour, [f"{line}\n" for line in lines], out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_line_after_a_torn_one_is_answered(harbour):
    torn, good = answers(harbour, '{"id": "a", "ve', '{"id": "b", "verb": "stay.list"}')
    assert torn == {"id": "", "ok": False, "code": "bad-request", "message": "not a line of JSON"}
    assert good == {"id": "b", "ok": True, "body": {"stays": []}}


def test_the_id_comes_back_where_there_is_one(harbour):
    (one,) = answers(harbour, '{"id": "c", "verb": 5}')
    assert (one["id"], one["code"]) == ("c", "bad-request")


@pytest.mark.parametrize(
    ("line", "found"),
    [('{"id": "x"}', "x"), ('{"id": 5}', ""), ("[1]", ""), ("nonsense", ""), ("", ""), ('"id"', "")],
)
def test_the_id_of_a_line(line, found):
    assert id_of(line) == found
