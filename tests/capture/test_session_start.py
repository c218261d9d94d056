"""What an agent is given: the tree as it is, in a repository with one neutral commit and nothing else in it."""

from __future__ import annotations

import pytest

from harness.objects import ObjectStore
from harness.snapshot import EXECUTABLE, LINK, REGULAR, Entry, tree_id

from .capture_cases import START
from .conftest import Session

_LOOK = """
say() { printf '%s: ' "$1"; shift; "$@" 2>&1 | tr '\\n' '|'; echo; }
say status git status --porcelain --ignored
say head git rev-parse HEAD^{tree}
say parents git rev-list --count --all
say who git log --all --format='%an %ae %ad %cn %ce %cd %s' --date=raw
say refs git for-each-ref --format='%(refname)'
say branch git symbolic-ref HEAD
say reflog git reflog
say stash git stash list
say lost git fsck --unreachable --full
say remotes git remote -v
say types git cat-file --batch-all-objects --batch-check='%(objecttype)'
say grafts find .git -name 'alternates' -o -name 'FETCH_HEAD' -o -name 'ORIG_HEAD' -o -name 'hooks' -o -name 'logs'
say dates find . -newermt '2026-01-02' -not -path './.git*'
"""
_ODD = {
    b".gitattributes": Entry(REGULAR, b"* text eol=crlf filter=x ident\n"),
    b".gitignore": Entry(REGULAR, b"*\n"),
    b"src/$Id$": Entry(REGULAR, b"$Id$\r\nmixed\n"),
    b"new\nline": Entry(EXECUTABLE, b"\0\xff"),
    b"not-utf8-\xff": Entry(LINK, b"/etc/\xfe"),
    "日本/語".encode(): Entry(REGULAR, b""),
    b"n" * 250: Entry(REGULAR, b"long"),
}


@pytest.fixture(params=["plain", "odd"])
def start(request: pytest.FixtureRequest) -> dict[bytes, Entry]:
    return dict(START) if request.param == "plain" else {p: e for p, e in _ODD.items() if p != b".gitattributes"}


def _said(session: Session, start: dict[bytes, Entry]) -> dict[str, str]:
    done = session.run(start, _LOOK)
    assert done.result.exit == 0, done.result.stderr
    assert dict(done.tree) == start
    rows = done.result.stdout.decode("utf-8", "replace").splitlines()
    return {name: text.strip("|") for name, _, text in (row.partition(": ") for row in rows)}


def test_one_clean_neutral_commit(session: Session, start: dict[bytes, Entry]) -> None:
    said = _said(session, start)
    assert said["status"] == ""
    assert said["head"] == tree_id(start)
    assert said["parents"] == "1"
    assert said["who"] == "dev dev@localhost 1767225600 +0000 dev dev@localhost 1767225600 +0000 Import"
    assert (said["refs"], said["branch"]) == ("refs/heads/main", "refs/heads/main")
    for name in ("reflog", "stash", "lost", "remotes", "grafts"):
        assert said[name] == "", name


def test_the_repository_holds_nothing_but_the_commit_and_its_tree(session: Session, start: dict[bytes, Entry]) -> None:
    kinds = _said(session, start)["types"].split("|")
    assert kinds.count("commit") == 1
    assert kinds.count("blob") == len({entry.blob for entry in start.values()})
    assert "tag" not in kinds


def test_attributes_of_the_tree_do_not_change_what_is_given(session: Session) -> None:
    done = session.run(_ODD, "git rev-parse HEAD^{tree}; git rev-list --count --all")
    assert dict(done.tree) == _ODD
    assert done.result.stdout.decode().split() == [tree_id(_ODD), "1"]


def test_the_same_tree_is_given_as_the_same_bytes(store: ObjectStore, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = ObjectStore(tmp_path_factory.mktemp("other") / "objects.git")
    other.put({b"something": Entry(REGULAR, b"else")})
    assert store.session_tar(START) == other.session_tar(START)


def test_what_the_store_holds_besides_is_not_given(session: Session, store: ObjectStore) -> None:
    secret = {**START, b"answer.txt": Entry(REGULAR, b"the-answer-of-another-arm")}
    blob = secret[b"answer.txt"].blob
    store.put(secret)
    done = session.run(START, f"git cat-file -e {blob} && echo there; git log --all -S the-answer --oneline; true")
    assert done.result.stdout == b""
