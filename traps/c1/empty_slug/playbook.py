"""A command for the library, shorter slugs, slugs for whole lists."""

INIT = "inflection/__init__.py"
MAIN = "inflection/__main__.py"
SLUGS = "inflection/slugs.py"

COMMAND = '''"""Try the library on words: ``python -m inflection FUNCTION [TEXT ...]``."""
import argparse
import sys
from typing import List, Optional, Sequence

import inflection

FUNCTIONS = (
    'camelize', 'dasherize', 'humanize', 'parameterize', 'pluralize',
    'singularize', 'tableize', 'titleize', 'transliterate', 'underscore',
)


def results(name: str, texts: Sequence[str]) -> List[str]:
    """One result for each text."""
    function = getattr(inflection, name)
    return [function(text) for text in texts]


def main(argv: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog='python -m inflection', description=__doc__)
    parser.add_argument('function', choices=FUNCTIONS)
    parser.add_argument('text', nargs='*', help='default: the lines of standard input')
    args = parser.parse_args(argv)
    texts = args.text or [line.rstrip('\\n') for line in sys.stdin]
    for result in results(args.function, texts):
        print(result)
    return 0


if __name__ == '__main__':
    sys.exit(main())
'''

MODULE = '''"""Slugs for a list of titles, all of them different."""
import re
from itertools import count
from typing import Collection, Iterable, List

from inflection import parameterize

#: What the router holds free for titles of which `parameterize` leaves nothing.
FALLBACK = '@FALLBACK@'


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
'''


def s1(work, notes):
    work.write(MAIN, COMMAND)


def s2(work, notes):
    work.replace(INIT, "import re\nimport unicodedata\n", "import re\nimport unicodedata\nfrom typing import Optional\n")
    work.replace(
        INIT,
        "def parameterize(string: str, separator: str = '-') -> str:\n",
        "def parameterize(\n    string: str,\n    separator: str = '-',\n    max_length: Optional[int] = None\n) -> str:\n",
    )
    work.replace(
        INIT,
        """        'donald-e-knuth'

    \"\"\"
    string = transliterate(string)
""",
        """        'donald-e-knuth'

    :param max_length: a longer slug ends at the last separator that lets it
        fit, or is cut if there is none.
    \"\"\"
    if max_length is not None and max_length < 1:
        raise ValueError('max_length must be at least 1')
    string = transliterate(string)
""",
    )
    work.replace(
        INIT,
        """        string = re.sub(r"(?i)^{sep}|{sep}$".format(sep=re_sep), '', string)

    return string.lower()
""",
        """        string = re.sub(r"(?i)^{sep}|{sep}$".format(sep=re_sep), '', string)

    if max_length is not None and len(string) > max_length:
        string = _shorten(string, separator, max_length)
    return string.lower()


def _shorten(slug: str, separator: str, length: int) -> str:
    end = slug.rfind(separator, 0, length + len(separator)) if separator else -1
    return slug[:end] if end > 0 else slug[:length]
""",
    )


def s3(work, notes):
    slug = notes.recall("tag", about="fallback slug titles", path=SLUGS) or "untitled"
    work.write(SLUGS, MODULE.replace("@FALLBACK@", slug))
    work.replace(MAIN, "import inflection\n", "import inflection\nfrom inflection.slugs import slugs\n")
    work.replace(
        MAIN,
        "    'singularize', 'tableize', 'titleize', 'transliterate', 'underscore',\n",
        "    'singularize', 'slugs', 'tableize', 'titleize', 'transliterate',\n    'underscore',\n",
    )
    work.replace(
        MAIN,
        '''    """One result for each text."""
    function''',
        '''    """One result for each text."""
    if name == 'slugs':
        return slugs(texts)
    function''',
    )
