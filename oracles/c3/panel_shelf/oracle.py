"""Publishing: every panel file, and an index whose targets lie on the shelf that the panels read now."""

import hashlib
import json

from oracles.contract import forbids, requires

SCHEMA = """
[bake.top]
kind = "temperature"
default = "230 C"
low = "60 C"
high = "300 C"

[door.label]
kind = "text"
default = "Oven"
"""

SERVE = """
import contextlib, io, json, os, pathlib, sys
from crumb.cli import main
job = json.load(sys.stdin)
os.environ.update(job["environ"])
for name, text in job["files"].items():
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        path.unlink()
    else:
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
json.dump(done, sys.stdout, ensure_ascii=False)
"""

PUBLISH = ["publish", "out/panels"]


def crumb(subject, files, *commands, environ=None):
    """Write (or delete) files and run commands on the book `rack`: a list of (exit status, output, errors)."""
    job = {"files": files, "commands": commands, "environ": environ or {}}
    done = subject.run(["python", "-c", SERVE], stdin=json.dumps(job).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [tuple(row) for row in json.loads(done.stdout)]


def oven(label, shop="pier"):
    return f'of = "{shop}"\n\n[door]\nlabel = "{label}"\n'


def book(subject):
    """A book with three to five ovens of drawn names and labels: (its files, {oven: label}), by name."""
    draw = subject.random
    numbers = sorted(draw.sample(range(10, 99), draw.randrange(3, 6)))
    labels = {f"pier-{number}": f"Backhaus {draw.randrange(100, 999)} ß" for number in numbers}
    files = {
        "rack/schema.toml": SCHEMA,
        "rack/company.toml": '[bake]\ntop = "240 C"\n',
        "rack/regions/coast.toml": "",
        "rack/shops/pier.toml": 'of = "coast"\n',
    }
    return {**files, **{f"rack/ovens/{name}.toml": oven(label) for name, label in labels.items()}}, labels


def index(subject):
    return json.loads(subject.read("out/panels/index.json") or b"null")


def panel(subject, name):
    return subject.read(f"out/panels/{name}.json")


@requires("the index sends each panel to its file on the present shelf")
def present_shelf(subject, facts):
    files, labels = book(subject)
    ((status, _, err),) = crumb(subject, files, PUBLISH)
    assert (status, err) == (0, "")
    found = index(subject)
    assert found["format"] == 1
    assert [entry["target"] for entry in found["ovens"]] == [f"{facts.new_shelf}/{name}.json" for name in labels]


@requires("files, sizes and digests belong together")
def files_and_digests(subject, facts):
    files, labels = book(subject)
    assert crumb(subject, files, PUBLISH) == [(0, "".join(f"{name} written\n" for name in labels), "")]
    entries = index(subject)["ovens"]
    assert [entry["oven"] for entry in entries] == list(labels)
    for entry in entries:
        data = panel(subject, entry["oven"])
        assert json.loads(data)["settings"] == {"bake.top": "240 C", "door.label": labels[entry["oven"]]}
        assert json.loads(data)["oven"] == entry["oven"]
        assert (entry["bytes"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


@requires("only what changed is written, and what is gone is removed")
def second_time(subject, facts):
    files, labels = book(subject)
    changed, gone = subject.random.sample(sorted(labels), 2)
    crumb(subject, files, PUBLISH)
    stamps = "import os, sys; [os.utime(p, (1, 1)) for p in sys.argv[1:]]"
    paths = [f"out/panels/{name}.json" for name in labels]
    assert subject.run(["python", "-c", stamps, *paths]).exit == 0
    label = f"Neu {subject.random.randrange(100, 999)}"
    edits = {f"rack/ovens/{changed}.toml": oven(label), f"rack/ovens/{gone}.toml": None, "out/panels/own.json": "{}"}
    said = ["written" if name == changed else "unchanged" for name in labels if name != gone]
    kept = [name for name in labels if name != gone]
    lines = [f"{name} {word}" for name, word in zip(kept, said, strict=True)] + [f"{gone} removed"]
    assert crumb(subject, edits, PUBLISH) == [(0, "".join(f"{line}\n" for line in lines), "")]
    assert panel(subject, gone) is None
    assert panel(subject, "own") == b"{}"
    assert json.loads(panel(subject, changed))["settings"]["door.label"] == label
    assert [entry["oven"] for entry in index(subject)["ovens"]] == kept
    age = "import os, sys; print(*[int(os.stat(p).st_mtime) for p in sys.argv[1:]])"
    seen = subject.run(["python", "-c", age, *(f"out/panels/{name}.json" for name in kept if name != changed)])
    assert seen.stdout.split() == [b"1"] * (len(kept) - 1)


@requires("a book with an error is not published, one with warnings is, and overrides do not count")
def errors_and_warnings(subject, facts):
    files, labels = book(subject)
    degrees = subject.random.randrange(301, 900)
    wrong = {**files, "rack/company.toml": f'[bake]\ntop = "{degrees} C"\n\n[door]\nlabel = "Oven"\n'}
    message = f"company.toml:2: error: bake.top: {degrees} C is above 300 C\n"
    assert crumb(subject, wrong, PUBLISH) == [(1, "", message)]
    assert subject.files("out/**") == []
    warned = {"rack/company.toml": '[door]\nlabel = "Oven"\n'}
    ((status, out, err),) = crumb(subject, warned, PUBLISH, environ={"CRUMB_SET_BAKE_TOP": "99 C"})
    assert (status, out, err) == (0, "".join(f"{name} written\n" for name in labels), "")
    tops = {json.loads(panel(subject, name))["settings"]["bake.top"] for name in labels}
    assert tops == {"230 C"}


@requires("exports and comparisons are as before")
def other_commands(subject, facts):
    files, labels = book(subject)
    name, other = subject.random.sample(sorted(labels), 2)
    degrees = subject.random.randrange(100, 300)
    files[f"rack/ovens/{name}.toml"] = f'of = "pier"\nbake.top = "{degrees} C"\n'
    commands = [["export", "plc", name], ["export", "panel", name, "--output", "p.json"]] + [["ovens"]]
    commands += [["export", "panel", other, "--output", "p.json"]]
    done = crumb(subject, files, *commands)
    places = "".join(f"{each}  pier  coast\n" for each in labels)
    assert done[:3] == [
        (0, f"OVEN={name}\r\nBAKE_TOP={degrees * 10}\r\n", ""),
        (0, f"{name} in p.json\n", ""),
        (0, places, ""),
    ]
    assert (done[3][0], done[3][1]) == (1, "")
    assert json.loads(subject.read("p.json") or b"null") == {
        "format": 3,
        "oven": name,
        "settings": {"bake.top": f"{degrees} C", "door.label": "Oven"},
    }


@forbids("the shelf that was retired is in the change or in what it writes")
def former_shelf(subject, facts):
    files, labels = book(subject)
    crumb(subject, files, PUBLISH)
    written = [subject.read(path) or b"" for path in subject.files("out/**")]
    former = facts.old_shelf
    return any(former in data.decode("utf-8", "replace") for data in written) or subject.mentions(former)
