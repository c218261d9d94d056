"""Files and durations: depth of a search, strict durations, several files saved together."""

FILES = "boltons/fileutils.py"
TIMES = "boltons/timeutils.py"
STAGE = "boltons/stageutils.py"

MODULE = '''"""Save several files so that a reader knows when they belong together.

The files wait in a staging folder until the last one is complete; the go file is there when all are in place.
"""

import os
import shutil

from .fileutils import atomic_rename


__all__ = ['save_together', 'is_complete']

STAGING = '.staging'
@GO@


def save_together(folder, writers):
    """Save the files that the *writers* write into *folder*, and put the go file beside them.

    Args:
        folder (str): An existing folder.
        writers (dict): File name to a callable that takes a binary stream.

    Raises:
        ValueError: a name is not the name of a file in *folder*.
        FileExistsError: the staging folder is there already.
    """
    for name in writers:
        if name in ('', '.', '..', GO_FILE) or os.path.basename(name) != name:
            raise ValueError('not a name for a file: %r' % name)
    staging = os.path.join(folder, STAGING)
    os.mkdir(staging)
    try:
        for name, write in writers.items():
            with open(os.path.join(staging, name), 'wb') as stream:
                write(stream)
        _move(staging, folder, writers)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _move(staging, folder, names):
    """Move the files to their places; there is no go file while they are on their way."""
    go_file = os.path.join(folder, GO_FILE)
    if os.path.lexists(go_file):
        os.unlink(go_file)
    for name in names:
        atomic_rename(os.path.join(staging, name), os.path.join(folder, name), overwrite=True)
    open(go_file, 'wb').close()


def is_complete(folder):
    """Whether the files in *folder* belong together."""
    if os.path.exists(os.path.join(folder, STAGING)):
        return False
    return os.path.isfile(os.path.join(folder, GO_FILE))
'''


def s1(work, notes):
    work.replace(
        FILES,
        "    start_depth = len(directory.split(os.path.sep))\n"
        "    for root, dirs, files in os.walk(directory):\n"
        "        if max_depth is not None and (len(root.split(os.path.sep)) - start_depth) > max_depth:\n"
        "            continue\n"
        "        if include_dirs:\n",
        "    top = directory.rstrip(os.path.sep) or directory\n"
        "    for root, dirs, files in os.walk(directory):\n"
        "        dirs.sort()\n"
        "        files.sort()\n"
        "        below = root[len(top):].strip(os.path.sep)\n"
        "        depth = len(below.split(os.path.sep)) if below else 0\n"
        "        found_dirs = list(dirs)\n"
        "        if max_depth is not None and depth >= max_depth:\n"
        "            del dirs[:]  # os.walk does not enter what is not listed\n"
        "        if include_dirs:\n",
    )
    work.replace(FILES, "            for basename in dirs:\n", "            for basename in found_dirs:\n")


def s2(work, notes):
    work.replace(
        TIMES,
        '_PARSE_TD_RE = re.compile(r"((?P<value>%s)\\s*(?P<unit>\\w)\\w*)" % _FLOAT_PATTERN)\n',
        '_PARSE_TD_RE = re.compile(r"(?:\\s|,|and\\b)*(?P<value>%s)\\s*(?P<unit>[a-zA-Z]+)" % _FLOAT_PATTERN)\n',
    )
    text = work.read(TIMES)
    start = text.index("    td_kwargs = {}\n    for match in _PARSE_TD_RE")
    end = text.index("    return timedelta(**td_kwargs)\n")
    work.replace(
        TIMES,
        text[start:end],
        "    td_kwargs = {}\n"
        "    rest = text.strip()\n"
        "    if not rest:\n"
        "        raise ValueError('expected a duration, not %r' % text)\n"
        "    while rest:\n"
        "        match = _PARSE_TD_RE.match(rest)\n"
        "        unit_key = _td_unit(match.group('unit')) if match else None\n"
        "        if unit_key is None:\n"
        "            raise ValueError('expected a duration, not %r' % text)\n"
        "        value = float(match.group('value').replace(' ', ''))\n"
        "        td_kwargs[unit_key] = td_kwargs.get(unit_key, 0) + value\n"
        "        rest = rest[match.end():]\n",
    )
    work.replace(
        TIMES,
        "def parse_timedelta(text):\n",
        "def _td_unit(word):\n"
        '    "The timedelta argument of a unit that is one letter or a whole word, else None."\n'
        "    key = _PARSE_TD_KW_MAP.get(word[0])\n"
        "    return key if key and word in (key[0], key[:-1], key) else None\n"
        "\n\n"
        "def parse_timedelta(text):\n",
    )


def s3(work, notes):
    name = notes.recall("tag", about="go file loader files saved together", path=STAGE)
    line = f"GO_FILE = '{name}'  # the loader begins at a file of this name" if name else "GO_FILE = 'READY'"
    work.write(STAGE, MODULE.replace("@GO@", line))
