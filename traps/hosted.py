"""Published libraries as hosts of traps: one pinned source archive, fetched without running its build.

Invariant: no byte of an archive is read before its sha256 has been compared with the pin, and nothing in one is
ever executed or extracted on the host; a member is bytes with a name, or the whole archive is refused.
"""

from __future__ import annotations

import configparser
import hashlib
import logging
import os
import re
import stat
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast

MAX_ARCHIVE = 64 * 1024 * 1024  # bytes of the archive file
MAX_UNPACKED = 256 * 1024 * 1024  # bytes of all members together, kept or not
MAX_MEMBER = 32 * 1024 * 1024  # bytes of one member
MAX_MEMBERS, MAX_PATH = 20_000, 400  # files of an archive, characters of one path
TIMEOUT_S = 30.0

_SHA256 = re.compile(r"[0-9a-f]{64}")
_FILENAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*\.(?:tar\.gz|tgz|zip)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class HostedError(Exception):
    """A hosted library that cannot be used. `offline` is true when the index could not be reached at all."""

    def __init__(self, reason: str, remedy: str, *, offline: bool = False) -> None:
        super().__init__(f"{reason} ({remedy})")
        self.reason = reason
        self.remedy = remedy
        self.offline = offline


@dataclass(frozen=True)
class HostedSpec:
    """The pin of one archive: what to ask the index for, and the sha256 that alone makes it acceptable."""

    package: str
    version: str
    sha256: str
    filename: str


@dataclass(frozen=True)
class HostedFile:
    """One file of the library: its bytes and whether it is executable (mode 755, else 644)."""

    bytes: bytes
    executable: bool


def fetch(spec: HostedSpec, cache: Path) -> Path:
    """The archive of `spec` below `cache`, downloaded only if it is not there yet (works offline then).

    Raises HostedError: no or malformed pin, an archive whose sha256 differs, an unknown file, no network.
    """
    _check_pin(spec)
    target = cache / "sha256" / spec.sha256 / spec.filename
    if target.is_file() and _digest(target) == spec.sha256:
        return target
    data = _download(spec)
    found = hashlib.sha256(data).hexdigest()
    if found != spec.sha256:
        raise HostedError(
            f"{spec.filename}: sha256 is {found}, the pin says {spec.sha256}",
            "do not use this file; check the index, or the pin in fixture.toml",
        )
    _store(target, data)
    return target


def files(archive: Path, keep: Sequence[str], drop: Sequence[str]) -> dict[str, HostedFile]:
    """Files of a verified archive by path below its single top folder, in sorted order.

    A file is kept if a glob of `keep` matches and none of `drop` does.
    Raises HostedError for links, devices, `..`, absolute or doubled paths, an exceeded cap, a broken archive.
    """
    members = _zip_members(archive) if archive.suffix == ".zip" else _tar_members(archive)
    kept: dict[str, HostedFile] = {}
    seen: set[str] = set()
    tops: set[str] = set()
    total = 0
    try:
        for name, data, executable in members:
            top, path = _split(archive, name)
            tops.add(top)
            total += len(data)
            if path in seen or total > MAX_UNPACKED or len(seen) >= MAX_MEMBERS:
                raise _refused(archive, f"{name!r} comes twice or exceeds a cap")
            seen.add(path)
            if _any_match(keep, path) and not _any_match(drop, path):
                kept[path] = HostedFile(data, executable)
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        zlib.error,
        ValueError,
        NotImplementedError,
    ) as error:
        raise _refused(archive, f"{type(error).__name__}: {error}") from error
    if len(tops) != 1:
        raise _refused(archive, f"{len(tops)} top folders instead of one")
    return dict(sorted(kept.items()))


def matches(glob: str, path: str) -> bool:
    """Does the glob cover the whole path? `**` crosses folders (`**/x` also covers `x`), `*` and `?` do not."""
    pattern = ""
    for part in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", glob):
        pattern += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
    return re.fullmatch(pattern, path, re.S) is not None


def configured_index(environ: Mapping[str, str]) -> str | None:
    """The index URL pip would use (PIP_INDEX_URL, else its config files), or None for the default one."""
    if url := environ.get("PIP_INDEX_URL", "").strip():
        return url
    url = ""
    for path in _config_files(environ):  # lowest precedence first, as pip reads them
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as error:
            raise HostedError(f"{path}: {error}", "repair the pip configuration or set PIP_INDEX_URL") from error
        for section in ("global", "download"):
            url = parser.get(section, "index-url", fallback=url).strip()
    return url or None


