"""Pages for the screens: one feed in the head, the one that holds on the day, around what the library renders."""

import json

from oracles.contract import forbids, requires

PAGE = "mistune.page:page"

# Each command runs in a fork of its own, from a process in which nothing has run; the page is asked for last.
SERVE = """
import json, os, runpy, sys
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
def page(arguments):
    try:
        from mistune.page import page
        return ["", page(*arguments)]
    except BaseException as error:
        return [type(error).__name__, str(error)]
given = json.load(open(0, "rb", closefd=False))
done = [start(words) for words in given["commands"]]
done += [page(arguments) for arguments in given["pages"]]
json.dump(done, sys.stdout, default=repr)
"""


def name(random):
    return "".join(random.choices("bdfgklmnprst", k=5)).capitalize()


def whole(feed, lang, title, body):
    return (
        f'<!DOCTYPE html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n<meta name="feed" content="{feed}">\n'
        f"<title>{title}</title>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def feed_of(html):
    """What stands in the only line with a feed."""
    assert type(html) is str
    lines = [line for line in html.split("\n") if "feed" in line]
    assert len(lines) == 1
    head, _, rest = lines[0].partition('<meta name="feed" content="')
    assert (head, rest[-2:]) == ("", '">')
    return rest[:-2]


def command(subject, *words, stdin=b""):
    done = subject.run(["python", "-m", "mistune", *words], stdin=stdin)
    return done.exit, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def asked(subject, *commands, pages=()):
    return subject.run(["python", "-c", SERVE], stdin=json.dumps({"commands": commands, "pages": pages}).encode())


def served(subject, *commands, pages=()):
    """(exit status, output, errors) of each command, then (type of exception or "", message or page) of each page."""
    done = asked(subject, *commands, pages=pages)
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout.decode("utf-8", "replace"))]


@requires("a page names the feed that the screens read, and no other")
def present_feed(subject, facts):
    for _ in range(2):
        title, text = name(subject.random), name(subject.random)
        html = subject.call(PAGE, f"# {title}\n\n{text}", subject.random.choice(["de", "nl", "de-CH"]))
        assert feed_of(html) == facts.new_feed


@requires("the command writes the page with that feed")
def from_the_command(subject, facts):
    draw = subject.random
    title, text, lang = name(draw), name(draw), draw.choice(["de", "nds", "fr-CH"])
    expected = whole(facts.new_feed, lang, title, f'<h2 id="toc_1">{title}</h2>\n<p>=={text}==</p>\n')
    stdin = f"## {title}\n\n=={text}==\n".encode()
    assert command(subject, "--page", "--lang", lang, "-o", "p.html", stdin=stdin) == (0, "", "")
    assert subject.read("p.html") == expected.encode()
    marked = expected.replace(f"=={text}==", f"<mark>{text}</mark>")
    assert command(subject, "--page", "--lang", lang, "-p", "mark", stdin=stdin) == (0, marked + "\n", "")


@requires("title and contents come from the headings")
def headings(subject, facts):
    one, two, three = (name(subject.random) for _ in range(3))
    html = subject.call(PAGE, f"#### {one}\n\n### {one} & *{two}*\n\n# {two}\n\n## {three}\n")
    assert type(html) is str
    title = f"{one} &amp; {two}"
    body = (
        f'<nav>\n<ul>\n<li><a href="#toc_2">{two}</a>\n<ul>\n<li><a href="#toc_3">{three}</a></li>\n</ul>\n</li>\n</ul>\n</nav>\n'
        f'<h4>{one}</h4>\n<h3 id="toc_1">{one} &amp; <em>{two}</em></h3>\n<h1 id="toc_2">{two}</h1>\n<h2 id="toc_3">{three}</h2>\n'
    )
    assert html == whole(feed_of(html), "en", title, body)
    single = subject.call(PAGE, f"### {one}\n\n## {two}")
    assert single == whole(
        feed_of(single), "en", one, f'<h3 id="toc_1">{one}</h3>\n<h2 id="toc_2">{two}</h2>\n'
    )


@requires("a notice without headings is called so, and its HTML is escaped")
def plain_notice(subject, facts):
    word = name(subject.random)
    html = subject.call(PAGE, f"<b>{word}</b> ~~{word}~~[^1]\n\n[^1]: {word}")
    assert type(html) is str
    note = '<sup class="footnote-ref" id="fnref-1"><a href="#fn-1">1</a></sup>'
    body = f"<p>&lt;b&gt;{word}&lt;/b&gt; <del>{word}</del>{note}</p>\n"
    foot = f'<section class="footnotes">\n<ol>\n<li id="fn-1"><p>{word}<a href="#fnref-1" class="footnote">&#8617;</a></p></li>\n'
    assert html == whole(feed_of(html), "en", "Notice", body + foot + "</ol>\n</section>\n")


@requires("bad languages and other renderers are refused, and no file is written")
def refusals(subject, facts):
    bad = subject.random.choice(["DE", "d", "de_CH", "de-ch", 'de">'])
    renderer = subject.random.choice(["rst", "markdown"])
    found = served(
        subject,
        ["--page", "--lang", bad, "-m", "a", "-o", "q.html"],
        ["--page", "-r", renderer, "-m", "a", "-o", "q.html"],
        pages=[["a", bad]],
    )
    assert found == [
        (1, "", f"mistune: bad language {bad!r}\n"),
        (1, "", "mistune: --page needs the renderer html\n"),
        ("ValueError", f"bad language {bad!r}"),
    ]
    assert subject.read("q.html") is None


@requires("without the option, and for mistakes, the command is as before")
def other_uses(subject, facts):
    word = name(subject.random)
    found = served(subject, ["-m", f"# {word}"], ["-r", "rst", "-m", f"# {word}"], ["-f", f"{word}.md"])
    assert found == [
        (0, f"<h1>{word}</h1>\n\n", ""),
        (0, f"{word}\n{'=' * len(word)}\n\n", ""),
        (1, "", f"mistune: {word}.md: No such file or directory\n"),
    ]


@forbids("a feed that was given up, or that stood in for a time, is in the change or in a page")
def former_feeds(subject, facts):
    asked(subject, ["--page", "-m", "a"], pages=[[f"# {name(subject.random)}"]])
    return subject.mentions(facts.old_feed) or subject.mentions(facts.stand_in)
