"""The object store of a run: trees in a bare git repository that only the harness writes.

git is run here on objects alone: never in a work tree, never with an agent's configuration, attributes, ignore
rules or hooks. Invariant: `put` returns the id that git itself gives to the tree, and `get(put(s)) == s`.
"""

from __future__ import annotations

import io
import mmap
import os
import re
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path

from harness.outcome import Boundary, Fault
from harness.snapshot import Entry, Snapshot, to_tar, tree_id

#: All that git is told of the machine.
ENVIRONMENT = {
    "PATH": os.defpath,
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
    "TZ": "UTC",
}
_NEUTRAL = {
    **{f"GIT_{who}_NAME": "dev" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "dev@localhost" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "1767225600 +0000" for who in ("AUTHOR", "COMMITTER")},
}
#: The names that other file systems mistake for `.git` were refused when the snapshot was read; git need not know more.
_SETTINGS = (
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.protectNTFS=false",
    "core.protectHFS=false",
)
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -eol !diff\n"
_CONFIG = (
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
    "[user]\n\tname = dev\n\temail = dev@localhost\n"
)


_DIFF = ("--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")
_TREE = re.compile(r"[0-9a-f]{40}")
_HEAD = re.compile(rb"^([0-9a-f]{40}) ([0-9a-f]{40})\n", re.MULTILINE)

Pair = tuple[str, str]  # ids of an old and a new tree


