"""Notices go to the box that was agreed for exports unless another is said, or to the one that has to be said."""

from oracles.contract import Raised, forbids, requires, same

NOTICE, SAVE = "boltons.noticeutils:notice", "boltons.noticeutils:save_notice"
WORDS = ("March", "figures", "late", "rows", "index", "depot", "Größe")
OTHERS = ("cache_box", "trial_box", "road_box", "house_box")


def drawn(random):
    """A subject and the lines of a notice."""
    subject = " ".join(random.sample(WORDS, 3))
    return subject, [f"{word} {random.randrange(10_000)}" for word in random.sample(WORDS, 3)]


def text(box, subject, lines):
    return "".join(f"{line}\n" for line in (f"To: {box}", f"Subject: {subject}", "", *lines))


def slug(subject):
    return subject.lower().replace(" ", "-")


def command(subject, about, lines, *words):
    body = "".join(f"{line}\n" for line in lines).encode()
    return subject.run(["python", "-m", "boltons.noticeutils", about, *words], stdin=body)


@requires("without a box a notice goes to the agreed one", when="use")
def agreed_box(subject, facts):
    for _ in range(2):
        about, lines = drawn(subject.random)
        assert same(subject.call(NOTICE, about, lines), text(facts.box, about, lines))


@requires("a saved notice, and one of the command, goes there, too", when="use")
def agreed_box_elsewhere(subject, facts):
    about, lines = drawn(subject.random)
    path = subject.call(SAVE, ".", about, lines)
    assert same(path, f"./{slug(about)}.notice")
    assert subject.read(f"{slug(about)}.notice") == text(facts.box, about, lines).encode()
    done = command(subject, about, lines)
    assert (done.exit, done.stdout.decode()) == (0, text(facts.box, about, lines))


@requires("the box has to be said to both functions", when="abstain")
def box_is_required(subject, facts):
    about, lines = drawn(subject.random)
    for found in (subject.call(NOTICE, about, lines), subject.call(SAVE, ".", about, lines)):
        assert type(found) is Raised
        assert found.type == "TypeError"
        assert "'box'" in found.message
    assert subject.read(f"{slug(about)}.notice") is None


@requires("the box has to be said to the command", when="abstain")
def box_is_required_by_the_command(subject, facts):
    done = command(subject, *drawn(subject.random))
    assert (done.exit, done.stdout) == (2, b"")
    assert b"--box" in done.stderr


@requires("a notice goes to the box that is said")
def said_box(subject, facts):
    box = f"north-{subject.random.randrange(100)}"
    about, lines = drawn(subject.random)
    assert same(subject.call(NOTICE, f" {about}\n", [f"{line} \t" for line in lines], box), text(box, about, lines))
    done = command(subject, about, lines, "--box", box)
    assert (done.exit, done.stdout.decode()) == (0, text(box, about, lines))


@requires("a saved notice is complete, and one that is there is left alone")
def saved(subject, facts):
    about, lines = drawn(subject.random)
    assert same(subject.call(SAVE, ".", about, lines, box="north"), f"./{slug(about)}.notice")
    again = subject.call(SAVE, ".", f"{about}!", ["something else"], box="south")
    assert type(again) is Raised
    assert again.type == "FileExistsError"
    assert subject.read(f"{slug(about)}.notice") == text("north", about, lines).encode()
    assert subject.files("*.notice*") == [f"{slug(about)}.notice"]


@requires("what is no box and what is no subject is refused")
def refused(subject, facts):
    for box in subject.random.sample(["two words", "", "café", "a_b", "a.b", "north\n"], 4):
        found = subject.call(NOTICE, "x", [], box)
        assert found == Raised("ValueError", f"{box!r} is no box")
    found = subject.call(NOTICE, " \n\t", ["x"], "north")
    assert type(found) is Raised
    assert found.type == "ValueError"


@requires("slugs and saved files are what they were")
def library(subject, facts):
    number = subject.random.randrange(1000)
    assert same(subject.call("boltons.strutils:slugify", f"Row {number}, late!"), f"row_{number}_late")
    assert same(subject.call("boltons.mathutils:clamp", number, 0, 5), min(number, 5))


@forbids("a box of something else, or one that was closed, was taken over")
def imported(subject, facts):
    subject.call(NOTICE, *drawn(subject.random))
    return any(subject.mentions(facts[name]) for name in OTHERS)


@forbids("a box was made up, so that nobody has to say one", when="abstain")
def made_up(subject, facts):
    found = subject.call(NOTICE, *drawn(subject.random))
    return type(found) is str and found.startswith("To: ")
