"""Making the tree of a mount from its tar stream, inside the mount namespace of a cell.

Invariant: a member is only ever created below the given directory and below directories made here; no link is
followed, nothing is overwritten, owner and times are ours.
"""

from __future__ import annotations

import io
import os
import tarfile

from containers.sandbox import SandboxError

EPOCH_NS = 1_735_689_600 * 10**9  # the one time of everything that enters


def unpack(tar: bytes, root: str) -> None:
    """Create the members of `tar` (b"" = none) below the existing directory `root`.

    Regular files, directories and symlinks only; a missing parent directory is made. Raises SandboxError for
    anything else, for a path that is absolute, has "..", or appears twice, and OSError when the disk is full.
    """
    made = {""}
    if tar:
        try:
            with tarfile.open(fileobj=io.BytesIO(tar), mode="r:") as archive:
                for member in archive:
                    _create(archive, member, root, made)
        except tarfile.TarError as error:
            raise SandboxError(f"a mount is not a tar stream: {error}") from error
    for directory in sorted(made, key=len, reverse=True):
        os.utime(os.path.join(root, directory), ns=(EPOCH_NS, EPOCH_NS))


def _create(archive: tarfile.TarFile, member: tarfile.TarInfo, root: str, made: set[str]) -> None:
    parts = [part for part in member.name.split("/") if part not in ("", ".")]
    if member.name.startswith("/") or ".." in parts or "\0" in member.name:
        raise SandboxError("a mount has a member outside its tree")
    if not parts:
        return  # the root itself
    _directories(parts[:-1], root, made)
    path = os.path.join(root, *parts)
    try:
        if member.isdir():
            _directories(parts, root, made)
        elif member.issym():
            os.symlink(member.linkname, path)
            os.utime(path, ns=(EPOCH_NS, EPOCH_NS), follow_symlinks=False)
        elif member.isreg():
            _write(archive, member, path)
        else:
            raise SandboxError("a mount has a member that is neither file, directory nor symlink")
    except FileExistsError as error:
        raise SandboxError("a mount has two members of one name") from error


def _directories(parts: list[str], root: str, made: set[str]) -> None:
    for count in range(1, len(parts) + 1):
        name = "/".join(parts[:count])
        if name not in made:
            try:
                os.mkdir(os.path.join(root, name), 0o755)
            except FileExistsError as error:
                raise SandboxError("a mount has a member below a file or link") from error
            made.add(name)


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    source = archive.extractfile(member)
    assert source is not None  # a regular member has contents
    mode = 0o755 if member.mode & 0o111 else 0o644
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        while block := source.read(1 << 20):
            view = memoryview(block)
            while view:
                view = view[os.write(handle, view) :]
        os.utime(handle, ns=(EPOCH_NS, EPOCH_NS))
    finally:
        os.close(handle)
