#!/usr/bin/env python3
"""Make src/frond/_parser.py and docs/grammar.md from grammar/frond.grammar.

    python tools/mkparser.py [--edition EDITION]    write both files
    python tools/mkparser.py --check            write nothing; exit 1 if a file is out of date

The edition says which making of the parser a site has; plans bear it, and
``frond --version`` prints it.  ``--check`` accepts any, as long as both files
bear the same one.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GRAMMAR = ROOT / "grammar" / "frond.grammar"
MODULE = ROOT / "src" / "frond" / "_parser.py"
DOCS = ROOT / "docs" / "grammar.md"

NOTICE = "Made by tools/mkparser.py from grammar/frond.grammar; edition: "
EDITION = re.compile(r"[A-Za-z0-9._-]+")

_TOKEN = re.compile(r"token\s+([A-Z]+)\s+/(.*)/\s+(\S.*)")
_ITEM = re.compile(r'(?:([a-z]+):)?("[^"]+"|[A-Za-z]+)(\{,\}\??|[*?])?')


class GrammarError(Exception):
    """The grammar contradicts itself."""


@dataclass(frozen=True)
class Item:
    """`name` is a quoted text, a token or a rule; `count` is "", "*", "?", "{,}" or "{,}?"."""

    label: str
    name: str
    count: str

    @property
    def may_be_absent(self) -> bool:
        return self.count.endswith(("*", "?"))


@dataclass(frozen=True)
class Production:
    """`kind` is items, choice, infix or prefix; `texts` are the operators of the latter two."""

    name: str
    kind: str
    items: tuple[Item, ...]
    texts: tuple[str, ...]
    node: str


@dataclass(frozen=True)
class Grammar:
    version: int
    tokens: dict[str, tuple[str, str]]
    skip: str
    rules: dict[str, Production]


def read_grammar(text: str) -> Grammar:
    version, skip = 0, ""
    tokens: dict[str, tuple[str, str]] = {}
    rules: dict[str, Production] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("language "):
            version = int(line.split()[2])
        elif match := _TOKEN.fullmatch(line):
            tokens[match[1]] = (match[2], match[3])
        elif match := re.fullmatch(r"skip\s+/(.*)/", line):
            skip = match[1]
        elif match := re.fullmatch(r"([a-z]+)\s*=\s*(.+?)(?:\s*->\s*([A-Za-z]+))?", line):
            rules[match[1]] = _production(match[1], match[2].split(), match[3] or "")
        else:
            raise GrammarError(f"cannot read {line!r}")
    grammar = Grammar(version, tokens, skip, rules)
    check_grammar(grammar)
    return grammar


def _production(name: str, words: list[str], node: str) -> Production:
    if words[0] in ("infix", "prefix"):
        texts = tuple(word.strip('"') for word in words[2:])
        return Production(name, words[0], (Item("", words[1], ""),), texts, node)
    if not node:
        return Production(name, "choice", tuple(Item("", w, "") for w in words if w != "|"), (), "")
    items = []
    for word in words:
        match = _ITEM.fullmatch(word)
        if match is None:
            raise GrammarError(f"{name}: cannot read {word!r}")
        items.append(Item(match[1] or "", match[2], match[3] or ""))
    return Production(name, "items", tuple(items), (), node)


def check_grammar(grammar: Grammar) -> None:
    """Raise GrammarError for unknown names and for choices that the next token does not decide."""
    for rule in grammar.rules.values():
        for item in rule.items:
            known = item.name in grammar.rules or item.name in grammar.tokens or item.name == "END"
            if not known and not item.name.startswith('"'):
                raise GrammarError(f"{rule.name}: there is no {item.name}")
        if rule.kind == "choice":
            seen: set[str] = set()
            for item in rule.items:
                if clash := seen & set(first(grammar, item.name)):
                    raise GrammarError(f"{rule.name}: two choices begin with {min(clash)}")
                seen.update(first(grammar, item.name))


def first(grammar: Grammar, name: str) -> list[str]:
    """The token kinds that `name` can begin with, in the order of the grammar."""
    if name not in grammar.rules:
        return [name.strip('"')]
    rule = grammar.rules[name]
    found = list(rule.texts) if rule.kind == "prefix" else []
    for item in rule.items:
        found += [kind for kind in first(grammar, item.name) if kind not in found]
        if rule.kind != "choice" and not item.may_be_absent:
            break
    return found


def literals(grammar: Grammar) -> list[str]:
    """All quoted texts, in the order of the grammar."""
    found: list[str] = []
    for rule in grammar.rules.values():
        texts = [i.name.strip('"') for i in rule.items if i.name.startswith('"')]
        lists = [","] if any("{,}" in i.count for i in rule.items) else []
        found += [t for t in (*texts, *rule.texts, *lists) if t not in found]
    return found


# -- src/frond/_parser.py ---------------------------------------------------


def render_module(grammar: Grammar, edition: str) -> str:
    texts = literals(grammar)
    words = sorted(t for t in texts if t.isalpha())
    signs = sorted((t for t in texts if not t.isalpha()), key=lambda t: (-len(t), t))
    lines = [
        f"# {NOTICE}{edition}",
        '"""Parser of the language."""',
        "",
        "from frond import nodes",
        "from frond.engine import Engine",
        "",
        f"VERSION = {grammar.version}",
        f'EDITION = "{edition}"',
        "",
        "",
        "class Parser(Engine):",
        f"    KEYWORDS = frozenset({words!r})",
        f"    SIGNS = {tuple(signs)!r}",
        "    TOKENS = {",
        *(f"        {kind!r}: {entry!r}," for kind, entry in grammar.tokens.items()),
        "    }",
        f"    SKIP = {grammar.skip!r}",
    ]
    for rule in grammar.rules.values():
        lines += ["", f"    def {rule.name}(self) -> nodes.{rule.node or 'Node'}:"]
        lines += [f"        {line}" for line in BODIES[rule.kind](grammar, rule)]
    return "\n".join([*lines, ""])


def _sees(grammar: Grammar, name: str) -> str:
    return f"self.sees({', '.join(map(repr, first(grammar, name)))})"


def _get(grammar: Grammar, item: Item) -> str:
    if item.name in grammar.rules:
        return f"self.{item.name}()"
    taken = f"self.take({item.name.strip(chr(34))!r})"
    return f"{taken}.text" if item.label else taken


def items_body(grammar: Grammar, rule: Production) -> list[str]:
    lines = ["place = self.place"]
    values = ["place"]
    for item in rule.items:
        if not item.label:
            lines.append(_get(grammar, item))
            continue
        value = item.label
        if item.count == "":
            lines.append(f"{item.label} = {_get(grammar, item)}")
        elif item.count == "?":
            there = _sees(grammar, item.name)
            lines.append(f"{item.label} = {_get(grammar, item)} if {there} else None")
        else:
            lines += many_lines(grammar, item)
            value = f"tuple({item.label})"
        values.append(value)
    return [*lines, f"return nodes.{rule.node}({', '.join(values)})"]


def many_lines(grammar: Grammar, item: Item) -> list[str]:
    """The lines that fill a list: any number, or a list with commas."""
    add = f"{item.label}.append({_get(grammar, item)})"
    if item.count == "*":
        return [f"{item.label} = []", f"while {_sees(grammar, item.name)}:", f"    {add}"]
    more = _sees(grammar, item.name)
    lines = [add, "while self.sees(','):", "    self.take(',')"]
    lines += [f"    if not {more}:", "        break", f"    {add}"]
    if item.may_be_absent:
        lines = [f"if {_sees(grammar, item.name)}:", *(f"    {line}" for line in lines)]
    return [f"{item.label} = []", *lines]


def choice_body(grammar: Grammar, rule: Production) -> list[str]:
    if len(rule.items) == 1:
        return [f"return {_get(grammar, rule.items[0])}"]
    lines = []
    for item in rule.items:
        lines += [f"if {_sees(grammar, item.name)}:", f"    return {_get(grammar, item)}"]
    return [*lines, f"raise self.unexpected({', '.join(map(repr, first(grammar, rule.name)))})"]


def infix_body(grammar: Grammar, rule: Production) -> list[str]:
    operand = _get(grammar, rule.items[0])
    return [
        f"left = {operand}",
        f"while self.sees({', '.join(map(repr, rule.texts))}):",
        "    token = self.advance()",
        f"    left = nodes.{rule.node}(token.place, token.text, left, {operand})",
        "return left",
    ]


def prefix_body(grammar: Grammar, rule: Production) -> list[str]:
    return [
        f"if self.sees({', '.join(map(repr, rule.texts))}):",
        "    token = self.advance()",
        f"    return nodes.{rule.node}(token.place, token.text, self.{rule.name}())",
        f"return {_get(grammar, rule.items[0])}",
    ]


BODIES = {"items": items_body, "choice": choice_body, "infix": infix_body, "prefix": prefix_body}


# -- docs/grammar.md --------------------------------------------------------


def render_docs(grammar: Grammar, edition: str) -> str:
    lines = [f"<!-- {NOTICE}{edition} -->", f"# Grammar of frond {grammar.version}", "", "```ebnf"]
    lines += [f"{rule.name} = {formula(rule)} ;" for rule in grammar.rules.values()]
    lines += ["```", "", "| token | is | pattern |", "|---|---|---|"]
    for kind, (pattern, title) in grammar.tokens.items():
        lines.append(f"| {kind} | {title} | `{pattern}` |")
    words = " ".join(sorted(t for t in literals(grammar) if t.isalpha()))
    return "\n".join([*lines, "", f"Words that cannot be names: {words}.", ""])


def formula(rule: Production) -> str:
    texts = " | ".join(f'"{text}"' for text in rule.texts)
    names = [item.name for item in rule.items]
    if rule.kind == "choice":
        return " | ".join(names)
    if rule.kind == "infix":
        return f"{names[0]} {{ ( {texts} ) {names[0]} }}"
    if rule.kind == "prefix":
        return f"( {texts} ) {rule.name} | {names[0]}"
    return " ".join(_part(item) for item in rule.items)


def _part(item: Item) -> str:
    if item.count == "*":
        return f"{{ {item.name} }}"
    if item.count == "?":
        return f"[ {item.name} ]"
    several = f'{item.name} {{ "," {item.name} }} [ "," ]' if item.count else item.name
    return f"[ {several} ]" if item.may_be_absent else several


# -- command line -----------------------------------------------------------


def outputs(grammar: Grammar, edition: str) -> dict[Path, str]:
    """The text of every file that is made."""
    return {MODULE: render_module(grammar, edition), DOCS: render_docs(grammar, edition)}


def out_of_date(grammar: Grammar) -> list[Path]:
    """Made files that differ from what the grammar says now."""
    found = re.search(re.escape(NOTICE) + r"(\S+)", MODULE.read_text(encoding="utf-8"))
    expected = outputs(grammar, found[1] if found else "local")
    return [path for path, text in expected.items() if path.read_text(encoding="utf-8") != text]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make the parser and its reference from the grammar.")
    parser.add_argument("--edition", default="local", help="name of this making")
    parser.add_argument("--check", action="store_true", help="only say what is out of date")
    options = parser.parse_args(argv)
    if not EDITION.fullmatch(options.edition):
        parser.error(f"not an edition: {options.edition!r}")
    try:
        grammar = read_grammar(GRAMMAR.read_text(encoding="utf-8"))
    except GrammarError as error:
        print(f"grammar: {error}", file=sys.stderr)
        return 1
    if options.check:
        stale = out_of_date(grammar)
        for path in stale:
            print(f"out of date: {path.relative_to(ROOT)}", file=sys.stderr)
        return 1 if stale else 0
    for path, text in outputs(grammar, options.edition).items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
