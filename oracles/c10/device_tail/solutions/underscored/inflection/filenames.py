"""Names of files for exported texts, alike for all exporters."""
from typing import Dict, Iterable

from inflection import parameterize

#: Names of devices, which no file may have, whatever its extension.
RESERVED = frozenset(
    ['con', 'prn', 'aux', 'nul']
    + [device + str(number) for device in ('com', 'lpt') for number in range(1, 10)]
)


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
        stem += '_'
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
