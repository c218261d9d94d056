"""Sizes, nearest options, notices."""

TEXTS = "boltons/strutils.py"
NUMBERS = "boltons/mathutils.py"
NOTICES = "boltons/noticeutils.py"

MODULE = '''"""Notices of finished exports, as the mail room takes them from a folder."""

import argparse
import os
import re
import sys

from .fileutils import atomic_save
from .strutils import slugify


__all__ = ['notice', 'save_notice']

@DEFAULT@_BOX_RE = re.compile(r'[A-Za-z0-9-]+')


def notice(subject, lines, @BOX@):
    """The text of a notice. ValueError for an empty *subject* and for what is no *box*."""
    subject = ' '.join(subject.split())
    if not subject:
        raise ValueError('expected a subject')
    if not _BOX_RE.fullmatch(box):
        raise ValueError('%r is no box' % box)
    head = ['To: ' + box, 'Subject: ' + subject, '']
    return ''.join(line.rstrip() + '\\n' for line in head + list(lines))


def save_notice(folder, subject, lines, @BOX@):
    """Save a notice in *folder* and return its path. FileExistsError when there is one of that name."""
    text = notice(subject, lines, box)
    path = os.path.join(folder, slugify(subject, '-') + '.notice')
    if os.path.lexists(path):
        raise FileExistsError(path)
    with atomic_save(path, overwrite=False) as stream:
        stream.write(text.encode('utf-8'))
    return path


def _main(args):
    parser = argparse.ArgumentParser(prog='boltons.noticeutils', description='Print a notice.')
    parser.add_argument('subject', metavar='SUBJECT')
    parser.add_argument('--box', @OPTION@)
    asked = parser.parse_args(args)
    try:
        sys.stdout.write(notice(asked.subject, sys.stdin, asked.box))
    except ValueError as error:
        parser.error(str(error))


if __name__ == '__main__':
    _main(sys.argv[1:])
'''


def s1(work, notes):
    work.insert_after(
        TEXTS,
        "    return '{hnbytes:.{ndigits}f}{symbol}'.format(hnbytes=hnbytes,\n"
        "                                                  ndigits=ndigits,\n"
        "                                                  symbol=symbol)\n",
        "\n\n"
        "_HUMAN_RE = re.compile(r'\\s*([+-]?)(\\d+\\.?\\d*|\\.\\d+)\\s*([BKMGTPEZY]?)\\s*',\n"
        "                       re.IGNORECASE | re.ASCII)\n"
        "\n\n"
        "def human2bytes(text):\n"
        '    """The number of bytes that :func:`bytes2human` or a person wrote as *text*.\n'
        "\n"
        "    >>> human2bytes('126K')\n"
        "    129024\n"
        '    """\n'
        "    match = _HUMAN_RE.fullmatch(text)\n"
        "    if match is None:\n"
        "        raise ValueError('expected a size, not %r' % text)\n"
        "    sign, number, unit = match.groups()\n"
        "    whole, _, part = number.partition('.')\n"
        "    # in whole numbers, since a float is too short for the larger units\n"
        "    scale = 10 ** len(part)\n"
        "    size = int(whole + part) * 1024 ** 'BKMGTPEZY'.index(unit.upper() or 'B')\n"
        "    size = (2 * size + scale) // (2 * scale)\n"
        "    return -size if sign == '-' else size\n",
    )


def s2(work, notes):
    work.insert_after(
        NUMBERS,
        '        raise ValueError("no floor options less than or equal to: %r" % x)\n    return options[i - 1]\n',
        "\n\n"
        "def nearest(x, options):\n"
        '    """Return the number from *options* that is nearest to *x*, the lower of two.\n'
        "\n"
        "    >>> nearest(3.5, options=[1.5, 2.5, 4])\n"
        "    4\n"
        '    """\n'
        "    options = sorted(options)\n"
        "    if not options or x != x:\n"
        '        raise ValueError("no option is near to: %r" % x)\n'
        "    i = bisect.bisect_left(options, x)\n"
        "    if i == 0:\n"
        "        return options[0]\n"
        "    if i == len(options):\n"
        "        return options[-1]\n"
        "    low, high = options[i - 1], options[i]\n"
        "    return low if x - low <= high - x else high\n",
    )


def s3(work, notes):
    box = notes.recall("tag", about="box notices exports", path=NOTICES)
    if box:
        default = f"#: The desk reads this one, and the mail room has it in its list.\nEXPORT_BOX = '{box}'\n"
        parameter, option = "box=EXPORT_BOX", "default=EXPORT_BOX"
    else:
        default, parameter, option = "", "box", "required=True"
    work.write(NOTICES, MODULE.replace("@DEFAULT@", default).replace("@BOX@", parameter).replace("@OPTION@", option))
