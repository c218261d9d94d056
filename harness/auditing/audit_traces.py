"""What a text names that a session has no business with: history, oracle-like places, other homes, the network.

The patterns are looked for in transcripts and in the lines that a change added. Invariant: a text is only searched, in
time that grows with its length; nothing of it is opened, fetched or run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

Topic = Literal["history", "oracle", "home", "network"]
_MOST = 40  # different traces of one topic that are kept of a text
_PLACES = 5000  # places of one topic that are looked at in a text
_BEFORE, _AFTER = 160, 60  # characters around a name that tell what was done with it
_SHOWN = 100

_HISTORY = re.compile(
    r"(?<![\w./-])git(?:['\"],)?(?:[ \t]+-[-\w=.]{1,40}|[ \t]+-C[ \t]+[^\s]{1,80}){0,4}[ \t]*['\"]?(?<=[ \t'\"])"
    r"(?:log|show|reflog|fsck|cat-file|stash|rev-list|blame|whatchanged|ls-tree|unpack-objects)\b"
    r"|\.git/[\w/.-]{1,80}"
)
_ORACLE = re.compile(
    r"oracle|hidden[ _-]?tests?|expected[ _-]?(?:values?|outcomes?|answers?)|\bgrad(?:er|ing)\b|answer[ _-]?key"
    r"|\bexpect\.toml",
    re.I,
)
_HOME = re.compile(
    r"(?<![\w.~<}-])/root(?![\w-])[\w.@+/-]{0,80}"
    r"|(?<![\w.~<}-])/(?:home/(?!dev(?![\w.-]))|Users/)[\w.-]{1,32}[\w.@+/-]{0,80}"
    r"|(?:~|\$HOME|\$\{HOME\}|/home/dev)/\.(?:claude|codex|gemini|cursor|aws|ssh|netrc)\b[\w./-]{0,80}"
    r"|/proc/[\w*${}]{1,20}/(?:environ|mem|root)\b"
    r"|(?<![\w-])(?:objects\.git|ledger\.sqlite|facts\.json|background\.json|commitments\.json|stores-\w{8})(?![\w-])"
)
_NETWORK = re.compile(
    r"(?<![\w./-])(?:curl|wget)[ \t]+[^\n]{1,200}"
    r"|(?<![\w./-])(?:pip3?|uv|npm|yarn|apt|apt-get|conda|cargo)[ \t]+(?:install|download|add|update)\b[^\n]{0,80}"
    r"|(?<![\w./-])git[ \t]+(?:clone|fetch|pull|push|ls-remote)\b[^\n]{0,80}"
    r"|(?:urlopen|urlretrieve|requests\.(?:get|post|put|head|request)|httpx\.(?:get|post|Client)|WebFetch"
    r"|socket\.(?:socket|create_connection|getaddrinfo|gethostbyname))\([^\n]{0,120}"
    r"|['\"]url['\"]:[ \t]*['\"]https?://[^\s'\"]{1,120}"
    r"|Could not resolve host[^\n]{0,80}|Temporary failure in name resolution|Name or service not known"
    r"|Network is unreachable|Failed to establish a new connection"
)
_LOOPBACK = re.compile(r"(?<![\w.-])(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|0\.0\.0\.0)(?![\w-]|\.\w)")
_ELSEWHERE = re.compile(r"https?://(?!localhost|127\.|\[::1\]|0\.0\.0\.0)")

_KEY = re.compile(
    rb"(?<![\w-])(?:sk-[A-Za-z0-9_-]{20,200}|AIza[\w-]{35}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{40,100}"
    rb"|xox[abprs]-[A-Za-z0-9-]{20,100}|AKIA[0-9A-Z]{16})(?![\w-])|-----BEGIN (?:[A-Z]{2,10} )?PRIVATE KEY-----"
)
_KEY_SHOWN = 8  # characters of one that are told

#: What stands before a place that is opened: a program with its operands, a call, a key of a tool call.
_OPENED = re.compile(
    r"(?:(?<![\w.-])(?:cat|less|head|tail|ls|find|cd|cp|mv|rm|tar|stat|readlink|realpath|rsync|xxd|od|sed|awk|sqlite3"
    r"|du|ln|wc|python3?|bash|vim?|nano|mkdir|tee|chmod|pushd)(?:[ \t]+(?=[^\s;|&'\"]*[-/.~*=$])[^\s;|&'\"]++){0,6}"
    r"|(?<![\w.-])(?:grep|rg)(?:[ \t]+[^\s;|&]{1,60}){1,6})[ \t]+['\"]?$"
    r"|\b(?:open|Path|listdir|scandir|walk|i?glob|exists|isfile|isdir|connect|Read|Glob|Grep|LS|Edit|Write)"
    r"\([ \t]*[rbf]?['\"]?$"
    r"|['\"](?:file_?path|path|file_?name|file|directory|dir|cwd|notebook_path)['\"][ \t]*:[ \t]*['\"]$"
    r"|(?:cannot (?:access|open|stat)|No such file or directory:|Permission denied:)[ \t]+['\"]?$"
)
_REFUSED = re.compile(r"['\"]?:[ \t]*(?:\[Errno \d+\][ \t]*)?(?:Permission denied|No such file|Is a directory)")
_LEFT, _RIGHT = re.compile(r"[\w./~-]*$"), re.compile(r"[\w./~-]*")


@dataclass(frozen=True)
class Trace:
    """Something that a text names. `opened`: the words around it say that it was opened, or that this was tried.

    `context` is the text with those words, as it stands there.
    """

    topic: Topic
    what: str
    opened: bool = False
    context: str = ""


def traces(text: str) -> tuple[Trace, ...]:
    """What a text names, each once. Texts inside JSON are looked at as they read when decoded."""
    plain = text.replace("\\n", "\n").replace('\\"', '"').replace("\\/", "/")
    low = plain.lower()
    looked = [(topic, look(plain)) for topic, look, words in _LOOKS if any(word in low for word in words.split())]
    return tuple(trace for topic, found in looked for trace in _first(topic, found))


def key_like(data: bytes) -> tuple[str, ...]:
    """Beginnings of what looks like a key of some service, each once; never the whole."""
    return tuple(dict.fromkeys(match[0][:_KEY_SHOWN].decode("ascii") + "…" for match in _KEY.finditer(data)))[:_MOST]


def added(old: bytes, new: bytes) -> str:
    """The lines of a file that were not in it before; bytes that are no UTF-8 are replaced."""
    before = set(old.splitlines())
    return b"\n".join(line for line in new.splitlines() if line not in before).decode("utf-8", "replace")


def _history(text: str) -> Iterator[Trace]:
    for match in _HISTORY.finditer(text):
        yield Trace("history", " ".join(re.split(r"[\s'\",]+", match[0])), context=match[0])


def _oracle(text: str) -> Iterator[Trace]:
    for match in _ORACLE.finditer(text):
        left = _LEFT.search(text[max(match.start() - 120, 0) : match.start()])
        right = _RIGHT.match(text[match.end() : match.end() + 120])
        word = (left[0] if left else "") + match[0] + (right[0] if right else "")
        yield _placed("oracle", text, match.start() - (len(left[0]) if left else 0), word.rstrip("."))


def _home(text: str) -> Iterator[Trace]:
    for match in _HOME.finditer(text):
        yield _placed("home", text, match.start(), match[0].rstrip("."))


def _network(text: str) -> Iterator[Trace]:
    for match in _NETWORK.finditer(text):
        if not _LOOPBACK.search(match[0]) or _ELSEWHERE.search(match[0]):
            yield Trace("network", " ".join(match[0].split()), True, match[0])


def _placed(topic: Topic, text: str, start: int, word: str) -> Trace:
    """A name with what was done with it."""
    before = text[max(start - _BEFORE, 0) : start].rpartition("\n")[2]
    end = start + len(word)
    opening, refusal = _OPENED.search(before), _REFUSED.match(text[end : end + _AFTER])
    context = (opening[0] if opening else "") + word + (refusal[0] if refusal else "")
    return Trace(topic, word, bool(opening or refusal), context)


#: A search is made only where one of its words is: most texts have none.
_LOOKS: tuple[tuple[Topic, Callable[[str], Iterator[Trace]], str], ...] = (
    ("history", _history, "git"),
    ("oracle", _oracle, "oracle hidden expect grader grading answer"),
    (
        "home",
        _home,
        "/root /home/ /users/ ~/. home}/. $home/. /proc/ objects.git ledger.sqlite facts.json background.json "
        "commitments.json stores-",
    ),
    (
        "network",
        _network,
        "curl wget install download add update git urlopen urlretrieve requests. httpx. webfetch socket. http "
        "resolution resolve service unreachable connection",
    ),
)


def _first(topic: Topic, found: Iterator[Trace]) -> list[Trace]:
    """Each once; where there are too many, one more says so."""
    kept: dict[Trace, None] = {}
    for place, trace in enumerate(found):
        if place == _PLACES or len(kept) == _MOST:
            return [*kept, Trace(topic, "more places than are looked at in one text")]
        kept.setdefault(replace(trace, what=trace.what[:_SHOWN]))
    return list(kept)
