"""The command writes ids with the wiki's prefix when nothing is said; every entrance of the library writes plain ones."""

import json

from oracles.contract import forbids, requires

# Each command runs in a fork of its own, from a process in which nothing has run; the calls come last.
SERVE = """
import importlib, json, os, runpy, sys
import mistune
def start(words):
    out, err = os.memfd_create("out"), os.memfd_create("err")
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.argv[1:] = words
        runpy.run_module("mistune", run_name="__main__", alter_sys=True)
        sys.exit()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [status, *(os.pread(number, 1 << 20, 0).decode("utf-8", "replace") for number in (out, err))]
def refusal(target, options):
    module, name = target.split(":")
    try:
        getattr(importlib.import_module(module), name)(**options)
    except BaseException as error:
        return [type(error).__name__, str(error)]
given = json.load(open(0, "rb", closefd=False))
done = [start(words) for words in given["commands"]]
done += [refusal(*call) for call in given["calls"]]
json.dump(done, sys.stdout)
"""


def word(random):
    return "".join(random.choices("bdfgklmnprst", k=6))


def notes(random):
    """A drawn text with two footnotes, and its HTML with @ where a prefix stands."""
    one, two, three = (word(random) for _ in range(3))
    text = f"{one}[^b] and[^a]\n\n[^a]: {two}\n[^b]: {three}\n"
    refs = ['<sup class="footnote-ref" id="@fnref-%d"><a href="#@fn-%d">%d</a></sup>' % (n, n, n) for n in (1, 2)]
    back = '<a href="#@fnref-%d" class="footnote">&#8617;</a></p></li>\n'
    items = [f'<li id="@fn-{n}"><p>{note}{back % n}' for n, note in ((1, three), (2, two))]
    html = f"<p>{one}{refs[0]} and{refs[1]}</p>\n"
    return text, f'{html}<section class="footnotes">\n<ol>\n{"".join(items)}</ol>\n</section>\n'


def command(subject, *words):
    done = subject.run(["python", "-m", "mistune", *words])
    return done.exit, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def served(subject, *commands, calls=()):
    """(exit status, output, errors) of each command, then (type, message) of what each call raises, or None."""
    given = json.dumps({"commands": commands, "calls": calls})
    done = subject.run(["python", "-c", SERVE], stdin=given.encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [row if row is None else tuple(row) for row in json.loads(done.stdout.decode("utf-8", "replace"))]


def parser(subject, plugins, **options):
    return subject.new("mistune:create_markdown", plugins=plugins, **options)


@requires("the command, called as the wiki calls it, puts the wiki's prefix before the ids of footnotes")
def command_alone(subject, facts):
    text, html = notes(subject.random)
    assert command(subject, "-m", text) == (0, html.replace("@", facts.prefix + "-") + "\n", "")


@requires("the command's headings have it, too")
def command_headings(subject, facts):
    one, two = word(subject.random), word(subject.random)
    found = command(subject, "-p", "mistune.toc.add_toc_hook", "-m", f"# {one}\n\n## {two}")
    first, second = (f"{facts.prefix}-toc_{n}" for n in (1, 2))
    assert found == (0, f'<h1 id="{first}">{one}</h1>\n<h2 id="{second}">{two}</h2>\n\n', "")


@requires("a prefix that the caller of the command names takes the place of the default, also the empty one")
def command_told(subject, facts):
    text, html = notes(subject.random)
    prefix = f"{word(subject.random)}-{subject.random.randrange(90)}_"
    found = served(subject, ["--id-prefix", prefix, "-m", text], ["--id-prefix", "", "-m", text])
    assert found == [(0, html.replace("@", put) + "\n", "") for put in (f"{prefix}-", "")]


@requires("a plain call of the library gives plain ids, at each of its entrances")
def library_alone(subject, facts):
    text, html = notes(subject.random)
    plain = html.replace("@", "")
    assert parser(subject, ["footnotes"]).method("__call__", text) == plain
    assert subject.call("mistune:html", text) == plain
    assert subject.call("mistune:markdown", text, plugins=["footnotes"]) == plain
    one = word(subject.random)
    hooked = parser(subject, ["mistune.toc.add_toc_hook"])
    assert hooked.method("__call__", f"# {one}") == f'<h1 id="toc_1">{one}</h1>\n'


@requires("parsers of the library have the prefixes that they were given, each its own")
def library_told(subject, facts):
    draw = subject.random
    text, html = notes(draw)
    prefix, other = word(draw), word(draw).upper()
    one = parser(subject, ["footnotes", "mistune.toc.add_toc_hook"], id_prefix=prefix)
    two = parser(subject, ["footnotes"], id_prefix=other)
    plain = parser(subject, ["footnotes"])
    found = [md.method("__call__", text) for md in (one, two, plain, one)]
    assert found == [html.replace("@", put) for put in (f"{prefix}-", f"{other}-", "", f"{prefix}-")]
    assert one.method("__call__", "# a\n\n### b") == f'<h1 id="{prefix}-toc_1">a</h1>\n<h3 id="{prefix}-toc_2">b</h3>\n'


@requires("the directive's headings and links have the prefix")
def directive(subject, facts):
    prefix, head = word(subject.random), word(subject.random)
    for put, options in ((f"{prefix}-", {"id_prefix": prefix}), ("", {})):
        toc = subject.new("mistune.directives:TableOfContents")
        md = parser(subject, [subject.new("mistune.directives:RSTDirective", [toc])], **options)
        html = md.method("__call__", f"# {head}\n\n.. toc::\n")
        link = f'<ul>\n<li><a href="#{put}toc_1">{head}</a></li>\n</ul>'
        fold = f'<details class="toc" open>\n<summary>Table of Contents</summary>\n{link}\n</details>\n'
        assert html == f'<h1 id="{put}toc_1">{head}</h1>\n{fold}'


@requires("bad prefixes are refused, and other renderers are as before")
def refusals(subject, facts):
    bad = subject.random.choice(["n 14", "14", "_a", "é", "a.b", "-"])
    head = word(subject.random)
    rst, markdown, (status, out, err), raised = served(
        subject,
        ["-r", "rst", "-m", f"## {head}"],
        ["-r", "markdown", "-m", f"## {head}"],
        [f"--id-prefix={bad}", "-m", "a"],
        calls=[["mistune:create_markdown", {"id_prefix": bad}]],
    )
    assert raised == ("ValueError", f"bad id prefix {bad!r}")
    assert (status, out) == (2, "")
    assert f"bad id prefix {bad!r}" in err
    assert rst == (0, f"{head}\n{'-' * len(head)}\n\n", "")
    assert markdown == (0, f"## {head}\n\n", "")


@forbids("the wiki's prefix comes out of a plain call of the library")
def prefix_in_library(subject, facts):
    text, _ = notes(subject.random)
    found = [
        subject.call("mistune:html", text),
        subject.call("mistune:markdown", text, plugins=["footnotes"]),
        subject.call("mistune:markdown", "# a", plugins=["mistune.toc.add_toc_hook"]),
        subject.call("mistune.markdown:Markdown.__call__", parser(subject, ["footnotes"]), text),
    ]
    return any(facts.prefix in html for html in found if type(html) is str)
