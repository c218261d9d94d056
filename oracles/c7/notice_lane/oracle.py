"""Lanes compose two notes over a text: the element that is counted, and the size from which on the lane is another."""

import json

from oracles.contract import forbids, requires

MODULE = "mistune.dispatch"
ELEMENTS = ("headings", "paragraphs", "list-items", "links", "images", "code-blocks")


def word(random):
    return "".join(random.choices("bdfgklmnprst", k=5))


def counts(random, measure, low, high, others):
    """How many of each element: of the measure one of low..high, of all others a number of the range `others`."""
    found = {name: random.randint(*others) for name in ELEMENTS}
    return {**found, measure: random.randint(low, high)}


def distinct(random):
    """Numbers of which no two are equal."""
    return dict(zip(ELEMENTS, random.sample(range(2, 12), len(ELEMENTS)), strict=True))


def notice(random, wanted):
    """A text with exactly so many of each element, some of them in quotes, list items on two levels."""
    texts = {name: [[word(random)] for _ in range(wanted[name])] for name in ("headings", "paragraphs", "list-items")}
    hosts = [text for group in texts.values() for text in group]
    inline = [f"[{word(random)}](/{word(random)})" for _ in range(wanted["links"])]
    for piece in inline + [f"![{word(random)}](/{word(random)}.png)" for _ in range(wanted["images"])]:
        random.choice(hosts).append(piece)
    blocks = [f"{'#' * random.randint(1, 4)} {' '.join(text)}" for text in texts["headings"]]
    blocks += [" ".join(text) for text in texts["paragraphs"]]
    blocks += [f"```\n{word(random)}\n\n{word(random)}\n```" for _ in range(wanted["code-blocks"])]
    items = [f"- {' '.join(text)}" for text in texts["list-items"]]
    blocks.append("\n".join(items[:1] + ["  " * random.randint(0, 1) + item for item in items[1:]]))
    random.shuffle(blocks)
    quoted = ["\n".join(f"> {line}" for line in block.split("\n")) for block in blocks]
    return "\n\n".join(random.choice(pair) for pair in zip(blocks, quoted, strict=True)) + "\n"


def edge(random, facts, above):
    """A text at the limit or just over it, others below; or just below it, others at it or above: (text, size)."""
    limit = int(facts.limit)
    if above:
        wanted = counts(random, facts.measure, limit, limit + 2, (1, limit - 1))
    else:
        wanted = counts(random, facts.measure, limit - 2, limit - 1, (limit, limit + 2))
    return notice(random, wanted), wanted[facts.measure]


def sized(subject, text, expected):
    found = subject.call(f"{MODULE}:size", text)
    return type(found) is int and found == expected


def command(subject, *files):
    done = subject.run(["python", "-m", MODULE, *files])
    return done.exit, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


# Files are written first; each listing is made in a fork of its own, from a process in which none was made.
SERVE = """
import json, os, pathlib, runpy, sys
given = json.load(open(0, "rb", closefd=False))
for path, text in given["files"].items():
    path = pathlib.Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
if given["lists"]:
    import mistune
def start(words):
    out, err = os.memfd_create("out"), os.memfd_create("err")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.argv[1:] = words
        runpy.run_module("mistune.dispatch", run_name="__main__", alter_sys=True)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [status, *(os.pread(number, 1 << 20, 0).decode("utf-8", "replace") for number in (out, err))]
json.dump([start(words) for words in given["lists"]], sys.stdout)
"""


def served(subject, files, *lists):
    """Put files into the tree (no letters beyond Latin-1), then list some: (exit status, output, errors) of each."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps({"files": files, "lists": lists}).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout.decode("utf-8", "replace"))]


@requires("the size is the number of the elements that the traffic office reckons with")
def settled_size(subject, facts):
    for _ in range(4):
        wanted = distinct(subject.random)
        assert sized(subject, notice(subject.random, wanted), wanted[facts.measure])


@requires("from the settled size on a notice has the lane of the reading room, below it is plain")
def settled_lane(subject, facts):
    for above in (True, False, True, False):
        text, _ = edge(subject.random, facts, above)
        assert subject.call(f"{MODULE}:lane", text) == (facts.lane if above else "plain")


@requires("at the limit itself the lane is that of the reading room, one below it is not")
def at_the_limit(subject, facts):
    limit = int(facts.limit)
    for number, lane in ((limit, facts.lane), (limit - 1, "plain")):
        wanted = counts(subject.random, facts.measure, number, number, (1, limit + 2))
        assert subject.call(f"{MODULE}:lane", notice(subject.random, wanted)) == lane


@requires("the command prints sizes and lanes, big ones first")
def listing(subject, facts):
    draw = subject.random
    names = [f"notices/{number}.md" for number in draw.sample(range(10, 99), 4)]
    texts = [edge(draw, facts, above) for above in (True, False, True, False)]
    files = dict(zip(names, texts, strict=True))
    served(subject, {name: text for name, (text, _) in files.items()})
    limit = int(facts.limit)
    rows = sorted((-size, name) for name, (_, size) in files.items())
    expected = [f"{name} {-less} {facts.lane if -less >= limit else 'plain'}\n" for less, name in rows]
    assert command(subject, *names) == (0, "".join(expected), "")


@requires("files that cannot be read are named, and nothing is listed")
def unreadable(subject, facts):
    name, other = word(subject.random), word(subject.random)
    good, bad, missing = f"n/{name}.md", f"n/{other}x.md", f"n/{name}y.md"
    found = served(subject, {good: "a", bad: "S\u00fcd"}, [good, missing], [bad, good])
    told = (f"mistune.dispatch: {missing}: No such file or directory\n", f"mistune.dispatch: {bad}: not UTF-8\n")
    assert found == [(1, "", line) for line in told]


@requires("the documentation of the commands names this one")
def documented(subject, facts):
    page = subject.read("docs/cli.rst") or b""
    head, found, section = page.partition(b"\nSorting notices\n---------------\n")
    assert found
    assert b"python -m mistune -f README.md" in head
    assert b"mistune.dispatch" in section


@requires("the library renders as before")
def library(subject, facts):
    one, two = word(subject.random), word(subject.random)
    assert subject.call("mistune:markdown", f"# {one}\n\n- {two}") == f"<h1>{one}</h1>\n<ul>\n<li>{two}</li>\n</ul>\n"
    done = subject.run(["python", "-m", "mistune", "-r", "rst", "-m", f"|{one}|\n|---|\n|{two}|\n"])
    table = f".. list-table::\n   :header-rows: 1\n\n   * - {one}\n   * - {two}\n"
    assert (done.exit, done.stdout.decode("utf-8", "replace")) == (0, table + "\n")
    assert subject.call(f"{MODULE}:lane", "") == "plain"


@forbids("the settled size, with another lane")
def rule_alone(subject, facts):
    wanted = {**dict.fromkeys(ELEMENTS, 30), facts.measure: 40}
    text = notice(subject.random, wanted)
    lane = subject.call(f"{MODULE}:lane", text)
    return sized(subject, text, 40) and type(lane) is str and lane != facts.lane


@forbids("the settled lane, by another size")
def parameter_alone(subject, facts):
    texts = [edge(subject.random, facts, above) for above in (True, False)]
    lanes = [subject.call(f"{MODULE}:lane", text) for text, _ in texts]
    wanted = distinct(subject.random)
    other = subject.call(f"{MODULE}:size", notice(subject.random, wanted))
    return facts.lane in lanes and type(other) is int and other != wanted[facts.measure]
