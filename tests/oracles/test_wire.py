"""The wire: exact round trips, nothing else accepted, and nothing foreign that equals a plain value."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
from collections import OrderedDict, namedtuple
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.encode import type_name
from oracles.values import MAX_DEPTH, MAX_NODES, MAX_TEXT
from oracles.wire import Opaque, Raised, Record, WireError, WireLimit, dumps, loads, same

_zones = st.none() | st.builds(
    datetime.timezone,
    st.timedeltas(min_value=datetime.timedelta(hours=-23), max_value=datetime.timedelta(hours=23)),
    st.text(max_size=5),
)
_text = st.text(st.characters(), max_size=20) | st.text(st.characters(categories=["Cs"]), max_size=3)
_keys = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.integers(min_value=1 << 52), st.floats(), _text, st.binary()),
    *(st.decimals(allow_nan=False), st.dates(), st.timedeltas(), st.complex_numbers()),
    *(st.datetimes(timezones=_zones), st.times(timezones=_zones)),
    st.sampled_from([Path("a/b"), Path("."), PurePosixPath("/x"), Path("\udc80"), Decimal("-0"), Decimal("1E+999")]),
)
_hashable = st.recursive(
    _keys, lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3), max_leaves=8
)
_values = st.recursive(
    _hashable | st.decimals(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(_hashable, inner) | st.sets(_hashable),
    max_leaves=25,
)


@given(_values)
@settings(max_examples=100, deadline=None)
def test_round_trip_is_exact(value: Any) -> None:
    text = dumps(value)
    assert text.isascii()
    assert "\n" not in text
    back = loads(text)
    assert same(back, value)
    assert type(back) is type(value)
    assert dumps(back) == text


@given(st.dictionaries(_text, st.integers()))
def test_the_order_of_keys_is_kept(value: dict[str, int]) -> None:
    assert list(loads(dumps(value))) == list(value)


@given(_values, _values)
@settings(max_examples=50, deadline=None)
def test_same_is_as_exact_as_the_text(one: Any, two: Any) -> None:
    if same(one, two) and not isinstance(one, dict | list | tuple | frozenset | set):
        assert dumps(one) == dumps(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        *((1, True), (1, 1.0), (0.0, -0.0), ("1", 1), ([1], (1,)), ({1}, frozenset({1})), (b"a", "a")),
        *((Decimal("1.0"), Decimal("1.00")), ({1: 1}, {True: 1}), (Path("a"), PurePosixPath("a")), (None, False)),
        ("\ud83d\ude00", "\U0001f600"),
        (Opaque("x"), Opaque("x")),
    ],
)
def test_different_values_are_not_the_same(one: Any, two: Any) -> None:
    assert not same(one, two)


def test_equal_values_are_the_same() -> None:
    assert same(math.nan, math.nan)
    assert same({1: [2], "a": {3, 4}}, {"a": {4, 3}, 1: [2]})
    assert same(Record("P", {"a": 1}), Record("P", {"a": 1}))


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Word(str):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: Any = None
    hidden: dataclasses.InitVar[int] = 3


class Colour(enum.Enum):
    RED = "r"


class Level(enum.IntEnum):
    LOW = 1


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    "value",
    [Liar(1), Word("x"), OrderedDict(a=1), object(), int, len, iter([]), (1).__add__, bytearray(b"x"), range(3), ...],
)
def test_what_is_not_plain_is_opaque(value: Any) -> None:
    back = loads(dumps([value]))[0]
    assert isinstance(back, Opaque)
    assert back.type == type_name(type(value))
    with pytest.raises(TypeError):
        bool(back)
    with pytest.raises(TypeError):
        assert back == value
    with pytest.raises(WireError):
        dumps(value, strict=True)


@pytest.mark.parametrize(
    ("value", "record"),
    [
        (Point(1, Pair(2, [3])), Record("Point", {"x": 1, "y": Record("Pair", {"a": 2, "b": [3]})})),
        (Colour.RED, Record("Colour", {"name": "RED", "value": "r"})),
        (Level.LOW, Record("Level", {"name": "LOW", "value": 1})),
    ],
)
def test_records(value: Any, record: Record) -> None:
    back = loads(dumps(value))
    assert back == record
    assert back != 1
    assert same(back, record)


def test_records_of_other_content_differ() -> None:
    assert Record("P", {"a": 1}) != Record("P", {"a": 2})
    assert Record("P", {"a": 1}) != Record("Q", {"a": 1})


def test_no_answer_equals_nothing() -> None:
    assert Raised("ValueError", "x") == Raised("ValueError", "x")
    assert Raised("ValueError", "x") != Raised("ValueError", "y")
    died = Raised("SubjectDied", "x")
    assert died != Raised("SubjectDied", "x")
    with pytest.raises(TypeError):
        bool(died)


def test_handles_travel_by_number() -> None:
    class Remote:
        pass

    remote = Remote()
    text = dumps([remote], lambda value: 7 if value is remote else None)
    assert loads(text, lambda number: ("object", number)) == [("object", 7)]
    with pytest.raises(WireError):
        loads(text)


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_caps() -> None:
    assert loads(dumps(_nested(MAX_DEPTH))) == _nested(MAX_DEPTH)
    loop: list[Any] = []
    loop.append(loop)
    for value in (
        _nested(MAX_DEPTH + 1),
        _nested(100_000),
        loop,
        [0] * MAX_NODES,
        "x" * (MAX_TEXT + 1),
        1 << 99_999_999,
    ):
        with pytest.raises(WireLimit):
            dumps(value)
    for text in ("[1," * 100_000, "[1," + "[" * 100_000 + "]" * 100_000 + "]", "x" * (MAX_TEXT + 1)):
        with pytest.raises(WireError):
            loads(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "1", "[]", "[1]", "[2,1]", "[true,1]", "[1.0,1]", "[1,1,1]", "[1,1] x", "{}", '[1,{"a":1}]'),
        *("[1,NaN]", "[1,Infinity]", "[1,-Infinity]", "[1,1e309]", "[1,1.5]", "[1,1e5]", "[1,9007199254740992]"),
        *('[1,["x",1]]', '[1,["l",1]]', '[1,["l",[1],2]]', '[1,["l"]]', "[1,[1,2]]", "[1,[]]", '[1,["l",{"a":1}]]'),
        *('[1,["i","0x1"]]', '[1,["i","0X20000000000000"]]', '[1,["i",5]]', '[1,["i"," 0x20000000000000"]]'),
        *('[1,["f","1.0"]]', '[1,["f","1e999"]]', '[1,["f",1]]', '[1,["f","0x1p0"]]', '[1,["f","NaN"]]'),
        *('[1,["b","a"]]', '[1,["b","YQ"]]', '[1,["b","YR=="]]', '[1,["b",1]]', '[1,["b","YQ==\\n"]]'),
        *('[1,["S",[1,1]]]', '[1,["S",[1,true]]]', '[1,["S",[["l",[]]]]]', '[1,["d",[[1,2],[1,3]]]]'),
        *('[1,["d",[[1]]]]', '[1,["d",[[["l",[]],1]]]]', '[1,["d",{"a":1}]]', '[1,["s","zz"]]', '[1,["s","ff"]]'),
        *('[1,["D","x"]]', '[1,["D","1_0"]]', '[1,["D",1]]', '[1,["da",[2026,13,1]]]', '[1,["da",[2026,1,true]]]'),
        *('[1,["ti",[1,2,3,4,0]]]', '[1,["td",[0,90000,0]]]', '[1,["p",1]]', '[1,["p","a//b"]]', '[1,["p",["p","a"]]]'),
        *('[1,["r",["x",[[1,2]]]]]', '[1,["r",[1,[]]]]', '[1,["o",1]]', f'[1,["o","{"x" * 201}"]]', '[1,["h",1]]'),
        *('[1,"\\ud800"]', '[1,["c",["0x1.0000000000000p+0"]]]', '[1,["ti",[1,2,3,4,0,[2,0,0]]]]', '[1,["h",true]]'),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(WireError):
        loads(text)


_trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["l", "d", "S", "i", "f", "r", "o", "0x1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=12,
)


@given(_trees)
@settings(max_examples=300, deadline=None)
def test_reading_garbage_ends_in_a_value_or_a_wire_error(tree: Any) -> None:
    text = json.dumps([1, tree])
    try:
        value = loads(text)
    except WireError:
        return
    assert loads(dumps(value)) is not NotImplemented
