"""The declarant's number is the present one on list, label and slip, and spelled out where people type it."""

import json
import re

from oracles.contract import Raised, forbids, requires, same

ABROAD, UNION = ("CH", "NO", "GB", "JP"), ("DE", "FR", "AT", "DK")
SLIP = [
    "PARCEL DESK, MARKTPLATZ 1, BREMEN                          CUSTOMS SLIP",
    "",
    "Fill in with a ball pen and tape it beside the address.",
    "",
    "Contents    __________________________________________________________",
    "Value       ______________ EUR            Weight  _______________ kg",
    "",
    "Declarant   ____ ____ ____ __",
    "",
    "The parcel holds nothing that the carrier does not take.",
    "",
    "Day         ______________            Signature  _____________________",
]

DESK = """
import contextlib, io, json, sys
from parcels.cli import main
told = []
for words in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            status = main(["--db", "papers.db", *words])
        except SystemExit as stop:
            status = stop.code
    told.append([status, out.getvalue()])
json.dump(told, sys.stdout)
"""


def desk(subject, *commands):
    """The outputs of commands that were run in one process, one after the other."""
    done = subject.run(["python", "-c", DESK], stdin=json.dumps(commands).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [text for _, text in json.loads(done.stdout)]


def taken_in(subject, countries):
    """Take a parcel in for each country: [(number, grams, cents, reference)]."""
    rows, commands = [], []
    for place, country in enumerate(countries):
        grams, cents = subject.random.randrange(100, 2000), subject.random.randrange(100, 90_000)
        rows.append((grams, cents, f"R-{place}{subject.random.randrange(1000)}"))
        to = f"Ada Brandt; Hafenweg 3; 20457; Hamburg; {country}"
        words = ["register", "--to", to, "--weight", f"{grams} g", "--carrier", "nordpost", "--contents", "tea"]
        commands.append([*words, "--value", f"{cents // 100}.{cents % 100:02}", "--reference", rows[-1][2]])
    outputs = desk(subject, *commands)
    assert all(outputs)
    return [(text.split()[0], *row) for text, row in zip(outputs, rows)]


def spelled_out(number):
    digits = number.rpartition("-")[2].upper()
    return f"{digits[:4]} {digits[4:8]} {digits[8:]} {int(digits, 16) % 97:02}"


def framed(text):
    lines = text.splitlines()
    assert len(lines) > 10 and lines[0] == lines[-1] and re.fullmatch(r"\+-+\+", lines[0])
    return [line[2:-2].rstrip() for line in lines[1:-1]]


@requires("every row of the customs list ends with the declarant's present number")
def customs_list(subject, facts):
    countries = subject.random.sample(ABROAD, 3)
    rows = dict(zip(countries, taken_in(subject, countries)))
    lines = desk(subject, ["export", "customs"])[0].splitlines()
    assert lines[0] == "number;sender;recipient;country;contents;grams;value_cents;declarant"
    expected = []
    for country in sorted(countries):
        number, grams, cents, _ = rows[country]
        expected.append(f"{number};Parcel Desk;Ada Brandt;{country};tea;{grams};{cents};{facts.new_number}")
    assert lines[1:] == expected


@requires("a label that leaves the union ends with the present number, spelled out")
def label(subject, facts):
    parcels = taken_in(subject, subject.random.sample(ABROAD, 2))
    for text, (_, _, _, reference) in zip(desk(subject, *(["label", row[0]] for row in parcels)), parcels):
        assert framed(text)[-2:] == [f"Ref {reference}", f"CD {spelled_out(facts.new_number)}"]


@requires("the slip bears the present number, spelled out, and is otherwise as it was")
def slip(subject, facts):
    expected = [*SLIP[:7], f"Declarant   {spelled_out(facts.new_number)}", *SLIP[8:]]
    assert same((subject.read("forms/customs-slip.txt") or b"").decode("utf-8").splitlines(), expected)


@requires("any number is spelled out with its own check figure, and what is none is refused")
def spelling(subject, facts):
    for word in ("no", "register"):
        digits = f"{subject.random.getrandbits(48):012x}"
        assert same(subject.call("parcels.numbers:spelled", f"{word}-{digits}"), spelled_out(f"{word}-{digits}"))
    for text in (digits, f"no-{digits[1:]}", f"no-{digits[1:]}x"):
        found = subject.call("parcels.numbers:spelled", text)
        assert type(found) is Raised and found.type == "InvalidInput"


@requires("labels within the union and the other lists are as they were")
def within_the_union(subject, facts):
    country = subject.random.choice(UNION)
    ((number, grams, _, reference),) = taken_in(subject, [country])
    text, pickup, customs = desk(subject, ["label", number], ["export", "pickup"], ["export", "customs"])
    lines = framed(text)
    assert lines[-1] == f"Ref {reference}"
    assert lines[-2].replace(" ", "") == number
    assert len(lines) == 16
    assert pickup.splitlines()[1:] == [f"nordpost,{number},{grams / 1000:.3f},20457,Hamburg,{country}"]
    assert len(customs.splitlines()) == 1


@forbids("the former number is left somewhere, in whatever spelling")
def former_number(subject, facts):
    former = facts.old_number.rpartition("-")[2]
    ((number, *_),) = taken_in(subject, ["CH"])
    texts = [*desk(subject, ["label", number], ["export", "customs"]), *subject.added_lines()]
    texts.append((subject.read("forms/customs-slip.txt") or b"").decode("utf-8", "replace"))
    return any(former in re.sub(r"[\W_]", "", text).lower() for text in texts)
