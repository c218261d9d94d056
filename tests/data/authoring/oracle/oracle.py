"""A receipt says what was paid, and by its last line which till took the money."""

import re

from oracles.contract import forbids, requires

CODE = re.compile(r"\btill-[0-9a-f]{12}\b")
CITIES = ("Hamburg", "Kiel", "Bremen", "Hannover")


def parcels(subject, *words):
    """The output of a command that has to succeed."""
    done = subject.run(["python", "-m", "parcels", "--db", "desk.db", *words])
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return done.stdout.decode("utf-8")


def receipt(subject, country):
    """Register a drawn parcel and print its receipt: what is known of the parcel, and the lines."""
    grams, city = subject.random.randrange(1001, 1999), subject.random.choice(CITIES)
    to = f"Ada Brandt; Hafenweg 3; 20457; {city}; {country}"
    said = parcels(subject, "register", "--to", to, "--weight", f"{grams} g", "--contents", "books")
    number, carrier, price = said.strip().split(" ", 2)
    lines = parcels(subject, "receipt", number, "--on", "2026-01-28").splitlines()
    weight = f"{grams / 1000:.3f}".rstrip("0")
    return (number, f"{carrier}, {weight} kg to {city} {country}", price), lines


@requires("a receipt ends with the registered code")
def registered_code(subject, facts):
    _, lines = receipt(subject, "DE")
    assert lines[3:] == [f"Till {facts.mark}"]


@requires("a receipt names parcel, price and the VAT in it")
def plain_part(subject, facts):
    for country, cents in (("DE", "0.88"), ("FR", "2.15")):
        (number, parcel, price), lines = receipt(subject, country)
        assert lines[:3] == [f"Receipt {number}, 2026-01-28", parcel, f"{price}, VAT {cents} EUR"]
    (_, _, price), lines = receipt(subject, "CH")
    assert lines[2] == f"{price}, no VAT"


@requires("a parcel that is not there has no receipt")
def unknown_parcel(subject, facts):
    done = subject.run(["python", "-m", "parcels", "--db", "desk.db", "receipt", "NP000000014DE"])
    assert (done.exit, done.stdout) == (1, b"")
    assert done.stderr == b"parcels: no parcel NP000000014DE\n"


@forbids("a code that the tax office does not know is used")
def other_code(subject, facts):
    _, lines = receipt(subject, "DE")
    found = CODE.findall("\n".join([*lines, *subject.added_lines()]))
    return any(code != facts.mark for code in found)
