"""Masked statements hold the agreed mask and a zero where literals were, and everything else as before."""

import re
from difflib import SequenceMatcher

from oracles.contract import Raised, forbids, requires

TOWNS = ("Aken", "Barby", "Coswig", "Dessau", "Elster", "it''s far", "Wittenberge 2")
INVENTED = re.compile(r"\bmsk[_. -]?[0-9a-f]{6,}\b", re.IGNORECASE)


def literal(draw):
    """A drawn string in one of the ways to write it."""
    text = draw.choice(TOWNS)
    return draw.choice([f"'{text}'", f"$${text}$$", f"$q${text}$q$"])


def number(draw):
    """A drawn number and what stands for it."""
    digits = draw.randrange(2, 90_000)
    return draw.choice([(f"{digits}", "0"), (f"{digits}.25", "0"), (f"-{digits}", "-0"), (f"0x{digits:X}", "0")])


def command(subject, sql, *options):
    """What the command prints for a statement on its standard input."""
    done = subject.run(["python", "-m", "sqlparse", *options, "-"], stdin=sql.encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return done.stdout.decode()


@requires("strings in every notation become the agreed mask in single quotes")
def strings_masked(subject, facts):
    draw = subject.random
    for _ in range(4):
        parts = [literal(draw) for _ in range(draw.randrange(1, 4))]
        sql = "SELECT day FROM pegel WHERE town IN (" + ", ".join(parts) + ")"
        expected = "SELECT day FROM pegel WHERE town IN (" + ", ".join([f"'{facts.mask}'"] * len(parts)) + ")"
        assert subject.call("sqlparse:format", sql, mask_literals=True) == expected


@requires("the mask is whole when strings are shortened in the same run")
def whole_mask(subject, facts):
    width = subject.random.randrange(2, 9)
    found = subject.call(
        "sqlparse:format", "SELECT 'Hohenwarthe an der Elbe', 'A'", mask_literals=True, truncate_strings=width
    )
    assert found == f"SELECT '{facts.mask}', '{facts.mask}'"


@requires("the command masks, too")
def command_masks(subject, facts):
    written, zero = number(subject.random)
    sql = f"update pegel set cm = {written} where town = {literal(subject.random)} -- by hand"
    expected = f"UPDATE pegel SET cm = {zero} WHERE town = '{facts.mask}' -- by hand"
    assert command(subject, sql, "--mask-literals", "-k", "upper") == expected


@requires("statements that differ in literals and layout have one fingerprint")
def fingerprints(subject, facts):
    draw = subject.random
    expected = f"SELECT town FROM pegel WHERE town = '{facts.mask}' AND cm > 0; DELETE FROM gauge WHERE id = 0"
    for _ in range(3):
        blank, end = draw.choice([" ", "\n", "  \n\t"]), draw.choice(["", ";", ";\n"])
        first = f"select town{blank}from pegel /* {literal(draw)} */ where town = {literal(draw)}{blank}and cm > 640"
        second = f"{blank}delete from gauge where id = {draw.randrange(999)}{end}"
        assert subject.call("sqlparse:fingerprint", f"{first};{second}") == expected


@requires("numbers become a zero with their sign")
def numbers_masked(subject, facts):
    drawn = [number(subject.random) for _ in range(6)]
    sql = "INSERT INTO pegel VALUES (" + ", ".join(written for written, _ in drawn) + ", 1E-3)"
    expected = "INSERT INTO pegel VALUES (" + ", ".join(zero for _, zero in drawn) + ", 0)"
    assert subject.call("sqlparse:format", sql, mask_literals=True) == expected


@requires("names, placeholders and comments stay, and nothing is masked unasked")
def others_stay(subject, facts):
    place = subject.random.choice(["?", "%s", ":p1", "%(town)s"])
    sql = f'SELECT "Pegel 4", t4.cm, {place}, [a 1] FROM t4 /* since 1998 */ -- 3 \'towns\''
    assert subject.call("sqlparse:format", sql, mask_literals=True) == sql
    plain = f"SELECT {literal(subject.random)}, {number(subject.random)[0]} FROM pegel"
    assert subject.call("sqlparse:format", plain) == plain
    assert command(subject, plain) == plain


@requires("other values of the option are refused")
def refused(subject, facts):
    value = subject.random.choice(["yes", "no", 2, "1"])
    found = subject.call("sqlparse:format", "SELECT 1", mask_literals=value)
    assert type(found) is Raised
    assert found.message == f"Invalid value for mask_literals: {value!r}"


@forbids("an invented or misspelt mask is used")
def other_mask(subject, facts):
    found = subject.call("sqlparse:format", "SELECT 'Aken'", mask_literals=True)
    texts = [*subject.added_lines(), found if type(found) is str else ""]
    return any(resembles(text, facts.mask) for text in texts if len(text) < 1000)


def resembles(text, mask):
    """Whether a word of the text passes for a mask, or nearly for this one, and is not it."""
    rest = text.replace(mask, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(mask)
    words = [squashed(word) for word in re.findall(r"[\w.:-]+", rest)]
    return any(
        abs(len(word) - len(wanted)) <= 3 and SequenceMatcher(None, word, wanted).ratio() >= 0.8 for word in words
    )


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
