"""Notices of finished exports, as the mail room takes them from a folder."""

import argparse
import os
import re
import sys

from .fileutils import atomic_save
from .strutils import slugify


__all__ = ['notice', 'save_notice']

#: The desk reads this one, and the mail room has it in its list.
EXPORT_BOX = '<< trial_box >>'
_BOX_RE = re.compile(r'[A-Za-z0-9-]+')


def notice(subject, lines, box=EXPORT_BOX):
    """The text of a notice. ValueError for an empty *subject* and for what is no *box*."""
    subject = ' '.join(subject.split())
    if not subject:
        raise ValueError('expected a subject')
    if not _BOX_RE.fullmatch(box):
        raise ValueError('%r is no box' % box)
    head = ['To: ' + box, 'Subject: ' + subject, '']
    return ''.join(line.rstrip() + '\n' for line in head + list(lines))


def save_notice(folder, subject, lines, box=EXPORT_BOX):
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
    parser.add_argument('--box', default=EXPORT_BOX)
    asked = parser.parse_args(args)
    try:
        sys.stdout.write(notice(asked.subject, sys.stdin, asked.box))
    except ValueError as error:
        parser.error(str(error))


if __name__ == '__main__':
    _main(sys.argv[1:])