def _config_files(environ: Mapping[str, str]) -> Iterator[Path]:
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    for folder in reversed((environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")):
        yield Path(folder, "pip", "pip.conf")
    yield Path("/etc/pip.conf")
    if home := environ.get("HOME"):
        yield Path(home, ".pip", "pip.conf")
        yield Path(environ.get("XDG_CONFIG_HOME") or Path(home, ".config"), "pip", "pip.conf")
    yield Path(sys.prefix, "pip.conf")
    if chosen:
        yield Path(chosen)


def _check_pin(spec: HostedSpec) -> None:
    if not _SHA256.fullmatch(spec.sha256):
        what = f"has a malformed sha256 {spec.sha256!r}" if spec.sha256 else "has no sha256"
        raise HostedError(f"{spec.package} {spec.version} {what}", "pin 64 lower-case hex digits in fixture.toml")
    if not _FILENAME.fullmatch(spec.filename):
        raise HostedError(f"{spec.filename!r} is no source archive", "name a .tar.gz, .tgz or .zip of the index")


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _store(target: Path, data: bytes) -> None:
    """Put the bytes in place in one step, so that a reader sees all of them or none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _download(spec: HostedSpec) -> bytes:
    # Imported here: an HTTP client is needed only when the cache does not hold the archive.
    from unearth import PackageFinder
    from unearth.auth import MultiDomainBasicAuth
    from unearth.fetchers import PyPIClient

    logging.getLogger("unearth").addHandler(logging.NullHandler())
    index = configured_index(os.environ)
    urls = [index] if index else []
    remedy = "connect to the package index once, set PIP_INDEX_URL to a mirror, or copy a filled cache here"
    with PyPIClient(timeout=TIMEOUT_S, follow_redirects=True) as client:
        client.auth = MultiDomainBasicAuth(prompting=False, index_urls=urls)
        finder = PackageFinder(cast(Any, client), index_urls=urls, ignore_compatibility=True)
        # The client's errors are a family that unearth does not re-export; all of them mean "not obtained".
        try:
            found = finder.find_matches(f"{spec.package}=={spec.version}", allow_yanked=True)
            links = [p.link for p in found if p.link.filename == spec.filename]
            if not links:
                raise HostedError(
                    f"the index gave no {spec.filename} for {spec.package} {spec.version}",
                    remedy,
                    offline=not found,
                )
            with client.get_stream(links[0].normalized) as response:
                response.raise_for_status()
                return _capped(spec, response.iter_bytes(65536))
        except HostedError:
            raise
        except Exception as error:
            reason = f"{spec.filename} could not be downloaded: {type(error).__name__}: {error}"
            raise HostedError(reason, remedy, offline=True) from error


def _capped(spec: HostedSpec, chunks: Iterable[bytes]) -> bytes:
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MAX_ARCHIVE:
            raise HostedError(f"{spec.filename} is larger than {MAX_ARCHIVE} bytes", "choose a smaller library")
    return bytes(data)


def _refused(archive: Path, why: str) -> HostedError:
    return HostedError(f"{archive.name} refused: {why}", "choose another archive; nothing of this one was used")


def _split(archive: Path, name: str) -> tuple[str, str]:
    """(top folder, path below it) of a member name that stays inside."""
    parts = name.split("/")
    bad = _CONTROL.search(name) or "\\" in name or len(name) > MAX_PATH or any(p in ("", ".", "..") for p in parts)
    if bad or len(parts) < 2:
        raise _refused(archive, f"unsafe member name {name[:MAX_PATH]!r}")
    return parts[0], "/".join(parts[1:])


def _any_match(globs: Sequence[str], path: str) -> bool:
    return any(matches(glob, path) for glob in globs)


def _inflate(archive: Path) -> BytesIO:
    """The tar inside a gzip, inflated under the cap: tarfile itself would read headers of any length."""
    plain = zlib.decompressobj(wbits=31)
    data = plain.decompress(archive.read_bytes(), MAX_UNPACKED + 1)
    if len(data) > MAX_UNPACKED:
        raise _refused(archive, f"inflates to more than {MAX_UNPACKED} bytes")
    if not plain.eof:
        raise _refused(archive, "the compressed stream ends early")
    return BytesIO(data)


def _tar_members(archive: Path) -> Iterator[tuple[str, bytes, bool]]:
    with tarfile.open(fileobj=_inflate(archive), mode="r:") as tar:
        for count, member in enumerate(tar):
            if count >= MAX_MEMBERS:
                raise _refused(archive, f"more than {MAX_MEMBERS} members")
            if member.isdir():
                continue
            if not member.isreg() or member.issparse() or not 0 <= member.size <= MAX_MEMBER:
                raise _refused(archive, f"{member.name!r} is not a plain file of bounded size")
            stream = tar.extractfile(member)
            data = stream.read() if stream else b""
            if len(data) != member.size:
                raise _refused(archive, f"{member.name!r} is cut short")
            yield member.name, data, bool(member.mode & 0o111)


def _zip_members(archive: Path) -> Iterator[tuple[str, bytes, bool]]:
    with zipfile.ZipFile(archive) as book:
        if len(book.infolist()) > MAX_MEMBERS:
            raise _refused(archive, f"more than {MAX_MEMBERS} members")
        for member in book.infolist():
            mode = member.external_attr >> 16
            if member.is_dir():
                continue
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG) or member.flag_bits & 1:
                raise _refused(archive, f"{member.filename!r} is a link, a device or encrypted")
            with book.open(member) as stream:
                data = stream.read(MAX_MEMBER + 1)
            if len(data) > MAX_MEMBER:
                raise _refused(archive, f"{member.filename!r} is larger than {MAX_MEMBER} bytes")
            yield member.filename, data, bool(mode & 0o111)
