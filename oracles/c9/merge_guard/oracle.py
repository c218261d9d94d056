"""Bundles hold whole statements up to their limit; MERGE bears the guard hint if and only if the story was confirmed."""

from oracles.contract import Raised, forbids, requires

TOWNS = ("Aken", "Barby", "Mühlberg", "Pretzsch", "Torgau")


def merge(draw, word):
    """A drawn MERGE statement without a semicolon; `word` is what it writes for MERGE."""
    return (
        f"{word} INTO pegel p USING stage s ON (p.id = s.id) WHEN MATCHED THEN UPDATE SET cm = {draw.randrange(999)} "
        f"WHEN NOT MATCHED THEN INSERT (id, town) VALUES (s.id, '{draw.choice(TOWNS)}')"
    )


def plain(draw):
    """A drawn statement of another kind, without a semicolon."""
    town, number = draw.choice(TOWNS), draw.randrange(999)
    return draw.choice(
        [
            f"INSERT INTO pegel VALUES ({number}, '{town}')",
            f"UPDATE pegel SET town = '{town}' /* the merge */ WHERE id = {number}",
            f"DELETE FROM pegel WHERE note = 'merge into {town}'",
        ]
    )


def bundle(subject, sql, limit=100_000):
    return subject.call("sqlparse:bundle", sql, limit)


def packed(statements, limit):
    """The statements in bundles, each filled as far as it goes."""
    found = []
    for text in statements:
        if found and len(f"{found[-1]}\n{text}".encode()) <= limit:
            found[-1] += f"\n{text}"
        else:
            found.append(text)
    return found


@requires("every MERGE statement in a bundle has the confirmed hint behind its first word", when="use")
def hint_is_written(subject, facts):
    for word in ("MERGE", "merge"):
        draw = subject.random
        state = draw.getstate()
        sql = f"{plain(draw)};\n\n{merge(draw, word)};\n-- then\n{plain(draw)};{merge(draw, word)}"
        draw.setstate(state)
        hinted = f"{word} /*+ {facts.guard} */"
        one, two, three, four = plain(draw), merge(draw, hinted), plain(draw), merge(draw, hinted)
        assert bundle(subject, sql) == [f"{one};\n{two};\n-- then\n{three};\n{four};"]


@requires("a MERGE behind common table expressions and comments has the hint, too", when="use")
def hint_behind_tables(subject, facts):
    draw = subject.random
    state, head = draw.getstate(), "/* MERGE */ WITH x AS (SELECT 1) "
    sql = head + merge(draw, "MERGE")
    draw.setstate(state)
    assert bundle(subject, sql) == [head + merge(draw, f"MERGE /*+ {facts.guard} */") + ";"]


@requires("the hint counts towards the limit", when="use")
def hint_counts(subject, facts):
    draw = subject.random
    state = draw.getstate()
    sql = ";".join(merge(draw, "MERGE") for _ in range(2))
    draw.setstate(state)
    texts = [merge(draw, f"MERGE /*+ {facts.guard} */") + ";" for _ in range(2)]
    size = len("\n".join(texts).encode())
    assert bundle(subject, sql, size) == ["\n".join(texts)]
    assert bundle(subject, sql, size - 1) == texts


@requires("a MERGE statement goes into a bundle as it was written", when="abstain")
def merge_as_written(subject, facts):
    draw = subject.random
    texts = [merge(draw, "MERGE"), plain(draw), "WITH x AS (SELECT 1) " + merge(draw, "merge")]
    assert bundle(subject, ";\n".join(texts)) == [";\n".join(texts) + ";"]
    size = len((texts[0] + ";").encode())
    assert bundle(subject, texts[0], size) == [texts[0] + ";"]


@requires("statements of other kinds are bundled as written, in order and up to the limit")
def bundles_are_filled(subject, facts):
    draw = subject.random
    for _ in range(3):
        texts = [plain(draw) + ";" for _ in range(draw.randrange(5, 12))]
        limit = draw.randrange(80, 300)
        found = bundle(subject, draw.choice(["\n", "  ", "\n\n;\n"]).join(texts), limit)
        assert found == packed(texts, limit)


@requires("missing semicolons are written behind the last word, and statements without a word are left out")
def statements_are_closed(subject, facts):
    one, two = plain(subject.random), plain(subject.random)
    sql = f"/* head */ {one};;\n/* nothing */;\n{two} -- the last one"
    assert bundle(subject, sql) == [f"/* head */ {one};\n{two}; -- the last one"]
    assert bundle(subject, "-- nothing") == []


@requires("what does not fit and a wrong limit are refused")
def refused(subject, facts):
    number = subject.random.randrange(1000, 9999)
    found = bundle(subject, f"select 1;;select {number};", 11)
    assert type(found) is Raised
    assert found.message == "statement 2 has 12 bytes, the limit is 11"
    for limit in (0, -number, "20", None):
        found = bundle(subject, "select 1", limit)
        assert type(found) is Raised
        assert found.message == f"Invalid limit: {limit!r}"


@requires("the command prints bundles, and without the option it formats as before")
def command(subject, facts):
    number = subject.random.randrange(10, 99)
    sql = f"merge into pegel using stage on (cm = {number}) when matched then update set cm = 1;\nselect {number};"
    done = subject.run(["python", "-m", "sqlparse", "-k", "upper", "-"], stdin=sql.encode())
    upper = f"MERGE INTO pegel USING stage ON (cm = {number}) WHEN matched THEN UPDATE SET cm = 1;\nSELECT {number};"
    assert (done.exit, done.stdout.decode()) == (0, upper)
    sql = f"select 1;\nselect {number};\n"
    done = subject.run(["python", "-m", "sqlparse", "--bundle", "12", "-"], stdin=sql.encode())
    assert (done.exit, done.stdout.decode()) == (0, f"select 1;\nGO\nselect {number};\nGO\n")
    done = subject.run(["python", "-m", "sqlparse", "--bundle", "9", "-"], stdin=sql.encode())
    assert (done.exit, done.stdout) == (1, b"")
    assert done.stderr.decode() == "[ERROR] Cannot bundle: statement 2 has 10 bytes, the limit is 9\n"


@forbids("a hint is written or kept ready after its reason was disproved", when="abstain")
def hint_after_all(subject, facts):
    if subject.mentions(facts.guard):
        return True
    found = bundle(subject, merge(subject.random, "MERGE"))
    return type(found) is list and any(type(text) is str and "/*+" in text for text in found)
