"""Names and labels: ends of names, acronyms in labels, names that do not come back."""

INIT = "inflection/__init__.py"


def s1(work, notes):
    work.replace(
        INIT,
        """    if uppercase_first_letter:
        return re.sub(r"(?:^|_)(.)", lambda m: m.group(1).upper(), string)
    else:
        return string[0].lower() + camelize(string)[1:]
""",
        """    body = string.strip('_')
    if not body:
        return string
    camel = re.sub(r"(?:^|_+)(.)", lambda m: m.group(1).upper(), body)
    if not uppercase_first_letter:
        camel = camel[0].lower() + camel[1:]
    start = string.index(body)
    return string[:start] + camel + string[start + len(body):]
""",
    )
    work.replace(
        INIT,
        """        lowerCamelCase. Defaults to `True`.
""",
        """        lowerCamelCase. Defaults to `True`.

    Underscores at either end of the string are kept.
""",
    )


def s2(work, notes):
    work.replace(INIT, "import re\nimport unicodedata\n", "import re\nimport unicodedata\nfrom typing import Iterable\n")
    work.replace(
        INIT,
        "def humanize(word: str) -> str:\n",
        "def humanize(word: str, acronyms: Iterable[str] = ()) -> str:\n",
    )
    work.replace(
        INIT,
        """        >>> humanize("author_id")
        'Author'

    \"\"\"
""",
        """        >>> humanize("author_id")
        'Author'

    :param acronyms: words that are written the way they are given here.
    \"\"\"
""",
    )
    work.replace(
        INIT,
        """    word = re.sub(r"^\\w", lambda m: m.group(0).upper(), word)
    return word
""",
        """    word = re.sub(r"^\\w", lambda m: m.group(0).upper(), word)
    spelling = {acronym.lower(): acronym for acronym in acronyms}
    return re.sub(r"\\w+", lambda m: spelling.get(m.group(0).lower(), m.group(0)), word)
""",
    )


def s3(work, notes):
    code = notes.recall("upper", about="code lossy names", path=INIT) or "LOSSY_NAME"
    _error(work, code)
    _camelize(work)
    _underscore(work)


def _error(work, code):
    work.replace(INIT, "from typing import Iterable\n", "from typing import Iterable, List, Tuple\n")
    work.replace(
        INIT,
        "__version__ = '0.5.1'\n",
        f"""__version__ = '0.5.1'

#: By this the logs know names that do not come back.
LOSSY_CODE = '{code}'


class LossyName(ValueError):
    \"\"\"A name that :func:`camelize` and :func:`underscore` do not bring back.\"\"\"

    def __init__(self, name: str, back: str) -> None:
        self.name = name
        self.back = back
        self.code = LOSSY_CODE
        super().__init__("{{}}: {{!r}} comes back as {{!r}}".format(self.code, name, back))

""",
    )


def _camelize(work):
    work.replace(
        INIT,
        "def camelize(string: str, uppercase_first_letter: bool = True) -> str:\n",
        """def camelize(
    string: str,
    uppercase_first_letter: bool = True,
    strict: bool = False
) -> str:
""",
    )
    work.replace(
        INIT,
        """    Underscores at either end of the string are kept.
    \"\"\"
    body""",
        """    Underscores at either end of the string are kept.

    :param strict: raise :exc:`LossyName` where :func:`underscore` does not
        bring the string back.
    \"\"\"
    camel = _camel(string, uppercase_first_letter)
    if strict and underscore(camel) != string:
        raise LossyName(string, underscore(camel))
    return camel


def _camel(string: str, uppercase_first_letter: bool) -> str:
    body""",
    )


def _underscore(work):
    work.replace(INIT, "def tableize(word: str) -> str:\n", "def tableize(word: str, strict: bool = False) -> str:\n")
    work.replace(INIT, "    return pluralize(underscore(word))\n", "    return pluralize(underscore(word, strict))\n")
    work.replace(INIT, "def underscore(word: str) -> str:\n", "def underscore(word: str, strict: bool = False) -> str:\n")
    work.replace(
        INIT,
        """        'IoError'

    \"\"\"
    word = re.sub(r"([A-Z]+)([A-Z][a-z])", r'\\1_\\2', word)
""",
        """        'IoError'

    :param strict: raise :exc:`LossyName` where :func:`camelize` does not bring
        the word back.
    \"\"\"
    if strict and _back(word) != word:
        raise LossyName(word, _back(word))
    word = re.sub(r"([A-Z]+)([A-Z][a-z])", r'\\1_\\2', word)
""",
    )
    work.replace(
        INIT,
        "_irregular('person', 'people')\n",
        """def lossy(names: Iterable[str]) -> List[Tuple[str, str]]:
    \"\"\"
    Return the names that a strict :func:`underscore` refuses, each with what
    comes back.

    Example::

        >>> lossy(["DeviceType", "IOError"])
        [('IOError', 'IoError')]

    \"\"\"
    return [(name, _back(name)) for name in names if _back(name) != name]


def _back(word: str) -> str:
    \"\"\"What comes back of a word, with its own case of the first letter.\"\"\"
    return camelize(underscore(word), word.lstrip('_')[:1].isupper())


_irregular('person', 'people')
""",
    )
