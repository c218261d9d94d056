"""Slots filled without a template engine: for the texts of traps and oracles that came from somebody else.

A slot may hold a name, a slice or piece of one, a few conversions of text, a choice from a table: what the solutions of
our own oracles use, one by one. Invariant: what is given back is what `traps.facts.fill` makes of the same template, or
the template is refused; nothing in a template can loop, call, or grow beyond the caps below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from jinja2 import TemplateError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from traps.facts import environment
from traps.schema import TrapError

MAX_TEMPLATE = 1 << 20  # characters of one template
MAX_SLOT = 2000  # characters of one slot
MAX_SLOTS = 1000  # slots of one template
MAX_VALUE = 1 << 16  # characters of any value on the way
MAX_FILLED = 4 << 20  # characters of what is given back

_FORMAT = re.compile(r"%(?:0?\d{1,2})?[dxX]")
_BROKEN = (TemplateError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


class _Refused(Exception):
    """What a slot asks for is not known here."""


def fill_strictly(template: str, values: Mapping[str, object], where: str) -> str:
    """As `traps.facts.fill`. Raises TrapError naming `where`, the line, and what was refused."""
    if len(template) > MAX_TEMPLATE:
        raise TrapError(f"{where}: a template of {len(template)} characters (at most {MAX_TEMPLATE})")
    engine, known = environment(), dict[str, str]()
    pieces: list[str] = []
    begin = at = size = 0
    try:
        while (begin := template.find("<<", at)) >= 0:
            end = _end(template, begin, len(pieces) // 2)
            slot = template[begin + 2 : end]
            if slot not in known:
                known[slot] = _text(_value(_parsed(engine, slot), values))
            pieces += [template[at:begin], known[slot]]
            size += begin - at + len(known[slot])
            if size > MAX_FILLED:
                raise _Refused(f"the filled text has more than {MAX_FILLED} characters")
            at = end + 2
    except (_Refused, *_BROKEN) as error:
        kind = "" if isinstance(error, _Refused) else f"{type(error).__name__}: "
        line = template.count("\n", 0, begin) + 1
        raise TrapError(f"{where}:{line}: {kind}{str(error)[:200]}") from None
    return "".join([*pieces, template[at:]])


def _end(template: str, begin: int, slots: int) -> int:
    if slots >= MAX_SLOTS:
        raise _Refused(f"more than {MAX_SLOTS} slots")
    end = template.find(">>", begin + 2, begin + MAX_SLOT)
    if end < 0:
        raise _Refused(f"a slot that does not end within {MAX_SLOT} characters")
    return end


def _parsed(engine: ImmutableSandboxedEnvironment, slot: str) -> nodes.Node:
    """The one expression of a slot: parsed, neither compiled nor run."""
    if slot[:1] in ("%", "#", "-", "+") or slot[-1:] in ("-", "+"):
        raise _Refused(f"{slot[:40]!r}: only slots are filled here, no statements, comments or blank control")
    found = engine.parse(f"<<{slot}>>").body
    if len(found) == 1 and isinstance(found[0], nodes.Output) and len(found[0].nodes) == 1:
        return found[0].nodes[0]
    raise _Refused(f"{slot[:40]!r}: not one expression")


def _value(node: nodes.Node, values: Mapping[str, object]) -> object:
    """The value of an expression, by the kinds of nodes that are known here and no others."""

    def of(inner: nodes.Node) -> object:
        return _value(inner, values)

    match node:
        case nodes.Name(name=str(name)):
            if name not in values:
                raise _Refused(f"the slot {name!r} has no value")
            return values[name]
        case nodes.Const(value=str() | int() as value):
            return _small(value)
        case nodes.Getattr(node=nodes.Name(name="refs"), attr=str(attr)):
            return _chosen(values.get("refs"), attr)
        case nodes.Getitem(node=table, arg=nodes.Slice(start=start, stop=stop, step=None)):
            return _cut(of(table), start and of(start), stop and of(stop))
        case nodes.Getitem(node=table, arg=nodes.Expr() as key):
            return _chosen(of(table), of(key))
        case nodes.Dict(items=items):
            return {_word(of(pair.key)): of(pair.value) for pair in items}
        case nodes.CondExpr(test=test, expr1=yes, expr2=nodes.Expr() as no):
            return of(yes) if _truth(of(test)) else of(no)
        case nodes.Compare(expr=left, ops=[nodes.Operand(op="eq", expr=right)]):
            return _word(of(left)) == _word(of(right))
        case nodes.Mod(left=left, right=right):
            return _number(of(left)) % _number(of(right))
        case nodes.Filter(node=nodes.Expr() as left, name=str(name)) if name in _FILTERS:
            return _small(_FILTERS[name](of(left), *_arguments(node, of)))
        case nodes.Call(node=nodes.Getattr(node=left, attr=("split" | "startswith") as name)):
            (word,) = _arguments(node, of)
            text, other = _word(of(left)), _word(word)
            return text.split(other) if name == "split" else text.startswith(other)
    return _unknown(node)


def _unknown(node: nodes.Node) -> NoReturn:
    name = getattr(node, "name", None) or getattr(node, "attr", None)
    raise _Refused(f"{type(node).__name__.lower()}{f' {name!r}' if isinstance(name, str) else ''} is not filled here")


def _arguments(node: nodes.Filter | nodes.Call, of: Callable[[nodes.Node], object]) -> list[object]:
    """Plain arguments; `base` is the one keyword that is known."""
    if node.dyn_args is not None or node.dyn_kwargs is not None or any(k.key != "base" for k in node.kwargs):
        _unknown(node)
    return [*(of(a) for a in node.args), *(of(k.value) for k in node.kwargs)]


def _word(value: object) -> str:
    if type(value) is not str:
        raise _Refused(f"text is needed where there is a {type(value).__name__}")
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise _Refused(f"a number is needed where there is a {type(value).__name__}")
    return value


def _truth(value: object) -> bool:
    if type(value) is not bool:
        raise _Refused(f"a condition is needed where there is a {type(value).__name__}")
    return value


def _small(value: str | int) -> str | int:
    """Numbers of few digits: turning a long one into text takes quadratic time."""
    if len(value) > MAX_VALUE if isinstance(value, str) else value.bit_length() > 256:
        raise _Refused("a value is too large")
    return value


def _text(value: object) -> str:
    if not isinstance(value, (str, int)):
        raise _Refused(f"a slot gives a {type(value).__name__}, neither text nor a number")
    return str(_small(value))


def _chosen(table: object, key: object) -> object:
    if isinstance(table, Mapping):
        if key not in table:
            raise _Refused(f"no entry {str(key)[:40]!r} in the table of a slot")
        return table[key]
    if isinstance(table, (str, list, tuple)):
        return table[_number(key)]
    raise _Refused(f"a {type(table).__name__} has no parts")


def _cut(text: object, start: object, stop: object) -> str:
    low, high = (None if edge is None else _number(edge) for edge in (start, stop))
    return _word(text)[low:high]


def _replaced(text: object, old: object, new: object) -> str:
    word, out, into = _word(text), _word(old), _word(new)
    if not out or len(word) + word.count(out) * len(into) > MAX_VALUE:
        raise _Refused("a replacement that is empty or makes a text too large")
    return word.replace(out, into)


def _formatted(form: object, number: object) -> str:
    if not _FORMAT.fullmatch(_word(form)):
        raise _Refused(f"the format {str(form)[:20]!r}")
    return _word(form) % _number(number)


#: The conversions that are known, as the engine's filters of the same names do them.
_FILTERS: Mapping[str, Callable[..., str | int]] = {
    "upper": lambda text: _word(text).upper(),
    "lower": lambda text: _word(text).lower(),
    "reverse": lambda text: _word(text)[::-1],
    "replace": _replaced,
    "int": lambda text, base=10: int(_word(text)[:64], _number(base)),
    "format": _formatted,
}
