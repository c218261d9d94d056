"""Names of at most 12 characters with a check letter, as the stock system takes them."""
import re
from typing import Dict, Iterable

from inflection import underscore

#: The card beside the terminal, in groups of four.
CHECK_ROW = 'tkqv-mbzd-whcx-rfjn'

LENGTH = 12
_VALUES = 'abcdefghijklmnopqrstuvwxyz0123456789_'


def short_name(name: str) -> str:
    """
    Return the short name of a name, check letter included.

    Raises ValueError for a name with other characters than letters, digits and
    underscores.
    """
    body = underscore(name)
    if not re.fullmatch(r'[a-z0-9_]+', body):
        raise ValueError('no short name for {!r}'.format(name))
    body = _fitted(body)
    return body + _check_letter(body)


def is_short_name(text: str) -> bool:
    """Tell whether a text is a body with its check letter."""
    body = text[:-1]
    if len(text) > LENGTH or not re.fullmatch(r'[a-z0-9_]+', body):
        return False
    return text[-1] == _check_letter(body)


def short_names(names: Iterable[str]) -> Dict[str, str]:
    """Return a short name for each name. Raises ValueError when two share one."""
    found: Dict[str, str] = {}
    owners: Dict[str, str] = {}
    for name in names:
        short = short_name(name)
        owner = owners.setdefault(short, name)
        if owner != name:
            raise ValueError('{!r} and {!r} are both {}'.format(owner, name, short))
        found[name] = short
    return found


def _fitted(body: str) -> str:
    place = len(body) - 1
    while len(body) >= LENGTH and place > 0:
        if body[place] in 'aeiou' and body[place - 1] != '_':
            body = body[:place] + body[place + 1:]
        place -= 1
    return body[:LENGTH - 1]


def _check_letter(body: str) -> str:
    row = CHECK_ROW.replace('-', '')
    total = sum(n * _VALUES.index(c) for n, c in enumerate(body, 1))
    return row[total % len(row)]
