"""A return label is the outgoing one with its addresses exchanged and the agreed form mark at its foot."""

import json
import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

NAMES = ("Ada Brandt", "Jens Ohm", "Mila Kern", "Ole Rasch", "Tilda Voss")
STREETS = ("Hafenweg 3", "Kai 21", "Am Wall 7", "Marsch 112")
INVENTED = re.compile(r"\b(?:RF[_. -]?[0-9A-F]{6,}|[A-Z]{2,10}_[0-9A-F]{12,24})\b", re.IGNORECASE)


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


def drawn(subject):
    """A drawn parcel: the words that register it, the recipient's name, the reference."""
    draw = subject.random
    name, street = draw.choice(NAMES), draw.choice(STREETS)
    weight, reference = f"{draw.randrange(100, 4000)} g", f"A-{draw.randrange(10, 9999)}"
    to = f"{name}; {street}; 20457; Hamburg"
    words = ["register", "--to", to, "--weight", weight, "--reference", reference]
    return words, name, reference


def register(subject, count=1):
    """The numbers of `count` new parcels."""
    return [out.split()[0] for out in outputs(subject, *(drawn(subject)[0] for _ in range(count)))]


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
    number = register(subject, subject.random.randrange(1, 4))[-1]
    lines = framed(outputs(subject, delivered(number), ["return-label", number])[1])
    assert lines[-1] == facts.mark
    assert lines[-2] == ""
    assert sum(facts.mark in line for line in lines) == 1


@requires("the mark is there in every width and on every page")
def mark_on_every_page(subject, facts):
    width = subject.random.randrange(28, 60)
    put = "import sys; open('parcels.json', 'w').write(sys.stdin.read())"
    assert subject.run(["python", "-c", put], stdin=b'{"label_width": %d}' % width).exit == 0
    numbers = register(subject, 3)
    text = outputs(subject, *map(delivered, numbers), ["return-label", *numbers])[-1]
    pages = text.split("\f")
    assert len(pages) == 3
    assert {len(line) for page in pages for line in page.splitlines()} == {width}
    assert [framed(page)[-1] for page in pages] == [facts.mark] * 3


@requires("apart from its foot a return label is the outgoing one with its addresses exchanged")
def addresses_exchanged(subject, facts):
    words, name, reference = drawn(subject)
    number = outputs(subject, words)[0].split()[0]
    texts = outputs(subject, ["label", number], delivered(number), ["return-label", number])
    outgoing, back = framed(texts[0]), framed(texts[2])
    assert back[:-2] == exchanged(outgoing)
    assert back[back.index("From:") + 1].strip() == name
    assert f"Ref {reference}" in back


@requires("only delivered parcels get a return label, and nothing is printed when one is refused")
def only_delivered(subject, facts):
    first, second = register(subject, 2)
    asked = [(second,), (first, second), (second, first), ("NP999999990DE",)]
    done = parcels(subject, delivered(first), *(["return-label", *numbers] for numbers in asked))
    for status, out, err in done[1:]:
        assert (status, out) == (1, "")
        assert err.startswith("parcels: ")
        assert err.count("\n") == 1


@requires("outgoing labels look as before")
def outgoing_unchanged(subject, facts):
    words, name, reference = drawn(subject)
    number = outputs(subject, words)[0].split()[0]
    lines = framed(outputs(subject, ["label", number])[0])
    assert lines[0].startswith("Nordpost ")
    assert lines[2:8] == ["From:", "  Parcel Desk", "  Marktplatz 1", "  28195 Bremen", "  DE", ""]
    assert lines[8:10] == ["To:", f"  {name}"]
    assert lines[-1] == f"Ref {reference}"
    assert facts.mark not in "\n".join(lines)


@forbids("an invented or misspelt form mark is used")
def other_mark(subject, facts):
    (number,) = register(subject)
    done = parcels(subject, delivered(number), ["return-label", number])
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
