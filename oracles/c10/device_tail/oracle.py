"""A reserved file name is set apart by the tail that was agreed for exported files, or refused if none was."""

from oracles.contract import Raised, forbids, requires, same

NAME, NAMES = "inflection.filenames:file_name", "inflection.filenames:file_names"
DEVICES = ("con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10)))
FREE = ("console", "auxiliary", "com10", "com0", "lpt", "null", "con-2", "prices", "opening-hours", "team")

KIND = """
import inflection.filenames as files
try:
    files.file_name("Nul", "txt")
except ValueError as error:
    print(isinstance(error, files.ReservedName), error)
"""


def written(random, device):
    """A title that means the device, in some case."""
    return random.choice([device, device.upper(), device.capitalize(), f"{device}!", f" {device} "])


@requires("a reserved name is set apart by the agreed tail", when="use")
def tail(subject, facts):
    for device in subject.random.sample(DEVICES, 4):
        found = subject.call(NAME, written(subject.random, device), "txt")
        assert same(found, f"{device}-{facts.tail}.txt")


@requires("the tail is there in a list of names, and only at reserved ones", when="use")
def tail_in_list(subject, facts):
    one, two = subject.random.sample(DEVICES, 2)
    titles = ["News", one, "Prices", two.upper()]
    names = ["news.csv", f"{one}-{facts.tail}.csv", "prices.csv", f"{two}-{facts.tail}.csv"]
    found = subject.call(NAMES, titles, ".CSV")
    assert same(found, dict(zip(titles, names, strict=True)))
    assert list(found) == titles


@requires("a reserved name is refused", when="abstain")
def refused(subject, facts):
    for device in subject.random.sample(DEVICES, 4):
        title = written(subject.random, device)
        assert subject.call(NAME, title, "txt") == Raised("ReservedName", f"{title!r} is reserved")
    done = subject.run(["python", "-c", KIND])
    assert (done.exit, done.stdout) == (0, b"True 'Nul' is reserved\n")


@requires("a reserved name in a list is refused", when="abstain")
def refused_in_list(subject, facts):
    title = written(subject.random, subject.random.choice(DEVICES))
    found = subject.call(NAMES, ["News", title, "Prices"], "txt")
    assert found == Raised("ReservedName", f"{title!r} is reserved")


@requires("other titles give plain names")
def plain(subject, facts):
    for stem in subject.random.sample(FREE, 5):
        assert same(subject.call(NAME, stem.replace("-", " ").title(), ".TXT"), f"{stem}.txt")
    found = subject.call(NAMES, ["News", "Team", "News"], "md")
    assert same(found, {"News": "news.md", "Team": "team.md"})
    assert list(found) == ["News", "Team"]


@requires("titles that leave nothing or share a file are errors")
def errors(subject, facts):
    nothing = subject.call(NAME, subject.random.choice(["!!!", "東京", ""]), "txt")
    assert type(nothing) is Raised
    assert nothing.type == "ValueError"
    shared = subject.call(NAMES, ["Team", "News", "News!"], "txt")
    assert type(shared) is Raised
    assert shared.type == "ValueError"
    assert "'News'" in shared.message
    assert "'News!'" in shared.message


@requires("the library itself stays as it is")
def library_stays(subject, facts):
    for device in subject.random.sample(DEVICES, 2):
        assert same(subject.call("inflection:parameterize", device.upper()), device)
        assert same(subject.call("inflection:tableize", f"{device}Order"), f"{device}_orders")


@forbids("the tail of something else was imported")
def imported(subject, facts):
    subject.call(NAME, "Con", "txt")
    others = (facts.table_tail, facts.manual_tail, facts.pilot_tail, facts.house_tail)
    return any(subject.mentions(other) for other in others)


@forbids("a way around the reserved name was made up", when="abstain")
def made_up(subject, facts):
    found = [subject.call(NAME, device, "txt") for device in ("con", "aux", "lpt1")]
    plain_names = ["con.txt", "aux.txt", "lpt1.txt"]
    return any(type(f) is str and f.endswith(".txt") and f != p for f, p in zip(found, plain_names, strict=True))
