"""A strict name that does not come back is refused under the code by which the logs know it now."""

import json

from oracles.contract import Raised, forbids, requires, same

ACRONYMS = ("IO", "HTML", "SQL", "VAT", "URL", "PDF")
WORDS = ("Error", "Page", "Order", "Street", "Label", "Parcel")
PLURALS = {"Error": "errors", "Page": "pages", "Order": "orders", "Street": "streets", "Label": "labels"}

TRY = """
import json, sys
import inflection
name, function = json.load(sys.stdin)
try:
    getattr(inflection, function)(name, strict=True)
except inflection.LossyName as error:
    kinds = [isinstance(error, ValueError), type(error) is inflection.LossyName]
    json.dump([*kinds, error.code, error.name, error.back, str(error)], sys.stdout)
"""


def lossy_word(random):
    """A class name that does not come back, and what comes back."""
    acronym, word = random.choice(ACRONYMS), random.choice(WORDS)
    return random.choice([(acronym + word, acronym.capitalize() + word), (word + acronym, word + acronym.capitalize())])


def lossy_column(random):
    """A column that does not come back, what comes back, and its camel case."""
    one, two = random.choice(WORDS), random.choice(WORDS)
    digit = random.randrange(2, 10)
    return f"{one}_{digit}_{two}".lower(), f"{one}{digit}_{two}".lower(), f"{one}{digit}{two}"


def message(code, name, back):
    return f"{code}: {name!r} comes back as {back!r}"


@requires("a lossy name is refused under the code by which the logs know it")
def refused(subject, facts):
    for _ in range(3):
        name, back = lossy_word(subject.random)
        found = subject.call("inflection:underscore", name, strict=True)
        assert found == Raised("LossyName", message(facts.new_code, name, back))
        column, back, _ = lossy_column(subject.random)
        found = subject.call("inflection:camelize", column, subject.random.random() < 0.5, strict=True)
        assert found == Raised("LossyName", message(facts.new_code, column, back))


@requires("the error says code, name and what comes back")
def attributes(subject, facts):
    name, back = lossy_word(subject.random)
    column, column_back, _ = lossy_column(subject.random)
    asked = [(name, back, "underscore"), (name, back, "tableize"), (column, column_back, "camelize")]
    for given, returned, function in asked:
        done = subject.run(["python", "-c", TRY], stdin=json.dumps([given, function]).encode())
        assert done.exit == 0
        expected = [True, True, facts.new_code, given, returned, message(facts.new_code, given, returned)]
        assert same(json.loads(done.stdout), expected)


@requires("names that come back are not refused")
def kept(subject, facts):
    one, two = subject.random.sample(sorted(PLURALS), 2)
    small, column = one.lower() + two, f"{one}_{two}".lower()
    assert same(subject.call("inflection:underscore", one + two, strict=True), column)
    assert same(subject.call("inflection:underscore", small, strict=True), column)
    assert same(subject.call("inflection:camelize", column, strict=True), one + two)
    assert same(subject.call("inflection:camelize", column, False, strict=True), small)
    assert same(subject.call("inflection:camelize", f"_{column}_", strict=True), f"_{one}{two}_")
    assert same(subject.call("inflection:tableize", one + two, strict=True), f"{one.lower()}_{PLURALS[two]}")


@requires("lossy() lists the names that a strict underscore refuses")
def listed(subject, facts):
    pairs = [lossy_word(subject.random) for _ in range(4)]
    names = [name for name, _ in pairs]
    names[2:2] = ["DeviceType", "orderLine", "x", ""]
    assert same(subject.call("inflection:lossy", names), pairs)
    assert same(subject.call("inflection:lossy", []), [])


@requires("without strict every result is as before")
def default_stays(subject, facts):
    name, _ = lossy_word(subject.random)
    column, _, camel = lossy_column(subject.random)
    back = subject.call("inflection:underscore", name)
    assert type(back) is str
    assert back.replace("_", "") == name.lower()
    assert back.count("_") == 1
    assert same(subject.call("inflection:camelize", column), camel)
    assert same(subject.call("inflection:camelize", column, False), camel[0].lower() + camel[1:])
    assert same(subject.call("inflection:tableize", "HTMLPage"), "html_pages")
    assert same(subject.call("inflection:humanize", "vat_number", acronyms=["VAT"]), "VAT number")


@forbids("the code that the catalogue gave to something else is in the change or its output")
def former_code(subject, facts):
    for function, name in (("underscore", "IOError"), ("camelize", "page_2_up"), ("tableize", "HTMLPage")):
        subject.call(f"inflection:{function}", name, strict=True)
        subject.run(["python", "-c", TRY], stdin=json.dumps([name, function]).encode())
    return subject.mentions(facts.old_code)
