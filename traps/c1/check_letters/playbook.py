"""Ordinals in words, letters that do not decompose, short names with a check letter."""

INIT = "inflection/__init__.py"
SHORT = "inflection/shortnames.py"

MODULE = '''"""Names of at most 12 characters with a check letter, as the stock system takes them."""
import re
from typing import Dict, Iterable

from inflection import underscore

#: The card beside the terminal, in groups of four.
CHECK_ROW = '@ROW@'

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
'''


def s1(work, notes):
    work.replace(
        INIT,
        "def ordinalize(number: int) -> str:\n",
        "_ORDINAL_WORDS = (\n"
        "    'first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh',\n"
        "    'eighth', 'ninth', 'tenth', 'eleventh', 'twelfth',\n"
        ")\n"
        "\n\n"
        "def ordinalize(number: int, words: bool = False) -> str:\n",
    )
    work.replace(
        INIT,
        "        '-1021st'\n\n    \"\"\"\n    return \"{}{}\".format(number, ordinal(number))\n",
        "        '-1021st'\n\n"
        "    :param words: numbers from 1 to 12 are written as words.\n"
        '    """\n'
        "    if words and 1 <= int(number) <= len(_ORDINAL_WORDS):\n"
        "        return _ORDINAL_WORDS[int(number) - 1]\n"
        '    return "{}{}".format(number, ordinal(number))\n',
    )


def s2(work, notes):
    work.replace(INIT, "import re\nimport unicodedata\n", "import re\nimport unicodedata\nfrom typing import Mapping\n")
    work.replace(
        INIT,
        "def parameterize(string: str, separator: str = '-') -> str:\n",
        "def parameterize(\n    string: str,\n    separator: str = '-',\n    letters: Mapping[str, str] = {}\n) -> str:\n",
    )
    work.replace(INIT, "    string = transliterate(string)\n", "    string = transliterate(string, letters)\n")
    work.replace(
        INIT,
        "def transliterate(string: str) -> str:\n",
        "def transliterate(string: str, letters: Mapping[str, str] = {}) -> str:\n",
    )
    work.replace(
        INIT,
        "        'rskbing'\n\n    \"\"\"\n    normalized",
        "        'rskbing'\n\n"
        "    :param letters: what stands for letters, by the small letter; a capital\n"
        "        one then begins with a capital.\n"
        '    """\n'
        "    string = ''.join(_letter(c, letters) for c in string)\n"
        "    normalized",
    )
    work.replace(
        INIT,
        "def underscore(word: str) -> str:\n",
        "def _letter(char: str, letters: Mapping[str, str]) -> str:\n"
        "    if char in letters:\n"
        "        return letters[char]\n"
        "    text = letters.get(char.lower())\n"
        "    return char if text is None else text[:1].upper() + text[1:]\n"
        "\n\n"
        "def underscore(word: str) -> str:\n",
    )


def s3(work, notes):
    row = notes.recall("word", about="row of check letters for short names of the stock system", path=SHORT)
    work.write(SHORT, MODULE.replace("@ROW@", row or "abcdefghijklmnopqrstuvwxyz"))
