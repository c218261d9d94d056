"""All sites are built; one of them has its own channel, the others and any new one have the default."""

import json

from oracles.contract import forbids, requires, same

DO = """
import contextlib, io, json, sys
from pathlib import Path
from frond.cli import main
done = []
for step in json.load(sys.stdin):
    if "write" in step:
        path = Path(step["write"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step["text"], encoding="utf-8")
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

OURS = {"duin": 2, "polder": 2, "terp": 2}
NAMES = ("akker", "broek", "dijk", "gors", "kreek", "zand")


def did(subject, *steps):
    """Carry out the steps in one process: [exit status, output, errors] of each command."""
    done = subject.run(["python", "-c", DO], stdin=json.dumps(steps).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout.decode("utf-8", "replace"))


def write(path, text):
    return {"write": path, "text": text}


def build(sites, out):
    return {"run": ["build", sites, "--output", out]}


def index(subject, out):
    data = subject.read(f"{out}/index.json")
    assert data is not None, f"there is no {out}/index.json"
    return json.loads(data.decode("utf-8", "replace"))


def sites(subject):
    """Three drawn names for sites of the check's own, in alphabetical order."""
    return sorted(subject.random.sample(NAMES, 3))


@requires("polder is sent on its own channel, in the rhythm of all")
def own_channel(subject, facts):
    done = did(subject, build("sites", "out"))
    assert done == [[0, "".join(f"{name}: {count} rules\n" for name, count in OURS.items()), ""]]
    assert same(index(subject, "out")["polder"], {"plan": "polder.plan", "every": 60, "channel": facts.channel})


@requires("the other sites, and one that comes later, run with the defaults")
def defaults_elsewhere(subject, facts):
    name = subject.random.choice(NAMES)
    did(subject, write(f"sites/{name}/main.frond", "rule r when true do go();"), build("sites", "out"))
    found = index(subject, "out")
    assert sorted(found) == sorted([*OURS, name])
    for site in ("duin", "terp", name):
        assert same(found[site], {"plan": f"{site}.plan", "every": 60, "channel": "main"})


@requires("settings are read, and bad ones are told with their file before anything is written")
def settings(subject, facts):
    one, two, three = sites(subject)
    every = subject.random.randrange(10, 3600)
    text = "let a = 1;\nrule r when air > a do go();\n"
    steps = [write(f"s/{name}/main.frond", text) for name in (one, two, three)]
    steps += [write(f"s/{two}/site.toml", f'every = {every}\nchannel = "aside-{every}"\n'), build("s", "good")]
    for bad in ("evry = 60", "every = 9", "every = 10.0", "every = true", "channel = ''", "channel = 7", "every ="):
        steps += [write(f"s/{three}/site.toml", bad), build("s", "bad")]
    done = did(subject, *steps)
    assert done[0] == [0, f"{one}: 1 rule\n{two}: 1 rule\n{three}: 1 rule\n", ""]
    assert same(index(subject, "good")[two], {"plan": f"{two}.plan", "every": every, "channel": f"aside-{every}"})
    said = ["evry is no setting", *["every has a bad value"] * 3, *["channel has a bad value"] * 2, "is no TOML"]
    assert done[1:] == [[2, "", f"s/{three}/site.toml: {words}\n"] for words in said]
    assert subject.files("bad/**") == []


@requires("plans are those of compile, and a bad program or an empty folder is told and leaves the output alone")
def plans_and_faults(subject, facts):
    one, two, three = sites(subject)
    number = subject.random.randrange(2, 400)
    text = f'rule r when air > {number} do open("x");\nrule s when air < {number} do go(), stop();\n'
    done = did(
        subject,
        write(f"s/{one}/main.frond", text),
        write(f"s/{two}/other.frond", text),
        {"run": ["compile", f"s/{one}/main.frond"]},
        build("s", "out"),
        write(f"s/{three}/main.frond", "let a = 1;\nlet b 2;\n"),
        build("s", "out"),
        build(f"s/{two}", "empty"),
    )
    assert done[1] == [0, f"{one}: 2 rules\n", ""]
    assert done[2] == [2, "", f"s/{three}/main.frond:2:7: expected '=', found 2\n"]
    assert done[3] == [2, "", f"s/{two}: there are no sites\n"]
    assert subject.files("out/**") == sorted(["out/index.json", f"out/{one}.plan"])
    assert (subject.read(f"out/{one}.plan") or b"").decode("utf-8", "replace") == done[0][1] != ""
    assert subject.files("empty/**") == []


@requires("the other commands do what they did")
def other_commands(subject, facts):
    number = subject.random.randrange(2, 400)
    text = f'let a = {number};\nrule r when air > a do open("x", min(a, air));\n'
    done = did(
        subject,
        write("p.frond", text),
        {"run": ["check", "p.frond"]},
        {"run": ["show", "p.frond"]},
        {"run": ["run", "p.frond", f"air={number + 1}"]},
        {"run": ["check", "none.frond"]},
    )
    assert done == [
        [0, "ok; readings: air\n", ""],
        [0, text, ""],
        [0, f'r: open("x", {number})\n', ""],
        [2, "", "none.frond: No such file or directory\n"],
    ]


@forbids("a site that is not polder is sent on polder's channel")
def channel_elsewhere(subject, facts):
    name = subject.random.choice(NAMES)
    steps = [write(f"{root}/{name}/main.frond", "rule r when true do go();") for root in ("sites", "s")]
    did(subject, *steps, build("sites", "out"), build("s", "new"))
    found = {**index(subject, "out"), "new": index(subject, "new")[name]}
    return any(entry["channel"] == facts.channel for site, entry in found.items() if site != "polder")
