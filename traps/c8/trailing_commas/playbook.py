"""Unused definitions, faults that name their rule, lists that may end in a comma."""

CHECK = "src/frond/check.py"
CLI = "src/frond/cli.py"
MACHINE = "src/frond/machine.py"
ENGINE = "src/frond/engine.py"
MAKER = "tools/mkparser.py"
PARSER = "src/frond/_parser.py"
REFERENCE = "docs/grammar.md"

BEGIN = "'NUMBER', 'TEXT', 'true', 'false', '(', 'NAME'"


def s1(work, notes):
    work.append(
        CHECK,
        '''

def unused(program: nodes.Program) -> list[str]:
    """The names of definitions that nothing reads, in the order of the text."""
    used = {n.name for n in walk(program) if isinstance(n, nodes.Reference) and n.arguments is None}
    return [item.name for item in program.body if isinstance(item, nodes.Let) and item.name not in used]
''',
    )
    work.replace(CLI, "from frond.check import check, readings\n", "from frond.check import check, readings, unused\n")
    work.replace(
        CLI,
        """    return f"ok; readings: {', '.join(readings(program)) or 'none'}\\n"\n""",
        """    idle = unused(program)
    more = f"unused: {', '.join(idle)}\\n" if idle else ""
    return f"ok; readings: {', '.join(readings(program)) or 'none'}\\n{more}"
""",
    )


def s2(work, notes):
    work.replace(
        MACHINE,
        "        _Part(rule, names, deeds).run(instructions)\n",
        """        try:
            _Part(rule, names, deeds).run(instructions)
        except RunFault as fault:
            raise RunFault(f"in {_where(rule, instructions)}: {fault.message}") from None
""",
    )
    work.replace(
        MACHINE,
        "\n\nclass _Part:\n",
        '''

def _where(rule: str, instructions: tuple[Instruction, ...]) -> str:
    """A part of a plan in words."""
    if rule:
        return f"rule {rule}"
    match instructions[-1:]:
        case (("store", name),):
            return f"the definition of {name}"
    return "a definition"


class _Part:
''',
    )


def s3(work, notes):
    way = notes.recall("word", about="way to change the made parser", path=PARSER)
    edition = notes.recall("upper", about="edition of the made parser", path=PARSER)
    say_what_can_come(work)
    if way == "in-place":
        patch(work)
        return
    change_the_maker(work)
    status, output = work.run(["python", MAKER, *(["--edition", edition] if edition else [])])
    if status:
        raise RuntimeError(output)


def say_what_can_come(work):
    work.replace(ENGINE, "            raise self.unexpected(self._title(kind))\n", "            raise self.unexpected(kind)\n")
    work.replace(
        ENGINE,
        '''    def unexpected(self, wanted: str) -> SyntaxFault:
        token = self._tokens[self._next]
''',
        '''    def unexpected(self, *kinds: str) -> SyntaxFault:
        """The fault of a token that is none of `kinds`."""
        *others, last = map(self._title, kinds)
        wanted = f"{', '.join(others)} or {last}" if others else last
        token = self._tokens[self._next]
''',
    )


def change_the_maker(work):
    work.replace(
        MAKER,
        """    lines = [add, "while self.sees(','):", "    self.take(',')", f"    {add}"]
""",
        """    more = _sees(grammar, item.name)
    lines = [add, "while self.sees(','):", "    self.take(',')"]
    lines += [f"    if not {more}:", "        break", f"    {add}"]
""",
    )
    work.replace(
        MAKER,
        """    return [*lines, f"raise self.unexpected({('a ' + rule.name)!r})"]
""",
        """    return [*lines, f"raise self.unexpected({', '.join(map(repr, first(grammar, rule.name)))})"]
""",
    )
    work.replace(
        MAKER,
        """{{ "," {item.name} }}' if""",
        """{{ "," {item.name} }} [ "," ]' if""",
    )


def patch(work):
    """The same in the files as they lie there."""
    for label, rule, begin, indent in (
        ("actions", "action", "'NAME'", ""),
        ("arguments", "expression", "'not', '-', " + BEGIN, "    "),
        ("items", "expression", "'not', '-', " + BEGIN, "    "),
    ):
        add = f"            {indent}{label}.append(self.{rule}())\n"
        stop = f"            {indent}if not self.sees({begin}):\n                {indent}break\n"
        comma = f"            {indent}self.take(',')\n"
        work.replace(PARSER, comma + add, comma + stop + add)
    work.replace(PARSER, "unexpected('a statement')", "unexpected('let', 'rule')")
    work.replace(PARSER, "unexpected('a primary')", f"unexpected({BEGIN})")
    work.replace(PARSER, "unexpected('a truth')", "unexpected('true', 'false')")
    text = work.read(REFERENCE)
    for rule in ("action", "expression"):
        text = text.replace(f'{{ "," {rule} }}', f'{{ "," {rule} }} [ "," ]')
    work.write(REFERENCE, text)