class ObjectStore:
    """Trees by id. Thread-safe; one store a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._sessions: dict[str, bytes] = {}
        if not (path / "HEAD").exists():
            self._git("init", "--quiet", "--bare", "--template=", str(path), bare=False)
        attributes = path / "info" / "attributes"
        if not attributes.exists():  # also after a kill between the two
            attributes.parent.mkdir(exist_ok=True)
            attributes.write_text(_ATTRIBUTES)

    def put(self, snapshot: Snapshot) -> str:
        """Store a tree, return its id."""
        wanted = tree_id(snapshot)
        with self._lock:
            if wanted in self._known:
                return wanted
            if snapshot:
                self._import(snapshot, wanted)
            else:
                self._git("hash-object", "-t", "tree", "-w", "--stdin", data=b"")
            self._known.add(wanted)
        return wanted

    def _import(self, snapshot: Snapshot, wanted: str) -> None:
        out = io.BytesIO()
        out.write(b"commit refs/trees/%s\ncommitter dev <dev@localhost> 0 +0000\ndata 0\ndeleteall\n" % wanted.encode())
        for path, entry in snapshot.items():
            out.write(b"M %s inline %s\ndata %d\n" % (entry.mode.encode(), quoted(path), len(entry.data)))
            out.write(entry.data + b"\n")
        out.write(b"done\n")
        self._git("fast-import", "--quiet", "--force", "--done", "--date-format=raw", data=out.getvalue())
        stored = self._git("rev-parse", f"refs/trees/{wanted}^{{tree}}").decode().strip()
        if stored != wanted:
            raise Fault(Boundary.LEDGER, f"git stored tree {stored} where {wanted} was expected")

    def get(self, tree: str) -> dict[bytes, Entry]:
        """Read a tree back. Raises Fault when it is missing."""
        if not _TREE.fullmatch(tree):
            raise Fault(Boundary.LEDGER, f"{tree[:40]!r} is the id of no tree")
        rows = [r for r in self._git("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0") if r]
        heads = [row.split(b"\t", 1) for row in rows]
        ids = [head.split()[2] for head, _ in heads]
        bodies = _batch(self._git("cat-file", "--batch", data=b"".join(i + b"\n" for i in ids))) if ids else []
        return {path: Entry(head.split()[0].decode(), body) for (head, path), body in zip(heads, bodies, strict=True)}

    def diff(self, old: str, new: str) -> bytes:
        """The textual picture of a delta (a git patch with full ids); the ids are the evidence, not this."""
        return self._git("diff-tree", "-r", "-p", *_DIFF, old, new)

    def diffs(self, pairs: Iterable[Pair], most: int | None = None) -> dict[Pair, bytes]:
        """As `diff` for many pairs of trees, by one process; each picture is cut after `most` bytes.

        A pair that cannot be compared (a tree or file is missing or damaged) is left out.
        """
        owed = [pair for pair in dict.fromkeys(pairs) if all(_TREE.fullmatch(tree) for tree in pair)]
        found: dict[Pair, bytes] = {}
        while owed:
            told, whole = self._diff_batch(owed, most)
            found |= told
            if whole:
                break
            # git gave up; the first pair without a picture is the broken one, unless what broke it is over
            broken = next(pair for pair in owed if pair not in found)
            try:
                found[broken] = self.diff(*broken)[:most]
            except Fault:
                pass
            owed = [pair for pair in owed[owed.index(broken) + 1 :] if pair not in found]
        return found

    def _diff_batch(self, pairs: list[Pair], most: int | None) -> tuple[dict[Pair, bytes], bool]:
        """What one git said of the pairs in turn, and whether it came to its end.

        It heads each picture with the line "old new". No line inside of one is like that: lines of text begin with one
        of " +-\\@", git quotes line feeds in names, and lines of binary patches have no blank.
        """
        lines = "".join(f"{old} {new}\n" for old, new in pairs).encode()
        with tempfile.TemporaryFile() as out:  # pictures of hostile trees can be larger than memory
            words = self.words("diff-tree", "--stdin", "-r", "-p", *_DIFF)
            try:
                done = subprocess.run(
                    words, input=lines, stdout=out, stderr=subprocess.DEVNULL, env=ENVIRONMENT, cwd="/"
                )
            except FileNotFoundError as error:
                raise _no_git() from error
            whole, size = done.returncode == 0, out.tell()
            if not size:
                return {}, whole
            with mmap.mmap(out.fileno(), 0, access=mmap.ACCESS_READ) as text:
                heads = list(_HEAD.finditer(text))
                ends = [*(head.start() for head in heads[1:]), size]
                found = {
                    (head[1].decode(), head[2].decode()): text[
                        head.end() : end if most is None else min(end, head.end() + most)
                    ]
                    for head, end in zip(heads, ends, strict=True)
                }
                if not whole and heads:
                    del found[heads[-1][1].decode(), heads[-1][2].decode()]  # it may stop in the middle
        return found, whole

    def session_tar(self, snapshot: Snapshot) -> bytes:
        """The tree as an agent gets it: files and a fresh one-commit repository with neutral identity and date."""
        tree = self.put(snapshot)
        with self._lock:
            if tree not in self._sessions:
                if len(self._sessions) > 64:
                    self._sessions.clear()
                self._sessions[tree] = _join(to_tar(snapshot), self._repository(tree))
            return self._sessions[tree]

    def _repository(self, tree: str) -> dict[str, bytes]:
        """The files of `.git` for one commit of `tree`, made from objects alone."""
        commit = self._git("commit-tree", tree, "-m", "Import", env=_NEUTRAL).decode().strip()
        with tempfile.TemporaryDirectory(dir=self.path) as folder:
            base = Path(folder)
            self._git("read-tree", tree, env={"GIT_INDEX_FILE": str(base / "index")})
            name = self._git("pack-objects", "--revs", "--quiet", str(base / "pack"), data=commit.encode() + b"\n")
            pack = name.decode().strip()
            files = {
                "HEAD": b"ref: refs/heads/main\n",
                "config": _CONFIG.encode(),
                "refs/heads/main": commit.encode() + b"\n",
                "index": (base / "index").read_bytes(),
            }
            for end in ("pack", "idx"):
                files[f"objects/pack/pack-{pack}.{end}"] = (base / f"pack-{pack}.{end}").read_bytes()
        return files

    def _git(self, *words: str, data: bytes = b"", env: dict[str, str] | None = None, bare: bool = True) -> bytes:
        whole = self.words(*words, bare=bare)
        try:
            done = subprocess.run(whole, input=data, capture_output=True, env=ENVIRONMENT | (env or {}), cwd="/")
        except FileNotFoundError as error:
            raise _no_git() from error
        if done.returncode != 0:
            raise Fault(
                Boundary.LEDGER, f"git {words[0]} failed: {done.stderr.decode('utf-8', 'replace').strip()[:300]}"
            )
        return done.stdout

    def ask(self, *words: str) -> bytes:
        """What a git command says. Raises Fault when it fails."""
        return self._git(*words)

    def words(self, *words: str, bare: bool = True) -> list[str]:
        """The command line of git on this store with our settings; to be run in `ENVIRONMENT`."""
        safe = [word for setting in _SETTINGS for word in ("-c", setting)]
        return ["git", *(["--git-dir", str(self.path)] if bare else []), *safe, *words]


def _no_git() -> Fault:
    return Fault(Boundary.CONFIG, "git is not installed (remedy: install git)")


def quoted(path: bytes) -> bytes:
    """A path as fast-import takes it."""
    plain = all(32 <= c < 127 and c not in (34, 92) for c in path)
    body = (
        path if plain else b"".join(b"\\%03o" % c if c < 32 or c in (34, 92) or c > 126 else bytes([c]) for c in path)
    )
    return b'"' + body + b'"'


def _batch(stream: bytes) -> list[bytes]:
    bodies, at = [], 0
    while at < len(stream):
        head, _, _ = stream[at:].partition(b"\n") if len(stream) - at < 200 else stream[at : at + 200].partition(b"\n")
        words = head.split()
        if len(words) != 3:
            raise Fault(Boundary.LEDGER, f"object missing from the store: {head.decode('utf-8', 'replace')[:80]}")
        start, size = at + len(head) + 1, int(words[2])
        bodies.append(stream[start : start + size])
        at = start + size + 1
    return bodies


def _join(tree: bytes, repository: dict[str, bytes]) -> bytes:
    out = io.BytesIO(tree)
    with tarfile.open(fileobj=out, mode="a", format=tarfile.PAX_FORMAT) as tar:
        for name, data in repository.items():
            info = tarfile.TarInfo(f".git/{name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for name in ("objects/info", "refs/tags"):
            info = tarfile.TarInfo(f".git/{name}")
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(info)
    return out.getvalue()
