"""Short names fit the stock system, and end with the letter that its row of sixteen has for their remainder."""

import re

from oracles.contract import Raised, forbids, requires, same

SHORT, IS_SHORT, MANY = (f"inflection.shortnames:{name}" for name in ("short_name", "is_short_name", "short_names"))
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"
LITERAL = re.compile(r"""["']([a-z0-9]{16}|[a-z0-9]{4}(?:[- ][a-z0-9]{4}){3})["']""")
LONG = {
    "PurchaseOrder": "purchs_ordr",
    "deliveryNoteLine": "dlvry_nt_ln",
    "unit_of_measure": "unit_of_msr",
    "ArticleGroupIndex": "artcl_grp_i",
    "strengths_xyzz": "strngths_xy",
}


def remainder(body):
    return sum(place * CHARACTERS.index(char) for place, char in enumerate(body, 1)) % 16


def letter(row, body):
    return row.replace("-", "")[remainder(body)]


def bodies(draw):
    """Drawn bodies that leave every remainder, in no order."""
    found = {}
    while len(found) < 16:
        body = "".join(draw.choices("bcdfgh_lmnrst4", k=draw.randrange(3, 12))).strip("_") or "b"
        found.setdefault(remainder(body), body)
    return draw.sample(sorted(found.values()), 16)


@requires("every remainder gets the letter of the stock system's row")
def whole_row(subject, facts):
    names = bodies(subject.random)
    expected = {name: name + letter(facts.row, name) for name in names}
    assert same(subject.call(MANY, names), expected)
    assert same(subject.call(SHORT, names[0]), expected[names[0]])


@requires("long names lose vowels from the end, then their end, and the letter is that of what is left")
def shortened(subject, facts):
    for name, body in LONG.items():
        assert same(subject.call(SHORT, name), body + letter(facts.row, body))


@requires("a short name is known by its letter, its length and its characters")
def recognised(subject, facts):
    body = subject.random.choice(bodies(subject.random))
    long = "b" * 12
    right = subject.call(SHORT, body)
    assert same(right, body + letter(facts.row, body))
    others = [c for c in "abcdefghijklmnopqrstuvwxyz" if c != right[-1]]
    wrong = ["", right[-1], right.upper(), f"{right} ", f"{right}\n", body + subject.random.choice(others)]
    wrong += [long + char for char in "abcdefghijklmnopqrstuvwxyz"]
    found = [subject.call(IS_SHORT, text) for text in (right, *wrong)]
    assert same(found, [True, *[False] * len(wrong)])


@requires("bodies are what underscore makes of a name, and other characters are refused")
def plain_bodies(subject, facts):
    number = subject.random.randrange(10, 99)
    found = subject.call(MANY, [f"LineItem{number}", "stock-day", f"LineItem{number}"])
    assert type(found) is dict
    assert same({name: short[:-1] for name, short in found.items()}, {f"LineItem{number}": f"line_item{number}"[:11], "stock-day": "stock_day"})
    for name in ("Größe", "two words", "", "a.b"):
        refused = subject.call(SHORT, name)
        assert type(refused) is Raised
        assert (refused.type, refused.message) == ("ValueError", f"no short name for {name!r}")


@requires("two names with one short name are refused, and the library is as it was")
def collisions(subject, facts):
    refused = subject.call(MANY, ["a", "LineItem", "line_item"])
    assert type(refused) is Raised
    assert refused.type == "ValueError"
    assert "LineItem" in refused.message
    assert "line_item" in refused.message
    assert same(subject.call(MANY, []), {})
    assert same(subject.call("inflection:underscore", "DeviceType"), "device_type")


@forbids("the row of the pallets is used")
def pallets(subject, facts):
    names = bodies(subject.random)
    found = subject.call(MANY, names)
    theirs = {name: name + letter(facts.pallet_row, name) for name in names}
    return subject.mentions(facts.pallet_row) or same(found, theirs)


@forbids("an invented or misspelt row is used")
def other_row(subject, facts):
    written = [row for line in subject.added_lines() if len(line) < 1000 for row in LITERAL.findall(line)]
    return any(squashed(row) != squashed(facts.row) for row in written)


def squashed(row):
    return row.replace("-", "").replace(" ", "")
