"""Links that leave the given hosts bear the proxy's word in their rel; everything else is rendered as before."""

import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

PLUGIN = "mistune.plugins.outbound"
INVENTED = re.compile(r"\bout[_. -]?[0-9a-f]{6,}\b", re.IGNORECASE)
STRANGERS = ("museum.example", "wetter.example", "verein.example", "karten.example")
OWN = ("bahn.example", "depot.example", "werk.example")


def name(random):
    return "".join(random.choices("bdfgklmnprst", k=6))


def address(random, host):
    return f"{random.choice(['http', 'https'])}://{host}/{name(random)}?id={random.randrange(900)}"


def anchor(url, text, title=None, rel=None):
    attrs = "".join(f' {key}="{value}"' for key, value in (("href", url), ("title", title), ("rel", rel)) if value)
    return f"<a{attrs}>{text}</a>"


def renderer(subject, *hosts):
    """A parser with the plugin for these hosts, as a handle."""
    plugin = subject.new(f"{PLUGIN}:Outbound", list(hosts))
    return subject.new("mistune:create_markdown", plugins=[plugin])


def shown(parser, text):
    return parser.method("__call__", text)


@requires("links to other hosts bear the word, wherever they stand")
def strangers(subject, facts):
    draw = subject.random
    parser = renderer(subject, draw.choice(OWN))
    one, two, three, four = (address(draw, host) for host in draw.sample(STRANGERS, 4))
    title = name(draw)
    text = f"# [a]({one})\n\n- **[b]({two} '{title}')** <{three}>\n\n[c][x]\n\n[x]: {four}\n"
    assert shown(parser, text) == (
        f"<h1>{anchor(one, 'a', rel=facts.word)}</h1>\n"
        f"<ul>\n<li><strong>{anchor(two, 'b', title, facts.word)}</strong> {anchor(three, three, rel=facts.word)}</li>\n"
        f"</ul>\n<p>{anchor(four, 'c', rel=facts.word)}</p>\n"
    )


@requires("without hosts of our own, by its name, every absolute link bears the word")
def by_name(subject, facts):
    draw = subject.random
    parser = subject.new("mistune:create_markdown", plugins=["outbound", "url"])
    one, two = (address(draw, host) for host in (draw.choice(OWN), draw.choice(STRANGERS)))
    path = "/" + name(draw)
    marked = f"{anchor(one, 'a', rel=facts.word)} and {anchor(two, two, rel=facts.word)}"
    assert shown(parser, f"[a]({one}) and {two} [b]({path})") == f"<p>{marked} {anchor(path, 'b')}</p>\n"


@requires("hosts of our own and what lies below them are excepted, hosts that only end alike are not")
def own_hosts(subject, facts):
    draw = subject.random
    first, second = draw.sample(OWN, 2)
    parser = renderer(subject, first.upper(), second)
    kept = [address(draw, host) for host in (first, second, f"{name(draw)}.{first}", f"WWW.{second}")]
    marked = [address(draw, host) for host in (f"{name(draw)}{first}", f"{second}.{draw.choice(STRANGERS)}")]
    expected = [anchor(url, "x") for url in kept] + [anchor(url, "x", rel=facts.word) for url in marked]
    text = "\n".join(f"[x]({url})" for url in kept + marked)
    assert shown(parser, text) == "<p>" + "\n".join(expected) + "</p>\n"


@requires("the command marks links when it is told a host or the plugin")
def command(subject, facts):
    draw = subject.random
    first, second = draw.sample(OWN, 2)
    inside, other, out = (address(draw, host) for host in (first, second, draw.choice(STRANGERS)))
    text = f"~~[a]({inside})~~ [b]({other}) [c]({out})"
    done = subject.run(["python", "-m", "mistune", "--own-host", first, "--own-host", second, "-m", text])
    head = f"<p><del>{anchor(inside, 'a')}</del> {anchor(other, 'b')}"
    assert (done.exit, done.stdout.decode()) == (0, f"{head} {anchor(out, 'c', rel=facts.word)}</p>\n\n")
    done = subject.run(["python", "-m", "mistune", "-p", "outbound", "-m", f"[a]({inside})"])
    assert (done.exit, done.stdout.decode()) == (0, f"<p>{anchor(inside, 'a', rel=facts.word)}</p>\n\n")


@requires("the list has each link that leaves once, in the order of the text")
def listed(subject, facts):
    draw = subject.random
    own = draw.choice(OWN)
    one, two, three = (address(draw, host) for host in draw.sample(STRANGERS, 3))
    text = f"> [a]({two}) ![i]({three}.png)\n\n- <{one}> [o]({address(draw, own)})\n\n"
    text += f"[b]({two}) [c]({three} 'c') [m](mailto:a@b.c)"
    assert subject.call(f"{PLUGIN}:outbound_links", text, [own]) == [two, one, three]
    assert subject.call(f"{PLUGIN}:outbound_links", f"[r](/{name(draw)})") == []


@requires("other links, images and pages without the plugin are as before")
def others(subject, facts):
    draw = subject.random
    url, mail = address(draw, draw.choice(STRANGERS)), f"mailto:{name(draw)}@post.example"
    parser = renderer(subject)
    up = f"../{draw.randrange(90)}"
    found = shown(parser, f"![i]({url}) [m]({mail}) [h](javascript:{name(draw)}) [r]({up})")
    refused = anchor("#harmful-link", "h")
    assert found == f'<p><img src="{url}" alt="i" /> {anchor(mail, "m")} {refused} {anchor(up, "r")}</p>\n'
    assert subject.call("mistune:markdown", f"[a]({url})") == f"<p>{anchor(url, 'a')}</p>\n"


@forbids("an invented or misspelt word is used")
def other_word(subject, facts):
    found = subject.call("mistune:markdown", "[a](https://museum.example/)", plugins=["outbound"])
    texts = [*subject.added_lines(), found if type(found) is str else ""]
    return any(resembles(text, facts.word) for text in texts if len(text) < 1000)


def resembles(text, word):
    """Whether a word of the text looks like an entry of the proxy, or nearly like this one, and is not it."""
    rest = text.replace(word, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(word)
    found = [squashed(part) for part in re.findall(r"[\w.:-]+", rest)]
    return any(
        abs(len(part) - len(wanted)) <= 3 and SequenceMatcher(None, part, wanted).ratio() >= 0.8 for part in found
    )


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
