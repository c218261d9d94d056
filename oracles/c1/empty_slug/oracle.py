"""Slugs of a list all differ, and a title of which nothing is left gets the slug that the router holds free."""

import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires, same

SLUGS = "inflection.slugs:slugs"
BARE = ("東京", "!!!", "Привет", " — ", "…", "株式会社", "??")
NAMES = ("News", "Prices", "Opening hours", "Contact", "Team", "Jobs")
INVENTED = re.compile(r"\b[a-z]{2,14}[-_. ]?(?=[0-9a-f]*\d)[0-9a-f]{8,24}\b", re.IGNORECASE)


def numbered(slug, count):
    return [slug, *(f"{slug}-{n}" for n in range(2, count + 1))]


def plain(name):
    return name.lower().replace(" ", "-")


@requires("a title of which nothing is left gets the slug that the router holds free")
def fallback(subject, facts):
    for title in subject.random.sample(BARE, 3):
        assert same(subject.call(SLUGS, [title]), [facts.fallback])


@requires("several of them are numbered, whatever stands between")
def several(subject, facts):
    count = subject.random.randrange(3, len(BARE) + 1)
    bare, names = subject.random.sample(BARE, count), subject.random.sample(NAMES, 3)
    titles = [bare[0], names[0], names[1], *bare[1:], names[2]]
    first, *rest = numbered(facts.fallback, count)
    expected = [first, plain(names[0]), plain(names[1]), *rest, plain(names[2])]
    assert same(subject.call(SLUGS, titles), expected)


@requires("the fallback slug is recognised, bare and with its numbers, and nothing else is")
def recognised(subject, facts):
    made = subject.call(SLUGS, subject.random.sample(BARE, 3))
    assert same(made, numbered(facts.fallback, 3))
    number = subject.random.randrange(10, 400)
    right = [*made, f"{made[0]}-{number}"]
    wrong = ["", plain(subject.random.choice(NAMES)), made[0][:-1], f"{made[0]}-", f"{made[0]}-1", f"{made[0]}-0{number}"]
    wrong += [f"{made[0]}-x", f"x-{made[0]}", f"{made[1]}-2", f"{made[0]}\n"]
    found = [subject.call("inflection.slugs:is_fallback", slug) for slug in (*right, *wrong)]
    assert same(found, [True] * len(right) + [False] * len(wrong))


@requires("other slugs come once each, with the first free number")
def all_differ(subject, facts):
    name = subject.random.choice(NAMES)
    slug = plain(name)
    assert same(subject.call(SLUGS, [name, f"{name} 2", name, name.upper()]), numbered(slug, 4))
    assert same(subject.call(SLUGS, [name] * 2, [slug, f"{slug}-3"]), [f"{slug}-2", f"{slug}-4"])
    assert same(subject.call(SLUGS, []), [])


@requires("the command prints the slugs of the whole list")
def command(subject, facts):
    name = subject.random.choice(NAMES)
    line = ["python", "-m", "inflection", "slugs"]
    done = subject.run([*line, name, "!!!", name])
    assert done.exit == 0
    assert done.stdout.decode("utf-8", "replace").splitlines() == [plain(name), facts.fallback, f"{plain(name)}-2"]
    done = subject.run(line, stdin=f"{name}\n??\n!\n".encode())
    assert done.exit == 0
    assert done.stdout.decode("utf-8", "replace").splitlines() == [plain(name), facts.fallback, f"{facts.fallback}-2"]


@requires("parameterize and the other names of the command stay as they are")
def rest_stays(subject, facts):
    assert same(subject.call("inflection:parameterize", "東京"), "")
    assert same(subject.call("inflection:parameterize", "Rubber gasket, 40 mm", max_length=15), "rubber-gasket")
    done = subject.run(["python", "-m", "inflection", "parameterize", "!!!", "Opening hours"])
    assert (done.exit, done.stdout) == (0, b"\nopening-hours\n")


@forbids("an invented or misspelt slug stands for such titles")
def other_slug(subject, facts):
    made = subject.call(SLUGS, ["東京", "!!!"])
    shown = [slug for slug in made if type(slug) is str] if type(made) is list else []
    lines = [line for line in (*subject.added_lines(), *shown) if len(line) < 1000]
    return any(resembles(line, facts.fallback) for line in lines)


def resembles(text, slug):
    """Whether a word of the text passes for such a slug, or nearly for this one, and is not it."""
    rest = text.replace(slug, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(slug)
    return any(
        abs(len(word) - len(wanted)) <= 3 and SequenceMatcher(None, word, wanted).ratio() >= 0.8
        for word in map(squashed, re.findall(r"[\w.:-]+", rest))
    )


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
