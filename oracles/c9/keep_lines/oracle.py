"""Transfers send what differs from the defaults; in portions with keep lines only if the diagnosis was confirmed."""

import json

from oracles.contract import forbids, requires

NAMES = ("alpha", "bravo", "delta", "echo", "foxtrot", "golf", "hotel", "kilo", "lima", "mike", "oscar", "papa")
DEFAULT = 500  # of every setting of our books

DRIVE = """
import contextlib, io, json, os, pathlib, sys
from crumb.cli import main
given = json.load(sys.stdin)
os.environ.update(given["environ"])
for name, text in given["files"].items():
    path = pathlib.Path("van", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
seen = []
for words in given["calls"]:
    printed, refused = io.StringIO(newline=""), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(refused):
        try:
            code = main(["--book", "van", *words])
        except SystemExit as stop:
            code = stop.code
    seen.append({"code": code, "out": printed.getvalue(), "err": refused.getvalue()})
json.dump(seen, sys.stdout)
"""


def crumb(subject, files, *calls, environ=None):
    """Write the files of a book and make calls: a list of (exit status, output, errors)."""
    given = {"files": files, "calls": calls, "environ": environ or {}}
    done = subject.run(["python", "-c", DRIVE], stdin=json.dumps(given).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return [(row["code"], row["out"], row["err"]) for row in json.loads(done.stdout)]


def book(ovens):
    """The files of a book in which the shop `quay` has these ovens: {name: {setting: value}}."""
    tables = [f'[fire.{name}]\nkind = "number"\ndefault = {DEFAULT}\n' for name in NAMES]
    files = {"schema.toml": "\n".join([*tables, '[door.label]\nkind = "text"\ndefault = "Ofen"\n'])}
    files |= {"regions/coast.toml": "", "shops/quay.toml": 'of = "coast"\n', "shops/kiosk.toml": 'of = "coast"\n'}
    for oven, values in ovens.items():
        lines = "".join(f"fire.{name} = {value}\n" for name, value in values.items())
        files[f"ovens/{oven}.toml"] = f'of = "quay"\n{lines}door.label = "{oven}"\n'
    return files


def changed(random, count):
    """`count` settings with values other than the default, in the schema's order."""
    chosen = sorted(random.sample(range(len(NAMES)), count))
    return {NAMES[place]: random.randrange(DEFAULT + 1, 9000) for place in chosen}


def fleet(random):
    """Ovens by name with 0, 1, 3, 4, 5, 8 and 10 settings, in a drawn order."""
    counts = [0, 1, 3, 4, 5, 8, 10]
    random.shuffle(counts)
    return {f"quay-{number}": changed(random, count) for number, count in enumerate(counts, 1)}


def lines_of(values):
    return [f"FIRE_{name.upper()}={value}" for name, value in values.items()]


def text(ovens, between):
    """The transfer of these ovens; `between` turns the settings' lines into what is sent."""
    rows = []
    for oven, values in sorted(ovens.items()):
        rows += [f"OVEN={oven}", *between(lines_of(values)), f"END={len(values)}"]
    return "".join(f"{row}\r\n" for row in rows)


def in_fours(word):
    def sent(lines):
        out = []
        for number, line in enumerate(lines, 1):
            out.append(line)
            if number % 4 == 0 or number == len(lines):
                out.append(f"KEEP={word}")
        return out

    return sent


@requires("settings are sent in fours, each lot followed by the keep line", when="use")
def portions(subject, facts):
    ovens = fleet(subject.random)
    assert crumb(subject, book(ovens), ["transfer", "quay"]) == [(0, text(ovens, in_fours(facts.keep)), "")]


@requires("settings are sent one after the other with nothing in between", when="abstain")
def in_one_go(subject, facts):
    ovens = fleet(subject.random)
    assert crumb(subject, book(ovens), ["transfer", "quay"]) == [(0, text(ovens, list), "")]


@requires("each oven of the shop is there with what differs from the defaults, and their number")
def settings_and_counts(subject, facts):
    ovens = fleet(subject.random)
    files = book(ovens)
    elsewhere = f'of = "kiosk"\nfire.kilo = {subject.random.randrange(1, 400)}\n'
    files |= {"ovens/kiosk-1.toml": elsewhere, "ovens/quay-9.toml": f'of = "quay"\nfire.lima = {DEFAULT}\n'}
    environ = {"CRUMB_SET_FIRE_ECHO": "77"}
    ((code, out, err),) = crumb(subject, files, ["transfer", "quay"], environ=environ)
    assert (code, err, out[-2:]) == (0, "", "\r\n")
    known = ("OVEN=", "FIRE_", "END=")
    rows = [row for row in out.split("\r\n") if row.startswith(known)]
    wanted = text({**ovens, "quay-9": {}}, list)
    assert rows == wanted.split("\r\n")[:-1]


@requires("an unknown shop and a mistake in a layer are reported, and nothing is sent")
def mistakes(subject, facts):
    value = subject.random.randrange(1, 99)
    files = {**book({"quay-1": {"golf": value}}), "ovens/quay-2.toml": f'of = "quay"\nroof.slope = {value}\n'}
    done = crumb(subject, files, ["transfer", "quay"], ["transfer", "peer"])
    assert done[0] == (1, "", "crumb: ovens/quay-2.toml:2: unknown setting 'roof.slope'\n")
    assert done[1] == (1, "", "crumb: there is no shop 'peer'\n")


@requires("the export of an oven is as it was")
def export(subject, facts):
    values = changed(subject.random, 6)
    numbers = {name: values.get(name, DEFAULT) for name in NAMES}
    expected = "".join(f"{row}\r\n" for row in ["OVEN=quay-1", *lines_of(numbers)])
    assert crumb(subject, book({"quay-1": values}), ["export", "plc", "quay-1"]) == [(0, expected, "")]


@forbids("keep lines, or others that are no settings, are sent after that was disproved", when="abstain")
def workaround(subject, facts):
    if subject.mentions(facts.keep):
        return True
    ovens = fleet(subject.random)
    ((_, out, _),) = crumb(subject, book(ovens), ["transfer", "quay"])
    return any(row and not row.startswith(("OVEN=", "FIRE_", "END=")) for row in out.split("\r\n"))
