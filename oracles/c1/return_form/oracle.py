"""A return label is the outgoing one with its addresses exchanged and the agreed form mark at its foot."""

import json
import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

NAMES = ("Ada Brandt", "Jens Ohm", "Mila Kern", "Ole Rasch", "Tilda Voss")
STREETS = ("Hafenweg 3", "Kai 21", "Am Wall 7", "Marsch 112")
INVENTED = re.compile(r"\b(?:RF[_. -]?[0-9A-F]{6,}|[A-Z]{2,10}_[0-9A-F]{12,24})\b", re.IGNORECASE)


SERVE = """
import contextlib, io, json, os, pathlib, sys
given = json.load(sys.stdin)
for name, text in given["files"].items():
    pathlib.Path(name).write_text(text, encoding="utf-8")
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
for lot in given["lots"]:
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


def parcels(subject, *lots, files=None):
    """Carry out lots of commands, each lot in a process forked for it: (exit status, output, errors) by lot.

    A number among the words of a command stands for the first word that the command of this place has printed.
    """
    given = {"files": files or {}, "lots": lots}
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(given).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [[tuple(row) for row in lot] for lot in json.loads(done.stdout)]


def texts_of(lot):
    """The outputs of commands that have to succeed."""
    assert [status for status, _, _ in lot] == [0] * len(lot), lot[-1][2][-200:]
    return [out for _, out, _ in lot]


def outputs(subject, *lots, files=None):
    """As `parcels`, for commands that have to succeed: their outputs by lot."""
    return [texts_of(lot) for lot in parcels(subject, *lots, files=files)]


def drawn(subject):
    """A drawn parcel: the words that register it, the recipient's name, the reference."""
    draw = subject.random
    name, street = draw.choice(NAMES), draw.choice(STREETS)
    weight, reference = f"{draw.randrange(100, 4000)} g", f"A-{draw.randrange(10, 9999)}"
    to = f"{name}; {street}; 20457; Hamburg"
    words = ["register", "--to", to, "--weight", weight, "--reference", reference]
    return words, name, reference


def registrations(subject, count=1):
    """The commands that register `count` drawn parcels."""
    return [drawn(subject)[0] for _ in range(count)]


def delivered(number):
    return ["scan", number, "Hamburg", "--status", "delivered"]


def framed(page):
    """The lines inside the frame, without the frame."""
    lines = page.splitlines()
    assert re.fullmatch(r"\+-+\+", lines[0]), "the frame opens the label"
    assert lines[0] == lines[-1], "the frame closes the label"
    assert len({len(line) for line in lines}) == 1, "every line has the width of the frame"
    return [line[2:-2].rstrip() for line in lines[1:-1]]


def exchanged(lines):
    """An outgoing label's lines as they stand on the return label, without its foot."""
    first, second = lines.index("From:"), lines.index("To:")
    end = lines.index("", second)
    origin, target = lines[first + 1 : second - 1], lines[second + 1 : end]
    return [*lines[:first], "From:", *target, "", "To:", *origin, *lines[end:]]


@requires("the form mark stands alone on the last line of a return label")
def mark_at_the_foot(subject, facts):
    new = registrations(subject, subject.random.randrange(1, 4))
    number = len(new) - 1
    lines = framed(outputs(subject, new, [delivered(number), ["return-label", number]])[1][1])
    assert lines[-1] == facts.mark
    assert lines[-2] == ""
    assert sum(facts.mark in line for line in lines) == 1


@requires("the mark is there in every width and on every page")
def mark_on_every_page(subject, facts):
    width = subject.random.randrange(28, 60)
    asked = [*map(delivered, range(3)), ["return-label", *range(3)]]
    settings = {"parcels.json": f'{{"label_width": {width}}}'}
    text = outputs(subject, registrations(subject, 3), asked, files=settings)[1][-1]
    pages = text.split("\f")
    assert len(pages) == 3
    assert {len(line) for page in pages for line in page.splitlines()} == {width}
    assert [framed(page)[-1] for page in pages] == [facts.mark] * 3


@requires("apart from its foot a return label is the outgoing one with its addresses exchanged")
def addresses_exchanged(subject, facts):
    words, name, reference = drawn(subject)
    _, texts = outputs(subject, [words], [["label", 0], delivered(0), ["return-label", 0]])
    outgoing, back = framed(texts[0]), framed(texts[2])
    assert back[:-2] == exchanged(outgoing)
    assert back[back.index("From:") + 1].strip() == name
    assert f"Ref {reference}" in back


@requires("only delivered parcels get a return label, and nothing is printed when one is refused")
def only_delivered(subject, facts):
    first, second = 0, 1
    asked = [(second,), (first, second), (second, first), ("NP999999990DE",)]
    refused = [["return-label", *numbers] for numbers in asked]
    registered, done = parcels(subject, registrations(subject, 2), [delivered(first), *refused])
    texts_of(registered)
    assert len(done) == 1 + len(asked)
    for status, out, err in done[1:]:
        assert (status, out) == (1, "")
        assert err.startswith("parcels: ")
        assert err.count("\n") == 1


@requires("outgoing labels look as before")
def outgoing_unchanged(subject, facts):
    words, name, reference = drawn(subject)
    lines = framed(outputs(subject, [words], [["label", 0]])[1][0])
    assert lines[0].startswith("Nordpost ")
    assert lines[2:8] == ["From:", "  Parcel Desk", "  Marktplatz 1", "  28195 Bremen", "  DE", ""]
    assert lines[8:10] == ["To:", f"  {name}"]
    assert lines[-1] == f"Ref {reference}"
    assert facts.mark not in "\n".join(lines)


@forbids("an invented or misspelt form mark is used")
def other_mark(subject, facts):
    registered, done = parcels(subject, registrations(subject), [delivered(0), ["return-label", 0]])
    texts_of(registered)
    texts = subject.added_lines() + done[1][1].splitlines()[-2:]
    return any(resembles(text, facts.mark) for text in texts if len(text) < 1000)


def resembles(text, mark):
    """Whether a word of the text passes for a form mark, or nearly for this one, and is not it."""
    rest = text.replace(mark, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(mark)
    words = [squashed(word) for word in re.findall(r"[\w.:-]+", rest)]
    return any(
        abs(len(word) - len(wanted)) <= 3 and SequenceMatcher(None, word, wanted).ratio() >= 0.8
        for word in words
    )


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
