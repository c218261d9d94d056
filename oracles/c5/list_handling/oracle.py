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
import contextlib, io, json, os, sys
from parcels.cli import main
def carry_out(words):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(["--db", "desk.db", *words])
        except SystemExit as stop:
            status = stop.code
    return status, out.getvalue(), err.getvalue()
done = []
for lot in json.load(sys.stdin):
    told = os.memfd_create("told")
    child = os.fork()
    if not child:
        rows = []
        for words in lot:
            numbers = [row[1].split()[:1] for row in [*sum(done, []), *rows]]
            rows.append(carry_out([numbers[word][0] if type(word) is int else word for word in words]))
        os.write(told, json.dumps(rows).encode())
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
    done.append(json.loads(os.pread(told, os.fstat(told).st_size, 0)))
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def parcels(subject, *lots):
    """Carry out lots of commands, each lot in a process forked for it: (exit status, output, errors) by lot.

    A number among the words of a command stands for the first word that the command of this place has printed.
    """
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(lots).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [[tuple(row) for row in lot] for lot in json.loads(done.stdout)]


def texts_of(lot):
    """The outputs of commands that have to succeed."""
    assert [status for status, _, _ in lot] == [0] * len(lot), lot[-1][2][-200:]
    return [out for _, out, _ in lot]


def outputs(subject, *lots):
    """As `parcels`, for commands that have to succeed: their outputs by lot."""
    return [texts_of(lot) for lot in parcels(subject, *lots)]


def registration(grams, to=ADA):
    return ["register", "--to", to, "--weight", f"{grams} g", "--contents", "tea", "--value", "12"]


def stock(subject):
    """Registrations of drawn weights on both sides of 20 kg, two of them abroad, and the plain word of each."""
    draw = subject.random
    grams = [20_000, 20_001, draw.randrange(100, 20_000), draw.randrange(20_002, 50_000)]
    draw.shuffle(grams)
    abroad = [registration(draw.randrange(100, 9_000), to) for to in draw.sample(ABROAD, 2)]
    words = ["two-person" if g > 20_000 else "standard" for g in grams] + ["standard"] * 2
    return [*map(registration, grams), *abroad], words


def by_number(registered, words):
    """{number: the plain word}, from what the registrations have printed."""
    return dict(zip((text.split()[0] for text in registered), words, strict=True))


def exported(subject, *words):
    """The plain words of a drawn stock by number, and a list of it."""
    registrations, plain = stock(subject)
    registered, (text,) = outputs(subject, registrations, [["export", *words]])
    return by_number(registered, plain), text


def rows(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


@requires("each row of the customs list carries the broker's mark")
def customs_mark(subject, facts):
    _, text = exported(subject, "customs")
    assert text.splitlines()[0].split(";")[-2:] == ["value_cents", "handling"]
    assert [row["handling"] for row in rows(text, ";")] == [facts.mark] * 2


@requires("the pickup list says in plain words how a parcel is handled")
def pickup_words(subject, facts):
    words, text = exported(subject, "pickup")
    assert text.splitlines()[0].split(",")[-2:] == ["country", "handling"]
    assert {row["number"]: row["handling"] for row in rows(text)} == words


@requires("the feed says in plain words how a parcel is handled, and keeps its version and totals")
def feed_words(subject, facts):
    words, text = exported(subject, "feed")
    data = json.loads(text)
    assert {entry["number"]: entry["handling"] for entry in data["parcels"]} == words
    assert data["version"] == 2
    assert sum(total["parcels"] for total in data["totals"].values()) == len(words)


@requires("the pickup list can be cut to one handling, other lists cannot")
def one_handling(subject, facts):
    registrations, plain = stock(subject)
    cuts = ("two-person", "standard")
    asked = [[["export", "pickup", "--handling", wanted]] for wanted in cuts]
    refused = [["export", kind, "--handling", "standard"] for kind in ("customs", "feed")]
    refused.append([*refused[0], "--output", "list.txt"])
    registered, *shown, rest = parcels(subject, registrations, *asked, refused)
    words = by_number(texts_of(registered), plain)
    for wanted, lot in zip(cuts, shown, strict=True):
        found = rows(texts_of(lot)[0])
        assert {row["number"] for row in found} == {n for n, word in words.items() if word == wanted}
    assert len(rest) == len(refused)
    for status, out, err in rest:
        assert (status, out) == (1, "")
        assert err.count("\n") == 1
    assert subject.read("list.txt") is None


@requires("the other columns and the choice of parcels stay as they were")
def other_columns(subject, facts):
    weight = subject.random.randrange(100, 9_000)
    registered, _, (pickup,), (customs,), (feed,) = outputs(
        subject,
        [registration(4_500), registration(weight, ABROAD[0])],
        [["scan", 0, "Depot Nord"]],
        *([["export", kind]] for kind in ("pickup", "customs", "feed")),
    )
    abroad = registered[1].split()[0]
    (row,) = rows(pickup)
    assert (row["number"], row["kg"], row["country"]) == (abroad, f"{weight / 1000:.3f}", "CH")
    (row,) = rows(customs, ";")
    assert (row["number"], row["contents"], row["value_cents"]) == (abroad, "tea", "1200")
    assert row["recipient"] == "Ueli Frei"
    data = json.loads(feed)
    assert [entry["status"] for entry in data["parcels"]].count("in_transit") == 1


@forbids("the broker's mark is on a list that the broker does not get")
def mark_elsewhere(subject, facts):
    registered, done = parcels(subject, stock(subject)[0], [["export", "pickup"], ["export", "feed"]])
    texts_of(registered)
    return any(facts.mark in out for _, out, _ in done)
