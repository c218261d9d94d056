"""Foreign columns, small words in titles, names of files."""

INIT = "inflection/__init__.py"
FILES = "inflection/filenames.py"

MODULE = '''"""Names of files for exported texts, alike for all exporters."""
from typing import Dict, Iterable

from inflection import parameterize

#: Names of devices, which no file may have, whatever its extension.
RESERVED = frozenset(
    ['con', 'prn', 'aux', 'nul']
    + [device + str(number) for device in ('com', 'lpt') for number in range(1, 10)]
)
@TAIL@

class ReservedName(ValueError):
    """A title whose file would have the name of a device."""


def file_name(title: str, extension: str) -> str:
    """
    Return the name of the file for a title.

    Example::

        >>> file_name("Opening hours", ".CSV")
        'opening-hours.csv'

    """
    stem = parameterize(title)
    if not stem:
        raise ValueError('no file name for {!r}'.format(title))
    if stem in RESERVED:
        @RESERVED@
    return '{}.{}'.format(stem, extension.lower().lstrip('.'))


def file_names(titles: Iterable[str], extension: str) -> Dict[str, str]:
    """Return the file name for each title; two titles never share a file."""
    names: Dict[str, str] = {}
    owners: Dict[str, str] = {}
    for title in titles:
        name = file_name(title, extension)
        if owners.setdefault(name, title) != title:
            raise ValueError('{!r} and {!r} would share {}'.format(owners[name], title, name))
        names[title] = name
    return names
'''


def s1(work, notes):
    work.replace(
        INIT,
        "def humanize(word: str) -> str:\n",
        '''def demodulize(path: str) -> str:
    """
    Return what stands behind the last dot or double colon.

    Examples::

        >>> demodulize("shop.orders.LineItem")
        'LineItem'
        >>> demodulize("LineItem")
        'LineItem'

    """
    return re.split(r"\\.|::", path)[-1]


def foreign_key(class_name: str, separate: bool = True) -> str:
    """
    Create the name of a column that refers to a class.

    Examples::

        >>> foreign_key("shop.orders.LineItem")
        'line_item_id'
        >>> foreign_key("LineItem", separate=False)
        'line_itemid'

    """
    return underscore(demodulize(class_name)) + ('_id' if separate else 'id')


def humanize(word: str) -> str:
''',
    )


def s2(work, notes):
    work.replace(INIT, "import re\nimport unicodedata\n", "import re\nimport unicodedata\nfrom typing import Iterable\n")
    work.replace(
        INIT,
        "def titleize(word: str) -> str:\n",
        "def titleize(word: str, small: Iterable[str] = ()) -> str:\n",
    )
    work.replace(
        INIT,
        """      'Raiders Of The Lost Ark'

    \"\"\"
    return re.sub(
        r"\\b('?\\w)",
        lambda match: match.group(1).capitalize(),
        humanize(underscore(word)).title()
    )
""",
        """      'Raiders Of The Lost Ark'

    :param small: words that stay in small letters, other than at the start,
        at the end and after a colon.
    \"\"\"
    title = re.sub(
        r"\\b('?\\w)",
        lambda match: match.group(1).capitalize(),
        humanize(underscore(word)).title()
    )
    lower = {w.lower() for w in small}
    words = title.split(' ')
    for n in range(1, len(words) - 1):
        if words[n].lower() in lower and not words[n - 1].endswith(':'):
            words[n] = words[n].lower()
    return ' '.join(words)
""",
    )


def s3(work, notes):
    tail = notes.recall("tag", about="tail reserved file names", path=FILES)
    if tail:
        constant = f"#: What the drive's nightly job knows such files by.\nRESERVED_TAIL = '{tail}'\n"
        inside = "stem += '-' + RESERVED_TAIL"
    else:
        constant, inside = "", "raise ReservedName('{!r} is reserved'.format(title))"
    work.write(FILES, MODULE.replace("@TAIL@\n", constant + "\n").replace("@RESERVED@", inside))
