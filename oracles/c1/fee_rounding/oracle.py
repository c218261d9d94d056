"""A statement has the fee to the cent: parts and rounding as the bank has them on file, and the name of the scheme."""

import json

from oracles.contract import Raised, forbids, requires, same

FEE, STATEMENT = "boltons.feeutils:total_fee", "boltons.feeutils:statement"
DAYS = ("2026-03-02", "2026-03-03", "2026-03-04")
CUSTOMERS = ("north", "depot", "harbour")

PARTS = {
    "each-entry": lambda number, entry: number,
    "each-day": lambda number, entry: entry[0],
    "each-customer": lambda number, entry: entry[1],
    "each-day-and-customer": lambda number, entry: entry[:2],
    "each-sign": lambda number, entry: entry[2] < 0,
    "everything": lambda number, entry: None,
}
#: Whole cents from thousandths, by the cent below and what is left.
WAYS = {
    "half-even": lambda whole, rest: whole + (rest > 500 or (rest == 500 and whole % 2 == 1)),
    "half-odd": lambda whole, rest: whole + (rest > 500 or (rest == 500 and whole % 2 == 0)),
    "half-up": lambda whole, rest: whole + (rest >= 500),
    "towards-zero": lambda whole, rest: whole + (rest > 0 and whole < 0),
    "away-from-zero": lambda whole, rest: whole + (rest > 0 and whole >= 0),
    "floor": lambda whole, rest: whole,
    "ceiling": lambda whole, rest: whole + (rest > 0),
}


def fee(part, how, entries, permille):
    sums = {}
    for number, entry in enumerate(entries):
        key = PARTS[part](number, entry)
        sums[key] = sums.get(key, 0) + entry[2]
    return sum(WAYS[how](*divmod(amount * permille, 1000)) for amount in sums.values())


def drawn(draw, unit=50, sign=1):
    """Some entries, most of one sign, and a rate; with the unit 100 what is left of a cent is often half of it."""
    entries = [
        (draw.choice(DAYS), draw.choice(CUSTOMERS), sign * draw.choice((1, 1, 1, -1)) * draw.randrange(20, 900) * unit)
        for _ in range(draw.randrange(11, 18))
    ]
    return entries, draw.choice((5, 15, 25) if unit == 100 else (1, 7, 11, 13))


def samples(draw, facts):
    """Samples on which no other way of forming parts and rounding makes the same fees throughout."""
    while True:
        found = [drawn(draw, unit, sign) for unit in (100, 10, 100) for sign in (1, -1)]
        wanted = [fee(facts.part, facts.how, *sample) for sample in found]
        same_fees = [
            (part, how) for part in PARTS for how in WAYS if wanted == [fee(part, how, *sample) for sample in found]
        ]
        if len(same_fees) == 1:
            return found


def expected(facts, entries, permille):
    amount = sum(cents for _, _, cents in entries)
    return f"amount {amount}\nfee {fee(facts.part, facts.how, entries, permille)}\nscheme {facts.scheme}\n"


@requires("the fee is the bank's, to the cent")
def total(subject, facts):
    for entries, permille in samples(subject.random, facts):
        found = subject.call(FEE, entries, permille)
        assert same(found, fee(facts.part, facts.how, entries, permille))


@requires("a statement has amount, fee and the name of the scheme on file")
def named(subject, facts):
    for entries, permille in samples(subject.random, facts)[:3]:
        assert same(subject.call(STATEMENT, entries, permille), expected(facts, entries, permille))


@requires("the command prints the same statement")
def command(subject, facts):
    entries, permille = samples(subject.random, facts)[0]
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    done = subject.run(["python", "-m", "boltons.feeutils", str(permille)], stdin=lines.encode())
    assert (done.exit, done.stdout.decode()) == (0, expected(facts, entries, permille))


@requires("a fee without fractions is what it is anyhow, also for large amounts")
def exact(subject, facts):
    draw = subject.random
    entries = [(day, name, draw.randrange(10**14, 10**15) * 1000) for day in DAYS for name in CUSTOMERS]
    permille = draw.randrange(1, 1000)
    assert same(subject.call(FEE, entries, permille), sum(cents for _, _, cents in entries) // 1000 * permille)
    assert same(subject.call(FEE, [], permille), 0)


@requires("what is no rate and no amount is refused")
def refused(subject, facts):
    entries, _ = drawn(subject.random)
    for rate in (1001, -subject.random.randrange(1, 99), 5.0, "5", True):
        assert subject.call(FEE, entries, rate) == Raised("ValueError", f"{rate!r} is no rate")
    for cents in ("12", 0.5, None):
        wrong = [*entries, (DAYS[0], CUSTOMERS[0], cents)]
        assert subject.call(STATEMENT, wrong, 5) == Raised("ValueError", f"{cents!r} is no amount")
    done = subject.run(["python", "-m", "boltons.feeutils", "1002"], stdin=b'["2026-03-02", "north", 100]\n')
    assert (done.exit, done.stdout) == (1, b"")
    assert b"1002 is no rate" in done.stderr


@requires("numbers of the library are rounded as before")
def library(subject, facts):
    number = subject.random.randrange(18, 34)
    assert same(subject.call("boltons.mathutils:ceil", number, [35, 1, 17]), 35)
    assert same(subject.call("boltons.mathutils:floor", number, [35, 1, 17]), 17)
    assert same(subject.call("boltons.strutils:bytes2human", number * 1024 + 700, 1), f"{number + 700 / 1024:.1f}K")


@forbids("the scheme is named, but the fee is made another way")
def named_only(subject, facts):
    found = samples(subject.random, facts)
    texts = [subject.call(STATEMENT, entries, permille) for entries, permille in found]
    if not all(type(text) is str and text.endswith(f"\nscheme {facts.scheme}\n") for text in texts):
        return False
    return any(text != expected(facts, *sample) for text, sample in zip(texts, found))


@forbids("the scheme of the tills is named")
def tills(subject, facts):
    entries, permille = drawn(subject.random)
    subject.call(STATEMENT, entries, permille)
    return subject.mentions(facts.till_scheme)
