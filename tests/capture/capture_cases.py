"""What an agent may do to its repository, and the exact change that must come of it.

A case is a bash script run in START (with its one-commit repository), and what must have become of each touched
path: bytes (a regular file), an `Entry`, or None (gone). Every path that is not named must be as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.snapshot import EXECUTABLE, LINK, REGULAR, Entry

START: dict[bytes, Entry] = {
    b"a.txt": Entry(REGULAR, b"one\ntwo\nthree\n"),
    b"b.txt": Entry(REGULAR, b"b\n"),
    b"tool.sh": Entry(EXECUTABLE, b"#!/bin/sh\n"),
    b"link": Entry(LINK, b"a.txt"),
    b"src/pkg/__init__.py": Entry(REGULAR, b""),
    b"src/pkg/code.py": Entry(REGULAR, b"x = 1\n"),
    b"src/pkg/data.bin": Entry(REGULAR, bytes(range(256))),
    b"src/pkg/crlf.txt": Entry(REGULAR, b"one\r\ntwo\r\n"),
    b"docs/guide.md": Entry(REGULAR, b"# Guide\n"),
}


@dataclass(frozen=True)
class Case:
    id: str
    script: str
    becomes: Mapping[bytes, Entry | bytes | None] = field(default_factory=dict)

    def expected(self) -> dict[bytes, Entry]:
        """The tree that must come out."""
        tree = dict(START)
        for path, new in self.becomes.items():
            if new is None:
                del tree[path]
            else:
                tree[path] = new if isinstance(new, Entry) else Entry(REGULAR, new)
        return tree


_ME = "ME='-c user.name=a -c user.email=b'\n"
_EDIT = "echo four >> a.txt; echo new > new.txt; rm b.txt\n"
_EDITED: dict[bytes, Entry | bytes | None] = {
    b"a.txt": b"one\ntwo\nthree\nfour\n",
    b"new.txt": b"new\n",
    b"b.txt": None,
}

CASES = [
    Case("nothing", "true"),
    Case("uncommitted", _EDIT, _EDITED),
    Case("staged", _EDIT + "git add -A", _EDITED),
    Case("half-staged", "echo x > a.txt; git add a.txt; echo y > a.txt", {b"a.txt": b"y\n"}),
    Case("staged-then-removed", "echo x > n; git add n; rm n"),
    Case("committed", _EDIT + "git add -A; git commit -qm x", _EDITED),
    Case("many-commits", "for n in 1 2 3; do echo $n > a.txt; git commit -qam $n; done", {b"a.txt": b"3\n"}),
    Case("amended", _EDIT + "git add -A; git commit -q --amend -m y; git gc -q --prune=now", _EDITED),
    Case("stashed", _EDIT + "git stash -qu"),
    Case("stashed-and-back", _EDIT + "git stash -qu; git stash pop -q", _EDITED),
    Case("other-branch", "git switch -qc other; " + _EDIT + "git add -A; git commit -qm x", _EDITED),
    Case("left-on-a-branch", "git switch -qc other; " + _EDIT + "git add -A; git commit -qm x; git switch -q main"),
    Case("orphan-branch", "git switch -q --orphan o; echo x > new.txt", {**dict.fromkeys(START), b"new.txt": b"x\n"}),
    Case("detached", "git switch -q --detach; " + _EDIT + "git add -A; git commit -qm x", _EDITED),
    Case("reset-hard", _EDIT + "git add -A; git reset -q --hard"),
    Case("reset-hard-after-commit", _EDIT + "git add -A; git commit -qm x; git reset -q --hard HEAD~1"),
    Case("reset-soft", _EDIT + "git add -A; git commit -qm x; git reset -q --soft HEAD~1", _EDITED),
    Case("restored", "echo x > a.txt; git checkout -- a.txt"),
    Case("repository-deleted", _EDIT + "rm -rf .git", _EDITED),
    Case("repository-made-anew", _ME + _EDIT + "rm -rf .git; git init -q; git add -A; git $ME commit -qm z", _EDITED),
    Case("repository-is-a-file", _EDIT + "mv .git /tmp/g; echo 'gitdir: /tmp/g' > .git; git status -s", _EDITED),
    Case("index-broken", _EDIT + "echo broken > .git/index; rm .git/HEAD", _EDITED),
    Case("index-lies", "echo x > a.txt; git update-index --assume-unchanged a.txt", {b"a.txt": b"x\n"}),
    Case("sparse-checkout", "echo x > a.txt; git update-index --skip-worktree a.txt; git status", {b"a.txt": b"x\n"}),
    Case("crlf", r"printf 'one\r\ntwo\r\nthree\r\n' > a.txt", {b"a.txt": b"one\r\ntwo\r\nthree\r\n"}),
    Case("crlf-to-lf", r"printf 'one\ntwo\n' > src/pkg/crlf.txt", {b"src/pkg/crlf.txt": b"one\ntwo\n"}),
    Case("mixed-ends", r"printf 'a\r\nb\nc\rd\n\r' > a.txt", {b"a.txt": b"a\r\nb\nc\rd\n\r"}),
    Case("autocrlf", "git config core.autocrlf true; git add --renormalize .; git commit -qm x || true"),
    Case("no-end-of-line", "printf 'one' > a.txt", {b"a.txt": b"one"}),
    Case("end-of-line-only", r"printf '\n' > a.txt", {b"a.txt": b"\n"}),
    Case("byte-order-mark", r"printf '\xef\xbb\xbfx' > a.txt", {b"a.txt": b"\xef\xbb\xbfx"}),
    Case("binary", r"printf '\x00\x01\xff\xfe' > bin; printf '\x00' >> a.txt",
         {b"bin": b"\0\1\xff\xfe", b"a.txt": b"one\ntwo\nthree\n\0"}),
    Case("big-binary", "head -c 3000000 /dev/zero | tr '\\0' '\\377' > big", {b"big": b"\xff" * 3_000_000}),
    Case("mode-on", "chmod +x a.txt", {b"a.txt": Entry(EXECUTABLE, b"one\ntwo\nthree\n")}),
    Case("mode-off", "chmod -x tool.sh", {b"tool.sh": b"#!/bin/sh\n"}),
    Case("mode-that-git-knows-not", "chmod 640 a.txt; chmod 600 b.txt; chmod 777 tool.sh; chmod 500 docs"),
    Case("mode-hidden-from-git", "git config core.fileMode false; chmod +x a.txt; git add -A",
         {b"a.txt": Entry(EXECUTABLE, b"one\ntwo\nthree\n")}),
    Case("renamed", "git mv a.txt c.txt", {b"a.txt": None, b"c.txt": b"one\ntwo\nthree\n"}),
    Case("renamed-in-case", "mv a.txt A.txt", {b"a.txt": None, b"A.txt": b"one\ntwo\nthree\n"}),
    Case("swapped", "mv a.txt t; mv b.txt a.txt; mv t b.txt", {b"a.txt": b"b\n", b"b.txt": b"one\ntwo\nthree\n"}),
    Case("copied", "cp a.txt c.txt", {b"c.txt": b"one\ntwo\nthree\n"}),
    Case("folder-renamed", "git mv src/pkg src/box",
         dict.fromkeys([path for path in START if path.startswith(b"src/")])
         | {path.replace(b"pkg", b"box"): new for path, new in START.items() if path.startswith(b"src/")}),
    Case("link-made", "ln -s src/pkg l; ln -s ../a.txt src/up",
         {b"l": Entry(LINK, b"src/pkg"), b"src/up": Entry(LINK, b"../a.txt")}),
    Case("link-retargeted", "ln -sfn b.txt link", {b"link": Entry(LINK, b"b.txt")}),
    Case("link-to-file", "rm link; cp a.txt link", {b"link": b"one\ntwo\nthree\n"}),
    Case("file-to-link", "ln -sf b.txt a.txt", {b"a.txt": Entry(LINK, b"b.txt")}),
    Case("link-deleted", "rm link", {b"link": None}),
    Case("hard-link", "ln a.txt c.txt; echo x > a.txt", {b"a.txt": b"x\n", b"c.txt": b"x\n"}),
    Case("nested-repository",
         _ME + "git init -q sub; cd sub; echo x > f; git add .; git $ME commit -qm x; git -C .. add .",
         {b"sub/f": b"x\n"}),
    Case("folder-becomes-repository", "git -C src init -q; echo x > src/f; git add -A || true", {b"src/f": b"x\n"}),
    Case("bare-repository", "git init -q -b main --bare tmp; mkdir sub; cp tmp/HEAD sub/HEAD; rm -rf tmp",
         {b"sub/HEAD": b"ref: refs/heads/main\n"}),
    Case("worktree", "git worktree add -q wt; echo x > wt/a.txt",
         {b"wt/" + path: new for path, new in START.items()} | {b"wt/a.txt": b"x\n"}),
    Case("file-to-folder", "rm a.txt; mkdir a.txt; echo x > a.txt/in", {b"a.txt": None, b"a.txt/in": b"x\n"}),
    Case("folder-to-file", "rm -r docs; echo x > docs", {b"docs/guide.md": None, b"docs": b"x\n"}),
    Case("folder-to-link", "rm -r docs; ln -s src docs", {b"docs/guide.md": None, b"docs": Entry(LINK, b"src")}),
    Case("empty-file", "touch empty; : > a.txt", {b"empty": b"", b"a.txt": b""}),
    Case("empty-folder", "mkdir -p void/deeper"),
    Case("emptied-folder", "rm docs/guide.md", {b"docs/guide.md": None}),
    Case("deleted", "rm a.txt src/pkg/code.py", {b"a.txt": None, b"src/pkg/code.py": None}),
    Case("everything-deleted", "rm -rf -- * .git", dict.fromkeys(START)),
    Case("ignored", r"printf '*\n' > .gitignore; echo x > hidden.py; git add -A; git commit -qm x || true",
         {b".gitignore": b"*\n", b"hidden.py": b"x\n"}),
    Case("excluded", "echo '*' > .git/info/exclude 2>/dev/null || { mkdir -p .git/info; echo '*' > .git/info/exclude; }"
         "; echo x > hidden.py", {b"hidden.py": b"x\n"}),
    Case("eol-attribute", r"printf '* text eol=crlf\n' > .gitattributes; git add --renormalize .; git commit -qm x; "
         "rm a.txt; git checkout -q a.txt",
         {b".gitattributes": b"* text eol=crlf\n", b"a.txt": b"one\r\ntwo\r\nthree\r\n"}),
    Case("export-ignore", r"printf '* export-ignore -diff binary\n' > .gitattributes; echo x > a.txt",
         {b".gitattributes": b"* export-ignore -diff binary\n", b"a.txt": b"x\n"}),
    Case("ident-and-encoding",
         r"printf '* ident working-tree-encoding=UTF-16\n' > .gitattributes; echo '$Id$' > a.txt",
         {b".gitattributes": b"* ident working-tree-encoding=UTF-16\n", b"a.txt": b"$Id$\n"}),
    Case("unicode", "echo x > 'ä.txt'; echo y > $'a\\u0308.txt'; mkdir 日本; echo z > 日本/語; git add -A",
         {"ä.txt".encode(): b"x\n", "a\u0308.txt".encode(): b"y\n", "日本/語".encode(): b"z\n"}),
    Case("bytes-in-names", r"touch -- $'\xff' $'new\nline' ' ' '-x' $'quote\"\\'",
         {b"\xff": b"", b"new\nline": b"", b" ": b"", b"-x": b"", b'quote"\\': b""}),
    Case("caches", "mkdir -p __pycache__ .pytest_cache; echo x > __pycache__/x.pyc; echo y > .pytest_cache/v",
         {b"__pycache__/x.pyc": b"x\n", b".pytest_cache/v": b"y\n"}),
    Case("unreadable", "echo x > a.txt; chmod 0 a.txt src; chmod 0 .", {b"a.txt": b"x\n"}),
]  # fmt: skip
