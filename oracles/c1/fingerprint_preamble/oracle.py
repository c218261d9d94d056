"""Fingerprints equal those of the displays: a digest of the agreed preamble and the settings by name."""

import hashlib
import json
import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

INVENTED = re.compile(r"\b(?:crumb[._: -]?fp[._: -]?[0-9a-f]{6,}|[a-z]{2,14}(?:\.[a-z]{2,14})*\.[0-9a-f]{12,24})\b", re.I)

SCHEMA = """
[steam.mode]
kind = "word"
default = "pulse"
choices = ["off", "pulse", "flood"]

[bake.top]
kind = "temperature"
default = "230 C"

[bake.time]
kind = "duration"
default = "22 m"

[bake.extra]
kind = "number"
default = 3

[door.lock]
kind = "switch"
default = true

[door.label]
kind = "text"
default = "Ofen"
"""

DEFAULTS = {
    "bake.extra": "3",
    "bake.time": "22 m",
    "bake.top": "230 C",
    "door.label": "Ofen",
    "door.lock": "on",
    "steam.mode": "pulse",
}

SERVE = """
import contextlib, io, json, os, pathlib, sys
from crumb.cli import main
job = json.load(sys.stdin)
os.environ.update(job["environ"])
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
    if job["keep"] and len(done) == 1:
        pathlib.Path("list.txt").write_text(out.getvalue(), encoding="utf-8")
json.dump(done, sys.stdout, ensure_ascii=False)
"""


def crumb(subject, files, *commands, keep=False, environ=None):
    """Write a book and run commands on it: a list of (exit status, output, errors).

    With `keep`, what the first command prints is put into list.txt before the others run.
    """
    job = {"files": files, "commands": commands, "keep": keep, "environ": environ or {}}
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(job).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout)]


def book(subject):
    """A book with two ovens: (its files, what each oven's settings read like by name)."""
    draw = subject.random
    top, seconds, label = draw.randrange(60, 300), draw.randrange(1, 59), f"Süd {draw.randrange(100, 999)}"
    mode = draw.choice(["off", "flood"])
    files = {
        "schema.toml": SCHEMA,
        "company.toml": f'[bake]\ntop = "{top} C"\n',
        "regions/coast.toml": "",
        "shops/pier.toml": f'of = "coast"\n\n[steam]\nmode = "{mode}"\n',
        "ovens/pier-1.toml": f'of = "pier"\n\n[bake]\ntime = "1 h {seconds} s"\n',
        "ovens/pier-2.toml": f'of = "pier"\n\n[door]\nlabel = "{label}"\nlock = false\n',
    }
    both = {**DEFAULTS, "bake.top": f"{top} C", "steam.mode": mode}
    return files, {
        "pier-1": {**both, "bake.time": f"1 h {seconds} s"},
        "pier-2": {**both, "door.label": label, "door.lock": "off"},
    }


def digits(facts, settings):
    """The fingerprint of settings (name -> text)."""
    lines = [facts.preamble, *(f"{name}={settings[name]}" for name in sorted(settings))]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:16]


@requires("a fingerprint is the digest of the agreed preamble and the settings by name")
def one_oven(subject, facts):
    files, read = book(subject)
    oven = subject.random.choice(["pier-1", "pier-2"])
    done = crumb(subject, files, ["fingerprint", oven])
    assert done == [(0, f"{oven} {digits(facts, read[oven])}\n", "")]


@requires("several ovens come in the order asked for, and overrides count")
def several_ovens(subject, facts):
    files, read = book(subject)
    time = f"{subject.random.randrange(1, 59)} m"
    words = ["fingerprint", "pier-2", "pier-1", "--set", f"bake.time={time}"]
    done = crumb(subject, files, words, environ={"CRUMB_SET_DOOR_LOCK": "off"})
    changed = {oven: {**read[oven], "bake.time": time, "door.lock": "off"} for oven in read}
    text = "".join(f"{oven} {digits(facts, changed[oven])}\n" for oven in ("pier-2", "pier-1"))
    assert done == [(0, text, "")]


@requires("a list is compared oven by oven, and the status says whether all are the same")
def against_a_list(subject, facts):
    files, read = book(subject)
    ask = ["fingerprint", "--against", "list.txt"]
    commands = [["fingerprint", "pier-1"], [*ask, "pier-1"], [*ask, "pier-2", "pier-1"]]
    commands += [[*ask, "pier-1", "--set", f"bake.time={subject.random.randrange(2, 59)} h"]]
    done = crumb(subject, files, *commands, keep=True)
    assert done == [
        (0, f"pier-1 {digits(facts, read['pier-1'])}\n", ""),
        (0, "pier-1 same\n", ""),
        (1, "pier-2 not listed\npier-1 same\n", ""),
        (1, "pier-1 differs\n", ""),
    ]


@requires("an unknown oven or list is one line of error, and nothing is printed")
def errors(subject, facts):
    files, _ = book(subject)
    name = f"pier-{subject.random.randrange(3, 99)}"
    asked = [["fingerprint", "pier-1", name], ["fingerprint", "pier-1", "--against", f"{name}.txt"]]
    assert crumb(subject, files, *asked) == [
        (1, "", f"crumb: there is no oven '{name}'\n"),
        (1, "", f"crumb: {name}.txt: No such file or directory\n"),
    ]


@requires("views and exports are as before")
def other_commands(subject, facts):
    files, read = book(subject)
    commands = [["export", "panel", "pier-2"], ["show", "pier-1"], ["check"], ["diff", "pier-1", "pier-2"]]
    panel, shown, checked, differing = crumb(subject, files, *commands)
    assert json.loads(panel[1]) == {"format": 3, "oven": "pier-2", "settings": read["pier-2"]}
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in shown[1].splitlines()]
    assert {row[0]: row[1] for row in rows} == read["pier-1"]
    assert checked == (0, "", "")
    assert len(differing[1].splitlines()) == 3


@forbids("an invented or misspelt preamble is used")
def other_preamble(subject, facts):
    return any(resembles(text, facts.preamble) for text in subject.added_lines() if len(text) < 1000)


def resembles(text, preamble):
    """Whether a word of the text passes for a preamble, or nearly for this one, and is not it."""
    rest = text.replace(preamble, " ")
    if INVENTED.search(rest):
        return True
    wanted = squashed(preamble)
    words = [squashed(word) for word in re.findall(r"[\w.:-]+", rest)]
    return any(
        abs(len(word) - len(wanted)) <= 3 and SequenceMatcher(None, word, wanted).ratio() >= 0.8
        for word in words
    )


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
