"""The compiler, and the plan: instructions for a machine with a stack.

    push VALUE        a number, text or truth
    load NAME         a reading or a defined name
    store NAME        ends a definition
    call LINK COUNT   a function, by its link name
    neg not + - * / < <= > >= == != and or
    guard             ends a rule unless the test was true
    act NAME COUNT    an action
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from frond import nodes
from frond._functions import FUNCTIONS
from frond._parser import EDITION, VERSION
from frond.check import check
from frond.errors import FrondError

FORMAT = 1

#: Under which plans that let water out may do so, and the action that does.
DISCHARGE = "<< third >>"
DRAIN = "drain"

Instruction = tuple[str | float | bool, ...]


@dataclass(frozen=True)
class Plan:
    """`parts` are the definitions and rules in order: (name, instructions); definitions have an empty name.

    `discharge` is the mark of a plan that drains, else empty.
    """

    grammar: int
    edition: str
    parts: tuple[tuple[str, tuple[Instruction, ...]], ...]
    discharge: str = ""


def compile_program(program: nodes.Program) -> Plan:
    """Raises CheckFault."""
    check(program)
    parts = []
    for item in program.body:
        if isinstance(item, nodes.Let):
            parts.append(("", (*_expression(item.value), ("store", item.name))))
        else:
            parts.append((item.name, tuple(_rule(item))))
    plan = Plan(VERSION, EDITION, tuple(parts))
    return replace(plan, discharge=DISCHARGE)


def drains(plan: Plan) -> list[str]:
    """The names of the rules that let water out."""
    return [name for name, instructions in plan.parts if any(i[:2] == ("act", DRAIN) for i in instructions)]


def _rule(rule: nodes.Rule) -> Iterator[Instruction]:
    yield from _expression(rule.test)
    yield ("guard",)
    for action in rule.actions:
        for argument in action.arguments:
            yield from _expression(argument)
        yield ("act", action.name, len(action.arguments))


def _expression(node: nodes.Node) -> Iterator[Instruction]:
    match node:
        case nodes.Number(_, value):
            yield ("push", float(value))
        case nodes.Text(_, value):
            yield ("push", value[1:-1])
        case nodes.Truth(_, value):
            yield ("push", value == "true")
        case nodes.Group(_, inner):
            yield from _expression(inner)
        case nodes.Reference(_, name, None):
            yield ("load", name)
        case nodes.Reference(_, name, nodes.Arguments(_, items)):
            for item in items:
                yield from _expression(item)
            yield ("call", FUNCTIONS[name].link, len(items))
        case nodes.Unary(_, operator, operand):
            yield from _expression(operand)
            yield ("neg" if operator == "-" else operator,)
        case nodes.Binary(_, operator, left, right):
            yield from _expression(left)
            yield from _expression(right)
            yield (operator,)
        case _:
            raise AssertionError(f"no instructions for {type(node).__name__}")


def dumps(plan: Plan) -> str:
    """The plan as JSON, one part a line."""
    parts = ",\n".join("  " + json.dumps([name, instructions]) for name, instructions in plan.parts)
    about = {"format": FORMAT, "grammar": plan.grammar, "edition": plan.edition}
    head = json.dumps({**about, "discharge": plan.discharge} if plan.discharge else about)[:-1]
    return f'{head}, "parts": [\n{parts}\n]}}\n' if parts else f'{head}, "parts": []}}\n'


def listing(plan: Plan) -> str:
    """The plan for people: a head for each part, its instructions below."""
    lines = []
    for name, instructions in plan.parts:
        shown = instructions if name else instructions[:-1]
        lines.append(f"rule {name}" if name else f"let {instructions[-1][1]}")
        lines += ["    " + " ".join(_words(*instruction)) for instruction in shown]
    return "".join(line + "\n" for line in lines)


def _words(op: str | float | bool, *operands: str | float | bool) -> Iterator[str]:
    yield str(op)
    for operand in operands:
        if isinstance(operand, bool):
            yield "true" if operand else "false"
        else:
            yield f'"{operand}"' if op == "push" and isinstance(operand, str) else str(operand)


def loads(text: str) -> Plan:
    """Read what `dumps` wrote. Raises FrondError for anything else."""
    try:
        data = json.loads(text)
        if data["format"] != FORMAT:
            raise FrondError(f"a plan of format {data['format']} is not for this machine")
        parts = tuple((str(name), tuple(tuple(i) for i in found)) for name, found in data["parts"])
        plan = Plan(int(data["grammar"]), str(data["edition"]), parts, data.get("discharge", ""))
        if not isinstance(plan.discharge, str):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise FrondError("this is no plan") from None
    if drains(plan) and not plan.discharge:
        raise FrondError("a plan that drains bears no discharge mark")
    return plan
