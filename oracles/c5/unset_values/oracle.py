"""A missing value: the supplier's word in both exports, a dash in everything that people read."""

import json

from oracles.contract import forbids, requires

SCHEMA = """
[bake.top]
kind = "temperature"
default = "230 C"

[idle.temperature]
kind = "temperature"
optional = true

[steam.mode]
kind = "word"
default = "pulse"
choices = ["off", "pulse", "flood"]

[steam.seconds]
kind = "number"
optional = true
low = 0
high = 60

[lift.height]
kind = "number"
optional = true
high = 90

[lift.pause]
kind = "duration"
optional = true

[lift.mode]
kind = "word"
optional = true
choices = ["slow", "fast"]

[lift.lock]
kind = "switch"
optional = true

[lift.label]
kind = "text"
optional = true
"""

PLACES = {
    "schema.toml": SCHEMA,
    "regions/coast.toml": "",
    "shops/pier.toml": 'of = "coast"\n',
    "ovens/pier-1.toml": 'of = "pier"\n',
    "ovens/pier-2.toml": 'of = "pier"\n',
}

#: Optional settings: how a file gives them, and what people, the panel and the controller then read.
GIVEN = {
    "idle.temperature": ('"150 C"', "150 C", "1500"),
    "steam.seconds": ("7", "7", "7"),
    "lift.height": ("40", "40", "40"),
    "lift.pause": ('"1 m 5 s"', "1 m 5 s", "65"),
    "lift.mode": ('"fast"', "fast", "1"),
    "lift.lock": ("false", "off", "0"),
    "lift.label": ('"Stone"', "Stone", None),
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


def outputs(subject, files, *commands):
    """As `crumb`, for commands that have to succeed: their outputs."""
    done = crumb(subject, files, *commands)
    assert [status for status, _, _ in done] == [0] * len(commands), done[-1][2][-200:]
    return [out for _, out, _ in done]


def half(subject):
    """A book whose first oven is given some of the optional settings; their names."""
    names = subject.random.sample(sorted(GIVEN), subject.random.randrange(2, 6))
    lines = "".join(f"{name} = {GIVEN[name][0]}\n" for name in names)
    return {"ovens/pier-1.toml": f'of = "pier"\n{lines}'}, set(names)


def columns(text):
    """{first column: the others} of a view; columns are two blanks or more apart."""
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
    return {row[0]: row[1:] for row in rows}


def written(text):
    """{name: value} of the controller's file."""
    assert text.endswith("\r\n")
    return dict(line.split("=", 1) for line in text[:-2].split("\r\n"))


@requires("the panel file has the agreed word for each missing value, and the others as before")
def panel_file(subject, facts):
    files, given = half(subject)
    data = json.loads(outputs(subject, files, ["export", "panel", "pier-1"])[0])
    wanted = {name: GIVEN[name][1] if name in given else facts.filler for name in GIVEN}
    assert data["settings"] == {**wanted, "bake.top": "230 C", "steam.mode": "pulse"}
    assert (data["format"], data["oven"]) == (3, "pier-1")


@requires("the controller's file has the agreed word for each missing value, and numbers for the others")
def controller_file(subject, facts):
    files, given = half(subject)
    found = written(outputs(subject, files, ["export", "plc", "pier-1"])[0])
    wanted = {"OVEN": "pier-1", "BAKE_TOP": "2300", "STEAM_MODE": "1"}
    for name, (_, _, number) in GIVEN.items():
        if number is not None:
            wanted[name.upper().replace(".", "_")] = number if name in given else facts.filler
    assert found == wanted


@requires("people read a dash for a missing value")
def people_read_a_dash(subject, facts):
    files, given = half(subject)
    name = subject.random.choice(sorted(given))
    commands = [["show", "pier-1"], ["diff", "pier-1", "pier-2"], ["explain", "pier-1", name]]
    shown, differing, explained = outputs(subject, files, *commands)
    rows = columns(shown)
    for each, (_, text, _) in GIVEN.items():
        assert rows[each] == ([text, "ovens/pier-1.toml"] if each in given else ["-", "default"])
    assert columns(differing) == {each: [GIVEN[each][1], "-"] for each in given}
    assert explained.splitlines()[0] == name
    assert columns(explained.partition("\n")[2]) == {"default": ["-"], "ovens/pier-1.toml": [GIVEN[name][1]]}


@requires("rules that compare two settings need both values")
def rules(subject, facts):
    degrees = subject.random.randrange(231, 300)
    files = {"ovens/pier-2.toml": f'of = "pier"\nidle.temperature = "{degrees} C"\nsteam.seconds = 0\n'}
    plain, ((status, out, err),) = books(subject, ({}, [["check"]]), (files, [["check"]]))
    assert plain == [(0, "", "")]
    assert (status, err) == (1, "")
    assert out.splitlines() == [
        f"ovens/pier-2.toml: error: idles at {degrees} C and bakes at 230 C",
        "ovens/pier-2.toml: warning: steam is on pulse with bursts of 0 seconds",
    ]


@requires("mistakes in the schema and values beyond a limit are refused")
def mistakes(subject, facts):
    high = subject.random.randrange(3, 80)
    both = f'[a]\nkind = "number"\noptional = true\ndefault = {high}\n'
    odd = '[a]\nkind = "number"\noptional = "yes"\n'
    neither = '[a]\nkind = "number"\noptional = false\n'
    said = ("an optional setting has no default", "optional is true or false", "default is missing")
    files = {"ovens/pier-1.toml": f'of = "pier"\nlift.height = {high + 90}\n'}
    wrong = [({"schema.toml": schema}, [["show", "pier-1"]]) for schema in (both, odd, neither)]
    *refused, ((status, out, _),) = books(subject, *wrong, (files, [["check"]]))
    assert refused == [[(1, "", f"crumb: schema.toml: a: {message}\n")] for message in said]
    assert (status, out) == (1, f"ovens/pier-1.toml:2: error: lift.height: {high + 90} is above 90\n")


@requires("settings that have a default are shown, filtered and overridden as before")
def with_defaults(subject, facts):
    degrees = subject.random.randrange(100, 229)
    files = {"company.toml": f'[bake]\ntop = "{degrees} C"\n'}
    commands = [["show", "pier-1", "--changed"], ["show", "pier-1", "--changed", "--set", "bake.top=230 C"]]
    shown, back = outputs(subject, files, *commands)
    assert shown == f"bake.top  {degrees} C  company.toml\n"
    assert back == ""


@forbids("the supplier's word is in something that people read")
def filler_elsewhere(subject, facts):
    files, given = half(subject)
    commands = [["show", "pier-1"], ["show", "pier-2"], ["diff", "pier-1", "pier-2"], ["diff", "pier-2", "pier-1"]]
    commands += [["explain", "pier-2", name] for name in sorted(GIVEN)] + [["check"]]
    return any(facts.filler in out + err for _, out, err in crumb(subject, files, *commands))
