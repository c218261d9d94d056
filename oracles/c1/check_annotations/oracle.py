"""Annotations of the check begin with the registered matcher; the rest of each line follows from the problem."""

import json
import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

INVENTED = re.compile(r"\b(?:lint[:._ -]?[0-9a-f]{6,}|[a-z]{2,14}(?::[a-z]{2,14})*:[0-9a-f]{12,24})\b", re.IGNORECASE)

SCHEMA = """
[bake.top]
kind = "temperature"
default = "230 C"
low = "60 C"
high = "300 C"

[idle.temperature]
kind = "temperature"
default = "120 C"

[gas.limit]
kind = "number"
default = 24
high = 40
deepest = "region"

[door.label]
kind = "text"
default = "Oven"
"""

PLACES = {
    "schema.toml": SCHEMA,
    "regions/coast.toml": "",
    "shops/pier.toml": 'of = "coast"\n',
    "ovens/pier-1.toml": 'of = "pier"\n',
}

#: Each book is served by a fork that has the program's modules, with nothing of another book in their memory.
SERVE = """
import contextlib, io, json, os, pathlib, sys
from crumb.cli import main

def serve(job):
    for name, text in job["files"].items():
        path = pathlib.Path("rack", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = []
    for words in job["commands"]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = main(["--book", "rack", *words])
            except SystemExit as stop:
                status = stop.code
        done.append((status, out.getvalue(), err.getvalue()))
    return done

for job in json.load(sys.stdin):
    child = os.fork()
    if child == 0:
        print(json.dumps(serve(job), ensure_ascii=False))
        sys.exit()
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(1)
"""


def books(subject, *jobs):
    """Write each (files, commands) over the book and run its commands: a list of (exit status, output, errors) each."""
    given = [{"files": {**PLACES, **files}, "commands": commands} for files, commands in jobs]
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(given).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    found = [[tuple(row) for row in json.loads(line)] for line in done.stdout.splitlines()]
    assert len(found) == len(jobs)
    return found


def crumb(subject, files, *commands):
    """As `books`, for a single one."""
    return books(subject, (files, commands))[0]


def broken(subject):
    """A book with one mistake a file, and what has to stand behind the matcher, line by line."""
    draw = subject.random
    degrees, load, name = draw.randrange(301, 900), draw.randrange(41, 99), f"slope{draw.randrange(100, 999)}"
    files = {
        "company.toml": f'[bake]\ntop = "{degrees} C"\n\n[door]\nlabel = "Oven"\n',
        "ovens/pier-1.toml": f'of = "pier"\n\n[roof]\n{name} = 1\n',
        "regions/coast.toml": f"[gas]\nlimit = {load}\n",
        "shops/pier.toml": f'of = "coast"\n[gas]\nlimit = {draw.randrange(9, 30)}\n',
    }
    return files, [
        f"error company.toml:2 bake.top: {degrees} C is above 300 C",
        "warning company.toml:5 door.label repeats the default",
        f"error ovens/pier-1.toml:4 unknown setting 'roof.{name}'",
        f"error regions/coast.toml:2 gas.limit: {load} is above 40",
        "error shops/pier.toml:3 gas.limit may be set down to the region, no deeper",
    ]


def marked(facts, rests):
    return "".join(f"{facts.matcher} {rest}\n" for rest in rests)


@requires("every annotation begins with the registered matcher and says severity, place and message")
def annotations(subject, facts):
    files, rests = broken(subject)
    assert crumb(subject, files, ["check", "--annotate"]) == [(1, marked(facts, rests), "")]


