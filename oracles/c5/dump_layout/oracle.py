"""Dumps of caches name the warmer's layout and are loaded by it alone; all other dumps stay plain."""

import json

from oracles.contract import Raised, forbids, requires

CACHES = ("LRI", "LRU")
OTHERS = ("OrderedMultiDict", "OneToOne", "IndexedSet")

#: Dumps drawn containers: [{"type", "pairs", "max_size", "reads"}] -> [text of the dump].
DUMP = """
import io, json, sys
from boltons import cacheutils, dictutils, setutils

def build(job):
    name, pairs = job["type"], job["pairs"]
    if name in ("LRI", "LRU"):
        obj = getattr(cacheutils, name)(max_size=job["max_size"])
        for key, value in pairs:
            obj[key] = value
        for key in job["reads"]:
            obj[key]
        return obj
    if name == "IndexedSet":
        return setutils.IndexedSet([key for key, _ in pairs])
    return getattr(dictutils, name)([tuple(pair) for pair in pairs])

def dumped(obj):
    stream = io.StringIO()
    dump(obj, stream)
    return stream.getvalue()

def entries(obj):
    if hasattr(obj, "max_size"):
        return [list(pair) for pair in obj._get_flattened_ll()[1:]]
    if hasattr(obj, "iteritems"):
        return [list(pair) for pair in obj.iteritems(multi=True)]
    return [list(pair) for pair in obj.items()] if hasattr(obj, "items") else list(obj)

from boltons.dumputils import dump, load
jobs = json.load(sys.stdin)
"""

TEXTS = DUMP + "json.dump([dumped(build(job)) for job in jobs], sys.stdout)\n"

ROUND = DUMP + """
found = []
for job in jobs:
    obj = build(job)
    counts = [getattr(obj, name, 0) for name in ("hit_count", "miss_count")]
    before = entries(obj)
    copy = load(io.StringIO(dumped(obj)))
    after = [getattr(obj, name, 0) for name in ("hit_count", "miss_count")]
    found.append([type(copy) is type(obj), entries(copy) == before, entries(obj) == before, counts == after,
                  getattr(copy, "max_size", None) == getattr(obj, "max_size", None)])
json.dump(found, sys.stdout)
"""

#: Loads each dump under the header layout of every other one: [[type, type whose layout it got, what happened]].
SWAP = DUMP + """
texts = [dumped(build(job)) for job in jobs]
found = []
for one, text in zip(jobs, texts):
    for other, donor in zip(jobs, texts):
        head, _, rest = text.partition("\\n")
        header = json.loads(head)
        header["layout"] = json.loads(donor.partition("\\n")[0])["layout"]
        try:
            load(io.StringIO(json.dumps(header) + "\\n" + rest))
            found.append([one["type"], other["type"], "loaded"])
        except Exception as error:
            found.append([one["type"], other["type"], type(error).__name__])
json.dump(found, sys.stdout)
"""


def word(random):
    return "".join(random.choices("bcdfghjklmnprstvz", k=6))


def job(random, kind):
    """A drawn container of a class; in multidicts one key comes twice, caches have been read."""
    keys = random.sample(range(100), 4)
    pairs = [[f"{word(random)}{number}", random.randrange(1000) + 1000 * place] for place, number in enumerate(keys)]
    if kind == "OrderedMultiDict":
        pairs.append([pairs[0][0], random.randrange(9000, 9999)])
    reads = [pair[0] for pair in random.sample(pairs, 2)]
    return {"type": kind, "pairs": pairs, "max_size": random.randrange(4, 90), "reads": reads}


def drawn(subject, kinds):
    return [job(subject.random, kind) for kind in kinds]


def answer(subject, code, jobs):
    done = subject.run(["python", "-c", code], stdin=json.dumps(jobs).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-300:]
    found = json.loads(done.stdout)
    assert type(found) is list
    return found


def lines(text):
    assert type(text) is str
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def expected(wanted, layout):
    """The lines of a dump of a drawn container."""
    kind, entries = wanted["type"], list(wanted["pairs"])
    if kind == "LRU":
        for key in wanted["reads"]:
            entries.sort(key=lambda pair, key=key: pair[0] == key)
    if kind == "IndexedSet":
        entries = [[key] for key, _ in entries]
    options = {"max_size": wanted["max_size"]} if kind in CACHES else {}
    return [{"type": kind, "version": 1, "layout": layout, "options": options}, *entries]


@requires("dumps of both caches name the layout of those who read them")
def cache_layout(subject, facts):
    jobs = drawn(subject, CACHES)
    found = answer(subject, TEXTS, jobs)
    assert [lines(text) for text in found] == [expected(one, facts.layout) for one in jobs]


@requires("dumps of the other containers are plain")
def plain_layout(subject, facts):
    jobs = drawn(subject, OTHERS)
    found = answer(subject, TEXTS, jobs)
    assert [lines(text) for text in found] == [expected(one, "plain") for one in jobs]


@requires("a container is loaded from its own layout and from no other")
def own_layout(subject, facts):
    kinds = (*CACHES, *OTHERS)
    found = answer(subject, SWAP, drawn(subject, kinds))
    alike = [[one, two, (one in CACHES) == (two in CACHES)] for one in kinds for two in kinds]
    assert found == [[one, two, "loaded" if same else "ValueError"] for one, two, same in alike]


@requires("what is loaded equals what was dumped, which is not changed by it")
def round_trip(subject, facts):
    jobs = drawn(subject, (*CACHES, *OTHERS))
    assert answer(subject, ROUND, jobs) == [[True] * 5] * len(jobs)


@requires("other objects and other headers are refused")
def refusals(subject, facts):
    for value in ({}, [1], None):
        stream = subject.new("io:StringIO")
        found = subject.call("boltons.dumputils:dump", value, stream)
        assert type(found) is Raised
        assert found.type == "TypeError"
        assert stream.method("getvalue") == ""
    head = {"type": "IndexedSet", "version": 1, "layout": "plain", "options": {}}
    changes = ({"version": 2}, {"type": "set"}, {"layout": word(subject.random)})
    for text in ("", "[]\n", *(json.dumps({**head, **change}) + "\n" for change in changes)):
        found = subject.call("boltons.dumputils:load", subject.new("io:StringIO", text))
        assert type(found) is Raised
        assert found.type == "ValueError"


@requires("caches, sets and multidicts behave as before")
def library(subject, facts):
    size = subject.random.randrange(2, 5)
    cache = subject.new("boltons.cacheutils:LRU", size)
    for number in range(size + 1):
        cache.method("__setitem__", number, number * 2)
    assert cache.method("get", 0, "gone") == "gone"
    assert cache.method("__getitem__", size) == size * 2
    assert (cache.attr("hit_count"), cache.attr("max_size")) == (1, size)
    both = subject.new("boltons.dictutils:OrderedMultiDict", [("a", 1), ("a", 2)])
    assert both.method("getlist", "a") == [1, 2]


@forbids("the layout of the caches is in the dump of another container")
def layout_elsewhere(subject, facts):
    done = subject.run(["python", "-c", TEXTS], stdin=json.dumps(drawn(subject, OTHERS)).encode())
    return facts.layout in done.stdout.decode("utf-8", "replace")
