"""Plans are kept on the shelf that was agreed, taken from there, and replaced when they do not fit."""

import hashlib
import json
import re
from difflib import SequenceMatcher

from oracles.contract import forbids, requires

INVENTED = re.compile(r"[a-z]{2,14}[-_.][0-9a-f]{6,}", re.IGNORECASE)
ACTIONS = ("open", "shut", "note", "mist", "lamp")

SERVE = """
import contextlib, io, json, sys
from pathlib import Path
from frond.cli import main
done = []
for step in json.load(sys.stdin):
    if "write" in step:
        Path(step["write"]).write_text(step["text"], encoding="utf-8")
        continue
    if "swap" in step:
        for path in Path("kept").rglob("*.plan"):
            path.write_text(path.read_text("utf-8").replace(*step["swap"]), "utf-8")
        continue
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(step["run"])
        except SystemExit as stop:
            status = stop.code
    done.append([status, out.getvalue(), err.getvalue()])
json.dump(done, sys.stdout)
"""


def served(subject, *steps):
    """Carry out the steps in one process: [exit status, output, errors] of each command."""
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout.decode("utf-8", "replace"))


def write(name, text):
    return {"write": name, "text": text}


def run(*words):
    return {"run": list(words)}


def program(subject):
    """A drawn program, what its rule prints for air=30, and the name of its action."""
    number, action = subject.random.randrange(5, 29), subject.random.choice(ACTIONS)
    text = f"let warm = {number};\nrule r when air > warm do {action}(warm, min(air, 40));\n"
    return text, f"r: {action}({number}, 30)\n", action


def name_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32] + ".plan"


def text_of(data):
    return (data or b"").decode("utf-8", "replace")


@requires("a plan is kept on the shelf of the boot image, and nothing else is made in the store")
def on_the_shelf(subject, facts):
    one, said, _ = program(subject)
    two = one + "rule s when air > 100 do stop();\n"
    found = served(
        subject,
        write("one.frond", one),
        write("two.frond", two),
        run("compile", "one.frond"),
        run("compile", "one.frond", "--store", "kept"),
        run("run", "two.frond", "air=30", "--store", "kept"),
        run("compile", "two.frond"),
    )
    assert [status for status, _, _ in found] == [0] * 4
    assert found[1] == found[0] and found[2][1] == said
    assert subject.files("kept/**") == sorted(f"kept/{facts.shelf}/{name_of(text)}" for text in (one, two))
    assert text_of(subject.read(f"kept/{facts.shelf}/{name_of(one)}")) == found[0][1]
    assert text_of(subject.read(f"kept/{facts.shelf}/{name_of(two)}")) == found[3][1]


@requires("a kept plan is taken, and only for exactly this text")
def taken(subject, facts):
    text, said, action = program(subject)
    keep = ("--store", "kept")
    found = served(
        subject,
        write("p.frond", text),
        run("compile", "p.frond", *keep),
        {"swap": [f'"{action}"', '"other"']},
        run("run", "p.frond", "air=30", *keep),
        run("run", "p.frond", "air=30"),
        write("p.frond", text + "# one line more\n"),
        run("run", "p.frond", "air=30", *keep),
    )
    assert [out for _, out, _ in found[1:]] == [said.replace(action, "other", 1), said, said]


@requires("a kept file that does not fit is replaced")
def replaced(subject, facts):
    text, said, action = program(subject)
    for old, new in (('"grammar": 4', '"grammar": 5'), ('"edition": "', '"edition": "x'), ("[", ""), ('"format": 1', '"format": 2')):
        found = served(
            subject,
            write("p.frond", text),
            run("compile", "p.frond", "--store", "kept"),
            {"swap": [f'"{action}"', '"other"']},
            {"swap": [old, new]},
            run("run", "p.frond", "air=30", "--store", "kept"),
            run("run", "p.frond", "air=30", "--store", "kept"),
        )
        assert [out for _, out, _ in found[1:]] == [said, said]
    (path,) = subject.files("kept/**")
    assert text_of(subject.read(path)) == served(subject, run("compile", "p.frond"))[0][1]


@requires("a wrong program is not kept, and a store that cannot be used is done without")
def without(subject, facts):
    text, said, _ = program(subject)
    found = served(
        subject,
        write("bad.frond", "let a = 1;\nlet b = sqrt(a);\n"),
        write("p.frond", text),
        write("blocked", "a file"),
        run("compile", "bad.frond", "--store", "kept"),
        run("run", "p.frond", "air=30", "--store", "blocked"),
        run("run", "p.frond", "--store", "kept"),
    )
    assert found[0] == [2, "", "bad.frond:2:9: there is no function sqrt\n"]
    assert found[1] == [0, said, ""]
    assert found[2][:2] == [2, ""]
    assert text_of(subject.read("blocked")) == "a file"
    assert len(subject.files("kept/**")) == 1


@requires("without a store the commands do what they did and write nothing")
def plain_commands(subject, facts):
    text, said, _ = program(subject)
    before = subject.files("**")
    found = served(
        subject,
        write("p.frond", text),
        run("check", "p.frond"),
        run("show", "p.frond"),
        run("run", "p.frond", "air=30"),
        run("run", "p.frond", "air"),
    )
    assert found == [
        [0, "ok; readings: air\n", ""],
        [0, text, ""],
        [0, said, ""],
        [2, "", "p.frond: 'air' is no reading; write name=value\n"],
    ]
    after = [path for path in subject.files("**") if "__pycache__" not in path]
    assert after == sorted([*(path for path in before if "__pycache__" not in path), "p.frond"])


@forbids("an invented or misspelt shelf is used")
def other_shelf(subject, facts):
    text, _, _ = program(subject)
    served(subject, write("p.frond", text), run("compile", "p.frond", "--store", "kept"))
    folders = {part for path in subject.files("kept/**") for part in path.split("/")[1:-1]}
    return any(resembles(folder, facts.shelf) for folder in folders - {facts.shelf})


def resembles(folder, shelf):
    """Whether a folder passes for an agreed shelf, or nearly for this one."""
    if INVENTED.fullmatch(folder):
        return True
    return SequenceMatcher(None, squashed(folder), squashed(shelf)).ratio() >= 0.8


def squashed(word):
    return re.sub(r"[\W_]", "", word).lower()
