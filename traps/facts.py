"""Facts: drawing them, committing to them, and putting them into templates.

Values come from the operating system's CSPRNG only. Invariant: a template is changed nowhere but in its slots, and
a slot without a value is an error, never an empty string.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import traceback
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jinja2 import StrictUndefined, TemplateError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from traps.schema import Fact, TrapError

MIN_BITS = 48
_CR = "\uf8ff"  # stands for a carriage return inside the template engine
_SLOT = re.compile(r"\{(hex|HEX|digit|letter):(\d+)\}")
_ALPHABET = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": "0123456789",
    "letter": "abcdefghijklmnopqrstuvwxyz",
}
_CLASS = {"hex": "[0-9a-f]", "HEX": "[0-9A-F]", "digit": "[0-9]", "letter": "[a-z]"}
#: What a template can raise: the engine's own errors, and those of an expression in a slot.
_BROKEN = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError)


@dataclass(frozen=True)
class Commitment:
    """sha256 over (salt, name, value), published before the first session; the salt (32 bytes, hex) is not."""

    name: str
    salt: str
    digest: str


def bits(template: str) -> float:
    """Entropy of a token format, in bits."""
    return sum(int(n) * math.log2(len(_ALPHABET[kind])) for kind, n in _SLOT.findall(template))


def draw_token(template: str) -> str:
    """A fresh token of `template`, e.g. `ch-{hex:12}`."""
    return _SLOT.sub(lambda m: "".join(secrets.choice(_ALPHABET[m[1]]) for _ in range(int(m[2]))), template)


def pattern(template: str) -> str:
    """A regular expression for the tokens of a format."""
    parts = re.split(r"(\{(?:hex|HEX|digit|letter):\d+\})", template)
    slots = [_SLOT.fullmatch(part) for part in parts]
    return "".join(f"{_CLASS[m[1]]}{{{m[2]}}}" if m else re.escape(p) for p, m in zip(parts, slots, strict=True))


def fits(fact: Fact, value: str) -> bool:
    """Whether `value` could have been drawn for `fact`."""
    if fact.kind == "token":
        return re.fullmatch(pattern(fact.format), value) is not None
    return fact.kind == "derived" or value in fact.variants


def draw(facts: Mapping[str, Fact]) -> dict[str, str]:
    """Fresh values of the drawn facts (derived ones are the oracle's to compute)."""
    values: dict[str, str] = {}
    for name, fact in facts.items():
        if fact.kind == "token":
            values[name] = draw_token(fact.format)
        elif fact.kind == "choice":
            values[name] = secrets.choice(fact.variants)
    return values


def commit(name: str, value: str) -> Commitment:
    """Commit to a value with a salt of its own."""
    salt = secrets.token_bytes(32)
    return Commitment(name, salt.hex(), digest(name, value, salt.hex()))


def digest(name: str, value: str, salt: str) -> str:
    """The published digest: sha256 of salt, and of name and value each behind its length (8 bytes)."""
    parts = [bytes.fromhex(salt), name.encode(), value.encode()]
    return hashlib.sha256(b"".join(len(p).to_bytes(8, "big") + p for p in parts)).hexdigest()


def merkle_root(leaves: Iterable[str]) -> str:
    """Root over hex digests in sorted order; leaves and inner nodes are hashed under different prefixes."""
    level = [hashlib.sha256(b"\x00" + bytes.fromhex(leaf)).digest() for leaf in sorted(leaves)]
    if not level:
        return hashlib.sha256(b"").hexdigest()
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\x01" + p[0] + p[1]).digest() if len(p) == 2 else p[0] for p in pairs]
    return level[0].hex()


def environment() -> ImmutableSandboxedEnvironment:
    """The one template environment: `<< name >>`, strict, sandboxed, bytes outside the slots unchanged."""
    return ImmutableSandboxedEnvironment(
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<<%",
        block_end_string="%>>",
        comment_start_string="<<#",
        comment_end_string="#>>",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        newline_sequence="\n",
        autoescape=False,
    )


def fill(template: str, values: Mapping[str, object], where: str, first: int = 1) -> str:
    """Fill the slots. Line ends are kept, CRLF too.

    Raises TrapError naming `where` and the line; `first` is the number of the template's first line in its file.
    """
    if "<<" not in template:
        return template
    try:
        # Jinja normalises line ends; a private-use mark carries each CR through unchanged.
        return environment().from_string(template.replace("\r", _CR)).render(values).replace(_CR, "\r")
    except _BROKEN as error:
        raise _broken(error, where, first) from error


def check_slots(template: str, names: Iterable[str], refs: Iterable[str], where: str, first: int = 1) -> None:
    """Every name in the slots is known, in every branch. Raises TrapError naming `where` and the line."""
    if "<<" not in template:
        return
    try:
        tree = environment().parse(template.replace("\r", _CR))
        unknown = meta.find_undeclared_variables(tree) - {*names, "ref", "refs"}
    except _BROKEN as error:
        raise _broken(error, where, first) from error
    used = [(n.lineno, n.name) for n in tree.find_all(nodes.Name) if n.name in unknown]
    used += [(n.lineno, f"refs.{n.attr}") for n in tree.find_all(nodes.Getattr) if _is_refs(n.node, n.attr, refs)]
    if used:
        line, name = min(used)
        raise TrapError(f"{where}:{line + first - 1}: the slot {name!r} has no value")


def _is_refs(node: nodes.Node, attr: str, refs: Iterable[str]) -> bool:
    return isinstance(node, nodes.Name) and node.name == "refs" and attr not in set(refs)


def _broken(error: Exception, where: str, first: int) -> TrapError:
    """An error of the engine knows its line; one of an expression left it in the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    line = getattr(error, "lineno", None) or next((f.lineno for f in reversed(frames) if f.filename == "<template>"), 1)
    return TrapError(f"{where}:{(line or 1) + first - 1}: {getattr(error, 'message', None) or error}")


def fold(text: str) -> str:
    """NFKC, lower case, all kinds of hyphen alike: what two values must still differ in."""
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[\u2010-\u2015\u2212_]", "-", text)
