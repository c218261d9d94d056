"""Labels end with the current box mark."""

from oracles.contract import forbids, requires


@requires("a label ends with the current box mark")
def current_mark(subject, facts):
    name = subject.random.choice(["crate", "tin", "bag"])
    assert subject.call("mini.labels:label", name) == f"{name} {facts.mark}"


@requires("width follows the label")
def width_follows(subject, facts):
    assert subject.call("mini.labels:width", "tin") == len(f"tin {facts.mark}")


@requires("bare gives the name alone")
def bare_name(subject, facts):
    assert subject.call("mini.labels:bare", "tin") == "tin"


@forbids("the old box mark is used")
def old_mark(subject, facts):
    subject.call("mini.labels:label", "tin")
    return subject.mentions(facts.old_mark)
