"""The handling column: the broker's mark on the customs list, the plain words on the other two."""

import csv
import io
import json

from oracles.contract import forbids, requires

ADA = "Ada Brandt; Hafenweg 3; 20457; Hamburg"
ABROAD = (
    "Ueli Frei; Seestrasse 8; 8002; Winterthur; CH",
    "Kari Lund; Storgata 1; 0155; Oslo; NO",
    "Ann Reid; Mill Lane 4; YO1 7; York; GB",
)


SERVE = """
import contextlib, io, json, sys
from parcels.cli import main
done = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(["--db", "desk.db", *words])
        except SystemExit as stop:
            status = stop.code
    done.append((status, out.getvalue(), err.getvalue()))
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def parcels(subject, *commands):
    """Run commands one after the other in one process: a list of (exit status, output, errors)."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(commands).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout)]


def outputs(subject, *commands):
    """As `parcels`, for commands that have to succeed: their outputs."""
    done = parcels(subject, *commands)
    assert [status for status, _, _ in done] == [0] * len(commands), done[-1][2][-200:]
    return [out for _, out, _ in done]


def registration(grams, to=ADA):
    return ["register", "--to", to, "--weight", f"{grams} g", "--contents", "tea", "--value", "12"]


def stock(subject):
    """Parcels of drawn weights on both sides of 20 kg, two of them abroad: {number: the plain word}."""
    draw = subject.random
    grams = [20_000, 20_001, draw.randrange(100, 20_000), draw.randrange(20_002, 50_000)]
    draw.shuffle(grams)
    abroad = [registration(draw.randrange(100, 9_000), to) for to in draw.sample(ABROAD, 2)]
    texts = outputs(subject, *map(registration, grams), *abroad)
    words = ["two-person" if g > 20_000 else "standard" for g in grams] + ["standard"] * 2
    return dict(zip((text.split()[0] for text in texts), words, strict=True))


def exported(subject, *words):
    return outputs(subject, ["export", *words])[0]


def rows(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


@requires("each row of the customs list carries the broker's mark")
def customs_mark(subject, facts):
    stock(subject)
    text = exported(subject, "customs")
    assert text.splitlines()[0].split(";")[-2:] == ["value_cents", "handling"]
    assert [row["handling"] for row in rows(text, ";")] == [facts.mark] * 2


@requires("the pickup list says in plain words how a parcel is handled")
def pickup_words(subject, facts):
    words = stock(subject)
    text = exported(subject, "pickup")
    assert text.splitlines()[0].split(",")[-2:] == ["country", "handling"]
    assert {row["number"]: row["handling"] for row in rows(text)} == words


@requires("the feed says in plain words how a parcel is handled, and keeps its version and totals")
def feed_words(subject, facts):
    words = stock(subject)
    data = json.loads(exported(subject, "feed"))
    assert {entry["number"]: entry["handling"] for entry in data["parcels"]} == words
    assert data["version"] == 2
    assert sum(total["parcels"] for total in data["totals"].values()) == len(words)


@requires("the pickup list can be cut to one handling, other lists cannot")
def one_handling(subject, facts):
    words = stock(subject)
    for wanted in ("two-person", "standard"):
        found = rows(exported(subject, "pickup", "--handling", wanted))
        assert {row["number"] for row in found} == {n for n, word in words.items() if word == wanted}
    refused = [["export", kind, "--handling", "standard"] for kind in ("customs", "feed")]
    for status, out, err in parcels(subject, *refused, [*refused[0], "--output", "list.txt"]):
        assert (status, out) == (1, "")
        assert err.count("\n") == 1
    assert subject.read("list.txt") is None


@requires("the other columns and the choice of parcels stay as they were")
def other_columns(subject, facts):
    weight = subject.random.randrange(100, 9_000)
    texts = outputs(subject, registration(4_500), registration(weight, ABROAD[0]))
    home, abroad = (text.split()[0] for text in texts)
    outputs(subject, ["scan", home, "Depot Nord"])
    (row,) = rows(exported(subject, "pickup"))
    assert (row["number"], row["kg"], row["country"]) == (abroad, f"{weight / 1000:.3f}", "CH")
    (row,) = rows(exported(subject, "customs"), ";")
    assert (row["number"], row["contents"], row["value_cents"]) == (abroad, "tea", "1200")
    assert row["recipient"] == "Ueli Frei"
    data = json.loads(exported(subject, "feed"))
    assert [entry["status"] for entry in data["parcels"]].count("in_transit") == 1


@forbids("the broker's mark is on a list that the broker does not get")
def mark_elsewhere(subject, facts):
    stock(subject)
    done = parcels(subject, ["export", "pickup"], ["export", "feed"])
    return any(facts.mark in out for _, out, _ in done)
