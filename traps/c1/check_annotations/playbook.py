"""Messages of the check: suggestions, Fahrenheit, annotations for the build service."""

RESOLVE = "src/crumb/resolve.py"
UNITS = "src/crumb/units.py"
CHECK = "src/crumb/check.py"
ANNOTATE = "src/crumb/views/annotate.py"
CLI = "src/crumb/cli.py"


def s1(work, notes):
    work.replace(
        RESOLVE,
        "from collections.abc import Iterable\nfrom dataclasses import dataclass\n",
        "from collections.abc import Iterable\nfrom dataclasses import dataclass\nfrom difflib import get_close_matches\n",
    )
    work.replace(
        RESOLVE,
        """        raise LayerError(layer.source, line, f"unknown setting {name!r}")\n""",
        """        close = get_close_matches(name, schema.names(), n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise LayerError(layer.source, line, f"unknown setting {name!r}{hint}")
""",
    )


def s2(work, notes):
    work.replace(
        UNITS,
        '''_TEMPERATURE = re.compile(r"(-?\\d+)\\s*(?:°\\s*)?C")''',
        '''_TEMPERATURE = re.compile(r"(-?\\d+)\\s*(?:°\\s*)?([CF])")''',
    )
    work.replace(
        UNITS,
        '''    """Degrees in ``"230 C"``, ``"230C"`` or ``"230 °C"``."""\n''',
        '''    """Degrees Celsius in ``"230 C"``, ``"230C"``, ``"230 °C"``; ``"446 F"`` is converted and rounded."""\n''',
    )
    work.replace(
        UNITS,
        "    return int(match[1])\n",
        "    degrees = int(match[1])\n    return round((degrees - 32) * 5 / 9) if match[2] == \"F\" else degrees\n",
    )


def s3(work, notes):
    matcher = notes.recall("colon", about="matcher of annotations for the build service", path=CHECK) or "crumb"
    work.write(
        ANNOTATE,
        f'''"""Problems as annotations: lines that the build service picks up from a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from crumb.check import Problem

MATCHER = "{matcher}"  # as registered at the build service
PER_FILE = 10


def annotate(problems: Sequence[Problem]) -> list[str]:
    """One line a problem, but no more than the service shows of one file; then how many are left."""
    lines: list[str] = []
    total = Counter(problem.source for problem in problems)
    seen: Counter[str] = Counter()
    for problem in problems:
        source = problem.source
        seen[source] += 1
        if seen[source] <= PER_FILE:
            place = f"{{source}}:{{problem.line}}" if problem.line else source
            lines.append(_line(problem.severity, place, problem.message))
        elif seen[source] == PER_FILE + 1:
            lines.append(_line("notice", source, f"{{total[source] - PER_FILE}} more"))
    return lines


def _line(severity: str, place: str, message: str) -> str:
    return f"{{MATCHER}} {{severity}} {{place}} {{message.replace('%', '%25')}}"
''',
    )
    work.insert_after(
        CHECK,
        "    return sorted(found)\n",
        '''

def chosen(problems: Iterable[Problem], errors_only: bool) -> list[Problem]:
    """All problems, or the errors among them."""
    return [problem for problem in problems if problem.severity == ERROR or not errors_only]
''',
    )
    work.replace(CHECK, "import Callable, Iterator\n", "import Callable, Iterable, Iterator\n")
    work.replace(
        CLI,
        """    problems = check(book)
    _print([str(problem) for problem in problems])
""",
        """    problems = chosen(check(book), args.errors_only)
    _print(annotate(problems) if args.annotate else [str(problem) for problem in problems])
""",
    )
    work.replace(CLI, "from crumb.check import check\n", "from crumb.check import check, chosen\n")
    work.replace(
        CLI,
        "from crumb.views.diff import diff\n",
        "from crumb.views.annotate import annotate\nfrom crumb.views.diff import diff\n",
    )
    work.insert_after(
        CLI,
        '    checking = commands.add_parser("check", help="what is wrong with the book")\n',
        """    checking.add_argument("--annotate", action="store_true", help="lines for the build service")
    checking.add_argument("--errors-only", action="store_true", help="leave warnings out")
""",
    )
