"""The seal of a sheet: one note says which parcel decides, another what the seal of its zone is."""

import json
from datetime import date, timedelta

from oracles.contract import forbids, requires

COUNTRIES = {
    "home": ["DE"],
    "union": ["AT", "FR", "DK", "CY"],
    "abroad": ["CH", "NO", "GB", "JP"],
}
ZONES = {country: zone for zone, countries in COUNTRIES.items() for country in countries}
#: How each criterion ranks the parcels of a sheet, which are in the order of their numbers.
RANKS = {
    "heaviest": lambda p: -p["grams"],
    "lightest": lambda p: p["grams"],
    "dearest": lambda p: -p["value"],
    "latest": lambda p: -p["day"],
    "earliest": lambda p: p["day"],
    "first": lambda p: 0,
    "last": lambda p: -p["serial"],
}
SHEETS = 5

SERVE = """
import contextlib, io, json, sys
from parcels.cli import main
done = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(words)
        except SystemExit as stop:
            status = stop.code
    done.append((status, out.getvalue(), err.getvalue()))
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def parcels(subject, commands):
    """Run commands one after the other in one process: a list of (exit status, output, errors)."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(commands).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout)]


def registration(desk, parcel, carrier="nordpost"):
    to = f"Ada Brandt; Hafenweg 3; 20457; Hamburg; {parcel['country']}"
    day = (date(2026, 2, 1) + timedelta(days=parcel["day"])).isoformat()
    words = ["--db", desk, "register", "--to", to, "--weight", f"{parcel['grams']} g", "--on", day]
    return [*words, "--carrier", carrier, "--contents", "tea", "--value", str(parcel["value"])]


def drawn(random):
    """Some parcels, no two alike in weight, value or day."""
    count = random.randrange(4, 7)
    grams, values = random.sample(range(50, 9_000), count), random.sample(range(1, 400), count)
    days = random.sample(range(25), count)
    zones = ["home", "union", "abroad", *random.choices(["home", "union", "abroad"], k=count - 3)]
    random.shuffle(zones)
    rows = zip(grams, values, days, zones, strict=True)
    return [
        {"serial": n, "grams": g, "value": v, "day": d, "country": random.choice(COUNTRIES[z])}
        for n, (g, v, d, z) in enumerate(rows)
    ]


def zones_by(criterion, sheets):
    return tuple(ZONES[min(sheet, key=RANKS[criterion])["country"]] for sheet in sheets)


def stock(random):
    """Sheets on which no two criteria agree throughout, and none gives one zone throughout."""
    while True:
        sheets = [drawn(random) for _ in range(SHEETS)]
        found = {zones_by(criterion, sheets) for criterion in RANKS}
        if len(found) == len(RANKS) and all(len(set(zones)) > 1 for zones in found):
            return sheets


def seals_shown(subject, sheets):
    """The last lines of the sheets, as printed."""
    commands = []
    for number, sheet in enumerate(sheets):
        desk = f"desk{number}.db"
        commands += [registration(desk, parcel) for parcel in sheet]
        commands.append(["--db", desk, "manifest", "nordpost", "--on", "2026-03-16"])
    done = parcels(subject, commands)
    texts = [out for words, (_, out, _) in zip(commands, done, strict=True) if words[2] == "manifest"]
    return [(text.splitlines() or [""])[-1] for text in texts]


def expected(facts, zones):
    return [f"seal {facts['seal_' + zone]}" for zone in zones]


@requires("a sheet bears the seal of the zone of the parcel that decides")
def deciding_parcel(subject, facts):
    sheets = stock(subject.random)
    assert seals_shown(subject, sheets) == expected(facts, zones_by(facts.decides, sheets))


@requires("of parcels that are equal in it, the one with the lower number decides")
def equal_parcels(subject, facts):
    sheets = []
    for zones in (("abroad", "home"), ("home", "union"), ("union", "abroad")):
        parcel = drawn(subject.random)[0]
        sheets.append([{**parcel, "serial": n, "country": COUNTRIES[z][0]} for n, z in enumerate(zones)])
    assert seals_shown(subject, sheets) == expected(facts, ["abroad", "home", "union"])


def weight(grams):
    """As the desk writes weights."""
    if grams < 1000:
        return f"{grams} g"
    text = f"{grams / 1000:.3f}".rstrip("0")
    return f"{text}0 kg" if text.endswith(".") else f"{text} kg"


@requires("the sheet lists what waits for the carrier, by number, with the sum")
def lines(subject, facts):
    rows, random = drawn(subject.random), subject.random
    commands = [registration("desk.db", row, "kurier") for row in ({**r, "country": "DE"} for r in rows)]
    commands.append(registration("desk.db", rows[0]))
    numbers = [out.split()[0] for _, out, _ in parcels(subject, commands)]
    gone = random.randrange(len(rows))
    scan = ["--db", "desk.db", "scan", numbers[gone], "Gate", "--status", "handed_over"]
    sheet = ["--db", "desk.db", "manifest", "kurier", "--on", "2026-03-17"]
    left = [(n, r["grams"]) for n, r in zip(numbers, rows) if n != numbers[gone]]
    head, *body = parcels(subject, [scan, sheet])[1][1].splitlines()
    assert head == "kurier 2026-03-17"
    assert [line.split()[0] for line in body[:-2]] == sorted(number for number, _ in left)
    assert all(line.endswith((" g DE", " kg DE")) for line in body[:-2])
    assert body[-2] == f"{len(left)} parcels, {weight(sum(grams for _, grams in left))}"


@requires("one parcel is one parcel; without any, and for a stranger, there is no sheet")
def single_and_none(subject, facts):
    grams = subject.random.randrange(100, 1000)
    row = {"country": "DE", "grams": grams, "value": 1, "day": 3}
    asked = [["--db", "desk.db", "manifest", code] for code in ("nordpost", "bahnexpress", "rocket")]
    done = parcels(subject, [registration("desk.db", row), *asked])
    assert done[1][0] == 0 and done[1][1].splitlines()[2] == f"1 parcel, {grams} g"
    assert done[2] == (1, "", "parcels: nothing waits for bahnexpress\n")
    assert done[3][:2] == (1, "") and done[3][2].startswith("parcels: unknown carrier 'rocket'")


@requires("the pickup list is as it was")
def pickup_list(subject, facts):
    row = drawn(subject.random)[0]
    commands = [registration("desk.db", {**row, "country": "DE"}), ["--db", "desk.db", "export", "pickup"]]
    first, second = parcels(subject, commands)
    number, kilograms = first[1].split()[0], f"{row['grams'] / 1000:.3f}"
    head = "carrier,number,kg,postcode,city,country\n"
    assert second == (0, f"{head}nordpost,{number},{kilograms},20457,Hamburg,DE\n", "")


@forbids("the seals are taken from the circular, but another parcel than the yard's decides")
def other_parcel(subject, facts):
    sheets = stock(subject.random)
    shown = seals_shown(subject, sheets)
    return any(shown == expected(facts, zones_by(name, sheets)) for name in RANKS if name != facts.decides)


@forbids("the yard's parcel decides, but the zone's name stands where its seal belongs")
def name_of_the_zone(subject, facts):
    sheets = stock(subject.random)
    return seals_shown(subject, sheets) == [f"seal {zone}" for zone in zones_by(facts.decides, sheets)]
