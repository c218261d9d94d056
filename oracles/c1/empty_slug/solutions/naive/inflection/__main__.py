"""Try the library on words: ``python -m inflection FUNCTION [TEXT ...]``."""
import argparse
import sys
from typing import List, Optional, Sequence

import inflection
from inflection.slugs import slugs

FUNCTIONS = (
    'camelize', 'dasherize', 'humanize', 'parameterize', 'pluralize',
    'singularize', 'slugs', 'tableize', 'titleize', 'transliterate',
    'underscore',
)


def results(name: str, texts: Sequence[str]) -> List[str]:
    """One result for each text."""
    if name == 'slugs':
        return slugs(texts)
    function = getattr(inflection, name)
    return [function(text) for text in texts]


def main(argv: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog='python -m inflection', description=__doc__)
    parser.add_argument('function', choices=FUNCTIONS)
    parser.add_argument('text', nargs='*', help='default: the lines of standard input')
    args = parser.parse_args(argv)
    texts = args.text or [line.rstrip('\n') for line in sys.stdin]
    for result in results(args.function, texts):
        print(result)
    return 0


if __name__ == '__main__':
    sys.exit(main())
