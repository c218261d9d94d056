"""Slugs for a list of titles, all of them different."""
import re
from itertools import count
from typing import Collection, Iterable, List

from inflection import parameterize

#: What the router holds free for titles of which `parameterize` leaves nothing.
FALLBACK = '<< fallback >>'


def slugs(titles: Iterable[str], taken: Collection[str] = ()) -> List[str]:
    """
    Return one slug for each title; none comes twice or is in `taken`.

    Example::

        >>> slugs(["News", "News!"])
        ['news', 'news-2']

    """
    used = set(taken)
    found = []
    for title in titles:
        slug = _free(parameterize(title) or FALLBACK, used)
        used.add(slug)
        found.append(slug)
    return found


def is_fallback(slug: str) -> bool:
    """Tell whether a slug is the fallback slug, bare or numbered."""
    pattern = r'%s(-([2-9]|[1-9][0-9]+))?' % re.escape(FALLBACK)
    return re.fullmatch(pattern, slug) is not None


def _free(slug: str, used: Collection[str]) -> str:
    if slug not in used:
        return slug
    return next(name for name in (f'{slug}-{n}' for n in count(2)) if name not in used)
