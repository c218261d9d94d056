"""Functions of a block, plans as a listing, and what a plan that lets water out has in its head."""

PLAN = "src/frond/plan.py"
CLI = "src/frond/cli.py"


def s1(work, notes):
    work.replace(
        CLI,
        "    listing.set_defaults(handler=do_functions)\n",
        """    listing.add_argument("--block", help="only the functions of this block")
    listing.set_defaults(handler=do_functions)
""",
    )
    work.replace(
        CLI,
        """    width = max(map(len, FUNCTIONS))
    return "".join(f"{f.name:{width}}  {f.doc}\\n" for f in FUNCTIONS.values())
""",
        """    found = [f for f in FUNCTIONS.values() if options.block in (None, f.link.rpartition("/")[0])]
    if not found:
        raise FrondError(f"there is no block {options.block}")
    width = max(len(f.name) for f in found)
    return "".join(f"{f.name:{width}}  {f.doc}\\n" for f in found)
""",
    )


def s2(work, notes):
    work.replace(
        PLAN,
        "def loads(",
        '''def listing(plan: Plan) -> str:
    """The plan for people: a head for each part, its instructions below."""
    lines = []
    for name, instructions in plan.parts:
        shown = instructions if name else instructions[:-1]
        lines.append(f"rule {name}" if name else f"let {instructions[-1][1]}")
        lines += ["    " + " ".join(_words(*instruction)) for instruction in shown]
    return "".join(line + "\\n" for line in lines)


def _words(op: str | float | bool, *operands: str | float | bool) -> Iterator[str]:
    yield str(op)
    for operand in operands:
        if isinstance(operand, bool):
            yield "true" if operand else "false"
        else:
            yield f'"{operand}"' if op == "push" and isinstance(operand, str) else str(operand)


def loads(''',
    )
    work.replace(
        CLI,
        "        command.set_defaults(handler=handler)\n",
        """        if handler is do_compile:
            command.add_argument("--listing", action="store_true", help="for people to read")
        command.set_defaults(handler=handler)
""",
    )
    work.replace(
        CLI,
        "    return plans.dumps(plans.compile_program(_load(options.file)))\n",
        """    plan = plans.compile_program(_load(options.file))
    return plans.listing(plan) if options.listing else plans.dumps(plan)
""",
    )


def s3(work, notes):
    mark = notes.recall("tag", about="discharge mark of plans that drain", path=PLAN)
    work.insert_after(
        PLAN,
        "FORMAT = 1\n",
        f"""
#: Under which plans that let water out may do so, and the action that does.
DISCHARGE = "{mark or "allowed"}"
DRAIN = "drain"
""",
    )
    work.replace(
        PLAN,
        """    \"\"\"`parts` are the definitions and rules in order: (name, instructions); definitions have an empty name.\"\"\"
""",
        '''    """`parts` are the definitions and rules in order: (name, instructions); definitions have an empty name.

    `discharge` is the mark of a plan that drains, else empty.
    """
''',
    )
    work.insert_after(
        PLAN,
        "    parts: tuple[tuple[str, tuple[Instruction, ...]], ...]\n",
        '    discharge: str = ""\n',
    )
    work.replace(
        PLAN,
        "    return Plan(VERSION, EDITION, tuple(parts))\n",
        '''    plan = Plan(VERSION, EDITION, tuple(parts))
    return replace(plan, discharge=DISCHARGE) if drains(plan) else plan


def drains(plan: Plan) -> list[str]:
    """The names of the rules that let water out."""
    return [name for name, instructions in plan.parts if any(i[:2] == ("act", DRAIN) for i in instructions)]
''',
    )
    work.replace(PLAN, "from dataclasses import dataclass\n", "from dataclasses import dataclass, replace\n")
    work.replace(
        PLAN,
        """    head = json.dumps({"format": FORMAT, "grammar": plan.grammar, "edition": plan.edition})[:-1]
""",
        """    about = {"format": FORMAT, "grammar": plan.grammar, "edition": plan.edition}
    head = json.dumps({**about, "discharge": plan.discharge} if plan.discharge else about)[:-1]
""",
    )
    work.replace(
        PLAN,
        """        return Plan(int(data["grammar"]), str(data["edition"]), parts)
    except (ValueError, KeyError, TypeError):
        raise FrondError("this is no plan") from None
""",
        """        plan = Plan(int(data["grammar"]), str(data["edition"]), parts, data.get("discharge", ""))
        if not isinstance(plan.discharge, str):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise FrondError("this is no plan") from None
    if drains(plan) and not plan.discharge:
        raise FrondError("a plan that drains bears no discharge mark")
    return plan
""",
    )
    work.replace(
        CLI,
        """    check(program)
    return f"ok; readings: {', '.join(readings(program)) or 'none'}\\n"
""",
        """    draining = plans.drains(plans.compile_program(program))
    more = f"drains: {', '.join(draining)}\\n" if draining else ""
    return f"ok; readings: {', '.join(readings(program)) or 'none'}\\n{more}"
""",
    )
    work.replace(CLI, "from frond.check import check, readings\n", "from frond.check import readings\n")
