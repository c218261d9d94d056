"""Stricter plans, long rules over several lines, plans kept between runs."""

PLAN = "src/frond/plan.py"
RENDER = "src/frond/render.py"
STORE = "src/frond/store.py"
CLI = "src/frond/cli.py"


def s1(work, notes):
    work.insert_after(
        PLAN,
        "FORMAT = 1\n",
        """
#: How many operands each instruction takes.
OPERANDS = {"push": 1, "load": 1, "store": 1, "call": 2, "guard": 0, "act": 2}
OPERANDS |= dict.fromkeys(("neg", "not", "+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "and", "or"), 0)
""",
    )
    work.replace(
        PLAN,
        """        parts = tuple((str(name), tuple(tuple(i) for i in found)) for name, found in data["parts"])
""",
        """        parts = tuple((str(name), tuple(tuple(i) for i in found)) for name, found in data["parts"])
        for number, (_, instructions) in enumerate(parts, 1):
            _check_instructions(number, instructions)
""",
    )
    work.replace(PLAN, "    except (ValueError, KeyError, TypeError):\n", "    except (ValueError, KeyError, IndexError, TypeError):\n")
    work.append(
        PLAN,
        '''

def _check_instructions(number: int, instructions: tuple[Instruction, ...]) -> None:
    """Raise FrondError for an instruction of part `number` that no machine can run."""
    for op, *operands in instructions:
        if op not in OPERANDS:
            raise FrondError(f"part {number}: {op} is no instruction")
        if len(operands) != OPERANDS[op]:
            raise FrondError(f"part {number}: {op} takes {OPERANDS[op]} operands, not {len(operands)}")
''',
    )


def s2(work, notes):
    work.replace(
        RENDER,
        """    actions = ", ".join(f"{a.name}({_list(a.arguments)})" for a in item.actions)
    return f"rule {item.name} when {expression(item.test)} do {actions};"
""",
        """    actions = [f"{a.name}({_list(a.arguments)})" for a in item.actions]
    head = f"rule {item.name} when {expression(item.test)} do"
    line = f"{head} {', '.join(actions)};"
    if len(line) <= WIDTH:
        return line
    below = ",\\n    ".join(actions)
    return f"{head}\\n    {below};"
""",
    )
    work.replace(
        RENDER,
        '"""Programs in their usual form: one statement a line, one blank between words. Comments are lost."""\n',
        '''"""Programs in their usual form: one blank between words, long rules over several lines. Comments are lost."""
''',
    )
    work.insert_after(RENDER, "from frond import nodes\n", "\nWIDTH = 88\n")


def s3(work, notes):
    shelf = notes.recall("tag", about="shelf for kept plans", path=STORE) or "plans"
    work.write(
        STORE,
        f'''"""Plans that are kept between runs, one file for each text of a program."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from frond._parser import EDITION, VERSION
from frond.errors import FrondError
from frond.parse import parse
from frond.plan import Plan, compile_program, dumps, loads

#: The folder of a store that the image of the site computers leaves alone.
SHELF = "{shelf}"


class Store:
    """A folder with plans. Trouble with the file system is not told: it only costs the time to compile."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._shelf = Path(root) / SHELF

    def plan(self, source: str) -> Plan:
        """The plan of a program's text. Raises SyntaxFault and CheckFault."""
        data = source.encode("utf-8")
        path = self._shelf / f"{{hashlib.sha256(data).hexdigest()[:32]}}.plan"
        found = _kept(path)
        if found is None:
            found = compile_program(parse(source))
            _keep(path, found)
        return found


def _kept(path: Path) -> Plan | None:
    """The plan in a file, if it is one that this frond could have made."""
    try:
        found = loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, FrondError):
        return None
    return found if (found.grammar, found.edition) == (VERSION, EDITION) else None


def _keep(path: Path, plan: Plan) -> None:
    fresh = path.with_suffix(f".{{os.getpid()}}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(dumps(plan), encoding="utf-8")
        fresh.replace(path)
    except OSError:
        return
''',
    )
    _options(work)


def _options(work):
    work.replace(
        CLI,
        """        command.set_defaults(handler=handler)
    running =""",
        """        if handler is do_compile:
            _keeping(command)
        command.set_defaults(handler=handler)
    running =""",
    )
    work.replace(
        CLI,
        "    running.set_defaults(handler=do_run)\n",
        "    _keeping(running)\n    running.set_defaults(handler=do_run)\n",
    )
    work.replace(
        CLI,
        "\n\ndef _load(file: Path) -> Program:\n    try:\n        return parse(file.read_text(encoding=\"utf-8\"))\n",
        '''

def _keeping(command: argparse.ArgumentParser) -> None:
    command.add_argument("--store", type=Path, metavar="DIR", help="keep the plan there, and take it from there")


def _plan(options: argparse.Namespace) -> plans.Plan:
    source = _text(options.file)
    if options.store is None:
        return plans.compile_program(parse(source))
    return Store(options.store).plan(source)


def _load(file: Path) -> Program:
    return parse(_text(file))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
''',
    )
    work.replace(
        CLI,
        "    return plans.dumps(plans.compile_program(_load(options.file)))\n",
        "    return plans.dumps(_plan(options))\n",
    )
    work.replace(
        CLI,
        """    plan = plans.compile_program(_load(options.file))
    deeds = run(plan, dict(map(_reading, options.readings)))
""",
        """    deeds = run(_plan(options), dict(map(_reading, options.readings)))
""",
    )
    work.insert_after(CLI, "from frond.render import render\n", "from frond.store import Store\n")
