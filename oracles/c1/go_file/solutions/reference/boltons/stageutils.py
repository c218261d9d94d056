"""Save several files so that a reader knows when they belong together.

The files wait in a staging folder until the last one is complete; the go file is there when all are in place.
"""

import os
import shutil

from .fileutils import atomic_rename


__all__ = ['save_together', 'is_complete']

STAGING = '.staging'
GO_FILE = '<< go_file >>'  # the loader begins at a file of this name


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