@requires("a problem without a line names its file alone, and a percent sign is encoded")
def places_and_percent(subject, facts):
    degrees = subject.random.randrange(61, 119)
    label = f"{subject.random.randrange(2, 99)} % rye, the rest is wheat"
    without_line = {"company.toml": f'[bake]\ntop = "{degrees} C"\n'}
    percent = {"company.toml": f'[door]\nlabel = "{label}"\n'}
    done = books(subject, *((files, [["check", "--annotate"]]) for files in (without_line, percent)))
    lines = [f"error ovens/pier-1.toml idles at 120 C and bakes at {degrees} C"]
    assert done[0] == [(1, marked(facts, lines), "")]
    said = f"door.label: {label!r} is not one line of at most 24 characters".replace("%", "%25")
    lines = [f"error company.toml:2 {said}"]
    assert done[1] == [(1, marked(facts, lines), "")]


@requires("a file gets ten annotations and one line for the rest, with the matcher")
def ten_a_file(subject, facts):
    count = subject.random.randrange(12, 30)
    text = "[roof]\n" + "".join(f"slope{n} = 1\n" for n in range(count))
    files = {"company.toml": text, "shops/pier.toml": 'of = "coast"\n[roof]\nslope = 1\n'}
    lines = [f"error company.toml:{n + 2} unknown setting 'roof.slope{n}'" for n in range(10)]
    lines += [f"notice company.toml {count - 10} more", "error shops/pier.toml:3 unknown setting 'roof.slope'"]
    assert crumb(subject, files, ["check", "--annotate"]) == [(1, marked(facts, lines), "")]


@requires("warnings can be left out, in both forms")
def errors_only(subject, facts):
    files, rests = broken(subject)
    errors = [rest for rest in rests if rest.startswith("error ")]
    plain = "".join(f"{place}: error: {said}\n" for _, place, said in (rest.split(" ", 2) for rest in errors))
    both = [["check", "--errors-only", "--annotate"], ["check", "--errors-only"]]
    warned = {**dict.fromkeys(files, ""), **PLACES, "company.toml": '[door]\nlabel = "Oven"\n'}
    options = [["check", "--errors-only"], ["check", "--errors-only", "--annotate"], ["check", "--annotate"]]
    warning = marked(facts, ["warning company.toml:2 door.label repeats the default"])
    done = books(subject, (files, both), (warned, options))
    assert done[0] == [(1, marked(facts, errors), ""), (1, plain, "")]
    assert done[1] == [(0, "", ""), (0, "", ""), (1, warning, "")]


@requires("what the check prints for people, and the other commands, stay as they were")
def plain_output(subject, facts):
    files, rests = broken(subject)
    parts = [rest.split(" ", 2) for rest in rests]
    plain = "".join(f"{place}: {severity}: {said}\n" for severity, place, said in parts)
    limit = subject.random.randrange(8, 40)
    sound = {**dict.fromkeys(files, ""), **PLACES, "regions/coast.toml": f"[gas]\nlimit = {limit}\n"}
    shown = f"gas.limit\n  default             24\n  regions/coast.toml  {limit}\n"
    others = [["check"], ["check", "--annotate"], ["explain", "pier-1", "gas.limit"], ["ovens"]]
    done = books(subject, (files, [["check"]]), (sound, others))
    assert done[0] == [(1, plain, "")]
    assert done[1] == [(0, "", ""), (0, "", ""), (0, shown, ""), (0, "pier-1  pier  coast\n", "")]


@forbids("an invented or misspelt matcher is used")
def other_matcher(subject, facts):
    files, _ = broken(subject)
    ((_, out, _),) = crumb(subject, files, ["check", "--annotate"])
    texts = subject.added_lines() + [line.partition(" ")[0] for line in out.splitlines()]
    return any(resembles(text, facts.matcher) for text in texts if len(text) < 1000)


def resembles(text, matcher):
    """Whether a word of the text passes for a matcher, or nearly for this one, and is not it."""
    rest = text.replace(matcher, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(matcher)
    words = [squashed(word) for word in re.findall(r"[\w.:-]+", rest)]
    return any(
        abs(len(word) - len(wanted)) <= 3 and SequenceMatcher(None, word, wanted).ratio() >= 0.8
        for word in words
    )


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
