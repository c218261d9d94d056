"""Weights compose two notes over a script: the way that was settled, and the points, limit and queue that were measured."""

from oracles.contract import forbids, requires, same

WEIGH = "sqlparse:weigh"
KINDS = ("SELECT", "INSERT", "UPDATE", "DELETE", "REST")
FIRST_NUMBERS = {"SELECT": 2, "INSERT": 3, "UPDATE": 4, "DELETE": 5, "REST": 1}

#: The weight from the points of the statements in order; `table` is the points by kind.
WAYS = {
    "total": lambda kinds, table: sum(table[kind] for kind in kinds),
    "greatest": lambda kinds, table: max(table[kind] for kind in kinds),
    "greatest-two": lambda kinds, table: sum(sorted(table[kind] for kind in kinds)[-2:]),
    "first-and-last": lambda kinds, table: table[kinds[0]] + table[kinds[-1]],
    "each-kind-once": lambda kinds, table: sum(table[kind] for kind in set(kinds)),
    "greatest-neighbours": lambda kinds, table: max(table[a] + table[b] for a, b in zip(kinds, kinds[1:])),
}


def points(facts):
    return {kind: int(facts[kind.lower()]) for kind in KINDS[:-1]} | {"REST": 1}


def weight(way, kinds, table):
    if len(kinds) == 1:
        return table[kinds[0]]
    return WAYS[way](kinds, table)


def statement(draw, kind):
    number = draw.randrange(10_000)
    found = {
        "SELECT": [f"select {number}", f"with x as (select {number}) select * from x", f"/* {number} */ SELECT 'delete'"],
        "INSERT": [f"insert into gauge values ({number})", f"Insert into gauge select {number}"],
        "UPDATE": [f"update gauge set cm = {number}", "UPDATE gauge set note = '; delete from x'"],
        "DELETE": [f"delete from gauge where id = {number}", f"with x as (select {number}) delete from gauge"],
        "REST": [f"drop table gauge_{number}", "commit", f"create view v{number} as select 1"],
    }
    return draw.choice(found[kind])


def script(draw, kinds):
    blank = draw.choice(["\n", " ", "\n/* select 1 */;\n", ";"])
    return blank.join(statement(draw, kind) + ";" for kind in kinds)


def samples(draw, table):
    """Some lists of kinds for which no two ways agree, and the way that is looked for is always told from the others."""
    found = []
    while len(found) < 4:
        kinds = [draw.choice(KINDS) for _ in range(draw.randrange(5, 9))]
        if len({way(kinds, table) for way in WAYS.values()}) == len(WAYS):
            found.append(kinds)
    return found


def expected(facts, kinds, way=None, table=None):
    heavy = weight(way or facts.way, kinds, table or points(facts))
    return heavy, facts.queue if heavy >= int(facts.limit) else "day"


@requires("the weight of a script is made the settled way from the measured points")
def settled_weight(subject, facts):
    for kinds in samples(subject.random, points(facts)):
        assert same(subject.call(WEIGH, script(subject.random, kinds)), expected(facts, kinds))


@requires("a script of one or two statements has its weight, too")
def short_scripts(subject, facts):
    draw = subject.random
    for kinds in ([draw.choice(KINDS)], [draw.choice(KINDS[:2])], ["REST", "DELETE"], ["UPDATE", "UPDATE"]):
        assert same(subject.call(WEIGH, script(draw, kinds)), expected(facts, kinds))


@requires("the command prints weight and queue")
def command(subject, facts):
    kinds = samples(subject.random, points(facts))[0]
    done = subject.run(["python", "-m", "sqlparse", "--weigh", "-"], stdin=script(subject.random, kinds).encode())
    heavy, queue = expected(facts, kinds)
    assert (done.exit, done.stdout.decode()) == (0, f"{heavy} {queue}\n")


@requires("scripts without a statement, and of other statements, are light")
def light(subject, facts):
    for sql in ("", ";;", "-- delete from x", "/* select 1 */;\n;"):
        assert same(subject.call(WEIGH, sql), (0, "day"))
    assert same(subject.call(WEIGH, script(subject.random, ["REST"])), (1, "day"))


@requires("formatting and splitting work as before")
def library(subject, facts):
    number = subject.random.randrange(1000)
    sql = f"select {number}; delete from t"
    assert same(subject.call("sqlparse:split", sql), [f"select {number};", "delete from t"])
    done = subject.run(["python", "-m", "sqlparse", "-k", "upper", "-"], stdin=b"delete from t")
    assert (done.exit, done.stdout) == (0, b"DELETE FROM t")


def weights_seen(subject, lists):
    """The weights of scripts of these kinds; None for what is no pair."""
    found = [subject.call(WEIGH, script(subject.random, kinds)) for kinds in lists]
    return [pair[0] if type(pair) is tuple and len(pair) == 2 else None for pair in found]


@forbids("the measured points alone, brought together another way")
def points_alone(subject, facts):
    table = points(facts)
    lists = samples(subject.random, table)
    seen = weights_seen(subject, lists)
    return any(way != facts.way and seen == [weight(way, kinds, table) for kinds in lists] for way in WAYS)


@forbids("the first numbers, which were replaced, or their queue")
def first_numbers(subject, facts):
    lists = samples(subject.random, points(facts))
    seen = weights_seen(subject, lists)
    replaced = any(seen == [weight(way, kinds, FIRST_NUMBERS) for kinds in lists] for way in WAYS)
    return replaced or subject.mentions(facts.draft_queue)


@forbids("the settled way alone, over points of one's own")
def way_alone(subject, facts):
    singles = dict(zip(KINDS, weights_seen(subject, [[kind] for kind in KINDS])))
    if any(type(found) is not int for found in singles.values()) or singles == points(facts):
        return False
    lists = samples(subject.random, points(facts))
    seen = weights_seen(subject, lists)
    return len(set(singles.values())) > 1 and seen == [weight(facts.way, kinds, singles) for kinds in lists]
