"""What is loaded over the bus goes to the register that counts, row by row, with the right values and sum."""

import json

from oracles.contract import forbids, requires

SETTINGS = {
    "bake.top": 'kind = "temperature"\ndefault = "230 C"\nabout = "heat from above"\n',
    "bake.time": 'kind = "duration"\ndefault = "22 m"\n',
    "steam.seconds": 'kind = "number"\ndefault = 6\nlow = 0\nabout = "one burst"\n',
    "door.label": 'kind = "text"\ndefault = "Ofen"\n',
    "door.lock": 'kind = "switch"\ndefault = true\nabout = "the bolt"\n',
}

RUN = """
import contextlib, io, json, pathlib, sys
from crumb.cli import main
order = json.load(sys.stdin)
for name, text in order["book"].items():
    target = pathlib.Path("shelf") / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
answers = []
for call in order["calls"]:
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        try:
            code = main(["--book", "shelf", *call])
        except SystemExit as stop:
            code = stop.code
    answers.append([code, said.getvalue(), complained.getvalue()])
print(json.dumps(answers))
"""


def ask(subject, book, *calls):
    """Write a book and make calls: a list of [exit status, output, errors]."""
    done = subject.run(["python", "-c", RUN], stdin=json.dumps({"book": book, "calls": calls}).encode())
    assert done.exit == 0, done.stderr.decode("utf-8", "replace")[-200:]
    return json.loads(done.stdout)


def shelf(names, layer=""):
    """A book with these settings and one oven, hall-3."""
    tables = "\n".join(f"[{name}]\n{SETTINGS[name]}" for name in names)
    places = {"regions/plain.toml": "", "shops/hall.toml": 'of = "plain"\n'}
    return {"schema.toml": tables, **places, "ovens/hall-3.toml": f'of = "hall"\n{layer}'}


def drawn(random):
    """(lines of an oven's file, what the bus gets for bake.top, steam.seconds and door.lock)."""
    degrees, burst, lock = random.randrange(100, 6000), random.randrange(20, 9000), random.random() < 0.5
    lines = f'bake.top = "{degrees} C"\nsteam.seconds = {burst}\ndoor.lock = {str(lock).lower()}\n'
    return lines, [degrees * 10, burst, int(lock)]


def frame(registers, values):
    rows = [f"{register} {value:04X}" for register, value in zip(registers, values, strict=True)]
    return "".join(f"{row}\n" for row in [*rows, f"SUM {sum(values) % 65536:04X}"])


@requires("each of the three settings goes to the register that counts for it")
def registers(subject, facts):
    lines, values = drawn(subject.random)
    expected = frame([facts.top_register, facts.steam_register, facts.door_register], values)
    assert ask(subject, shelf(SETTINGS, lines), ["bus", "hall-3"]) == [[0, expected, ""]]


@requires("the table for people has the same registers and what the schema says")
def table(subject, facts):
    ((code, out, err),) = ask(subject, shelf(SETTINGS), ["registers"])
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"bake.top       {facts.top_register}  heat from above",
        f"steam.seconds  {facts.steam_register}  one burst",
        f"door.lock      {facts.door_register}  the bolt",
    ]


@requires("values and sum follow the settings, overrides included")
def values_and_sum(subject, facts):
    random = subject.random
    lines, values = drawn(random)
    top, lock = random.randrange(100, 6000), random.choice(["on", "off"])
    calls = [["bus", "hall-3"], ["bus", "hall-3", "--set", f"bake.top={top} C", "--set", f"door.lock={lock}"]]
    second = [top * 10, values[1], int(lock == "on")]
    for (code, out, err), wanted in zip(ask(subject, shelf(SETTINGS, lines), *calls), [values, second], strict=True):
        rows = [row.split(" ") for row in out.splitlines()]
        assert (code, err, [len(row) for row in rows]) == (0, "", [2] * 4)
        assert [row[1] for row in rows] == [f"{value:04X}" for value in (*wanted, sum(wanted) % 65536)]
        assert rows[3][0] == "SUM"


@requires("what the schema of a book does not have is left out, of the load and of the table")
def left_out(subject, facts):
    known = {"steam.seconds": facts.steam_register, "door.lock": facts.door_register, "bake.top": facts.top_register}
    gone = subject.random.choice(sorted(known))
    names = [name for name in SETTINGS if name != gone]
    plain = {"bake.top": 2300, "steam.seconds": 6, "door.lock": 1}
    kept = [name for name in plain if name != gone]
    expected = frame([known[name] for name in kept], [plain[name] for name in kept])
    done = ask(subject, shelf(names), ["bus", "hall-3"], ["registers"])
    assert done[0] == [0, expected, ""]
    assert [row.split()[:2] for row in done[1][1].splitlines()] == [[name, known[name]] for name in kept]


@requires("the export for the burner controller and the views are as they were")
def other_commands(subject, facts):
    degrees = subject.random.randrange(60, 900)
    book = shelf(["bake.top", "door.label"], f'bake.top = "{degrees} C"\n')
    done = ask(subject, book, ["export", "plc", "hall-3"], ["show", "hall-3"], ["bus", "hall-4"])
    assert done[0] == [0, f"OVEN=hall-3\r\nBAKE_TOP={degrees * 10}\r\n", ""]
    width = max(len(f"{degrees} C"), 4)
    shown = f"bake.top    {f'{degrees} C':<{width}}  ovens/hall-3.toml\ndoor.label  {'Ofen':<{width}}  default\n"
    assert done[1] == [0, shown, ""]
    assert done[2] == [1, "", "crumb: there is no oven 'hall-4'\n"]


def sent(subject, value):
    """Whether a register is in the change or in what the two commands print."""
    ((_, load, _), (_, rows, _)) = ask(subject, shelf(SETTINGS), ["bus", "hall-3"], ["registers"])
    return value in load or value in rows or subject.mentions(value)


@forbids("the gateway's register is used where the board's own counts")
def losing_row(subject, facts):
    return sent(subject, facts.steam_gateway)


@forbids("a register from the trial is used for the steam")
def late_steam(subject, facts):
    return sent(subject, facts.steam_fair)


@forbids("a register from the trial is used for the door")
def late_door(subject, facts):
    return sent(subject, facts.door_fair)
