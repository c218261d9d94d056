"""Laws of snapshots, the object store and deltas, over generated trees; git itself is the second opinion."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.delta import apply, changes
from harness.objects import ObjectStore
from harness.snapshot import EXECUTABLE, LINK, REGULAR, Entry, from_tar, is_git, lay, overlay, to_tar, tree_id
from traps.fixtures import File

_PLAIN = st.sampled_from([b"a", b"b", b"a.b", b"a-b", b"a0", b"B", b"ab", b"a b", b"lib", b"x.py"])
_BYTES = st.binary(min_size=1, max_size=12).map(lambda name: name.replace(b"/", b"_").replace(b"\0", b"0"))
_WIDE = st.text(min_size=1, max_size=6).map(lambda name: name.encode("utf-8", "surrogatepass")).map(
    lambda name: name.replace(b"/", b"_").replace(b"\0", b"0")
)  # fmt: skip
_LONG = st.sampled_from([b"n" * 99, b"n" * 100, b"n" * 101, b"m" * 255])
_NAME = st.one_of(_PLAIN, _PLAIN, _PLAIN, _BYTES, _WIDE, _LONG).filter(
    lambda name: name not in (b".", b"..") and not is_git(name)
)
_PATH = st.lists(_NAME, min_size=1, max_size=4).map(b"/".join)
_TARGET = st.binary(min_size=1, max_size=150).map(lambda target: target.replace(b"\0", b"0"))
_FILE = st.builds(Entry, st.sampled_from([REGULAR, EXECUTABLE]), st.binary(max_size=40))
_ENTRY = st.one_of(_FILE, _FILE, st.builds(Entry, st.just(LINK), _TARGET))

_ITS_NAMES = [b".git", b".GIT", b".git ", b".git.", b".git...", b"git~1", b"GIT~1 ."]
_ITS_NAMES += [b".git:x", b".git::$DATA", b".git. ::$INDEX", b".git\\x", b".git \\x"]
_LIKE_IT = [
    b".gitignore",
    b".gitattributes",
    b".gitmodules",
    b".gitx",
    b"git",
    b".git-x",
    b"x.git",
    b".git~1",
    b"git~2",
]
_DISLIKED = [b".g\xe2\x80\x8cit", b"git~10", b"a\\b", b"con", b"..x", b"...", b"gitmod~1", b"\xed\xa0\x80", b"a:b"]


def _tree(rows: list[tuple[bytes, Entry]]) -> dict[bytes, Entry]:
    """The rows one over the other, so that no path is a file and a folder at once."""
    tree: dict[bytes, Entry] = {}
    for path, entry in rows:
        if entry.mode != LINK or path.rpartition(b"/")[2].lower() != b".gitmodules":
            tree = lay(tree, {path: entry})
    return tree


TREES = st.lists(st.tuples(_PATH, _ENTRY), max_size=12).map(_tree)
QUICK = settings(max_examples=200, deadline=None)
WITH_GIT = settings(max_examples=25, deadline=None)


@pytest.fixture(scope="module")
def mktree() -> Path:
    """A repository of git's own making, for hashing."""
    folder = Path(tempfile.mkdtemp())
    subprocess.run(["git", "init", "-q", "--bare", str(folder)], check=True)
    return folder


def _git(folder: Path, *words: str, data: bytes = b"") -> bytes:
    done = subprocess.run(["git", "--git-dir", str(folder), *words], input=data, capture_output=True, check=True)
    return done.stdout.strip()


def _by_mktree(folder: Path, tree: dict[bytes, Entry]) -> str:
    """The tree's id as `hash-object` and `mktree` compute it, level by level."""
    rows, below = [], dict[bytes, dict[bytes, Entry]]()
    for path, entry in tree.items():
        head, slash, tail = path.partition(b"/")
        if slash:
            below.setdefault(head, {})[tail] = entry
        else:
            blob = _git(folder, "hash-object", "-w", "--stdin", data=entry.data)
            rows.append(entry.mode.encode() + b" blob " + blob + b"\t" + head)
    for head, inner in below.items():
        rows.append(b"040000 tree " + _by_mktree(folder, inner).encode() + b"\t" + head)
    return _git(folder, "mktree", "-z", data=b"".join(row + b"\0" for row in rows)).decode()


@settings(max_examples=10, deadline=None)
@given(tree=st.lists(st.tuples(_PATH, _ENTRY), max_size=4).map(_tree))
def test_the_id_is_the_one_that_git_computes(mktree: Path, tree: dict[bytes, Entry]) -> None:
    assert tree_id(tree) == _by_mktree(mktree, tree)


def test_git_sorts_folders_as_if_they_ended_in_a_slash(mktree: Path) -> None:
    tree = {path: Entry(REGULAR, path) for path in (b"a/x", b"a.b", b"a-b", b"a0", b"ab/c", b"a b", b"a\xff", b"a\x01")}
    assert tree_id(tree) == _by_mktree(mktree, tree)


@WITH_GIT
@given(tree=TREES)
def test_what_was_put_is_got(store: ObjectStore, tree: dict[bytes, Entry]) -> None:
    name = store.put(tree)
    assert name == tree_id(tree)
    assert store.get(name) == tree


@QUICK
@given(tree=TREES)
def test_a_tar_is_read_back(tree: dict[bytes, Entry]) -> None:
    assert from_tar(to_tar(tree)) == (tree, [])


@QUICK
@given(tree=TREES)
def test_a_tar_is_a_function_of_the_tree(tree: dict[bytes, Entry]) -> None:
    assert to_tar(tree) == to_tar(dict(reversed(tree.items())))


@QUICK
@given(a=TREES, b=TREES)
def test_changes_lead_from_one_to_the_other(a: dict[bytes, Entry], b: dict[bytes, Entry]) -> None:
    assert apply(a, changes(a, b)) == b


@QUICK
@given(a=TREES, b=TREES)
def test_any_order_of_changes_will_do(a: dict[bytes, Entry], b: dict[bytes, Entry]) -> None:
    assert apply(a, reversed(changes(a, b))) == b


@QUICK
@given(a=TREES, b=TREES)
def test_a_tree_laid_over_another_is_a_tree_with_all_of_it(a: dict[bytes, Entry], b: dict[bytes, Entry]) -> None:
    both = lay(a, b)
    assert both.items() >= b.items()
    assert both.keys() <= a.keys() | b.keys()
    folders = {path[:i] for path in both for i, char in enumerate(path) if char == ord("/")}
    assert not folders & both.keys()


@QUICK
@given(tree=TREES)
def test_no_change_is_no_change(tree: dict[bytes, Entry]) -> None:
    assert changes(tree, dict(tree)) == []


def test_an_overlay_takes_the_place_of_what_an_agent_put_in_its_way() -> None:
    base = {b"src/pkg": Entry(REGULAR, b"a file"), b"docs/guide.md/x": Entry(REGULAR, b""), b"k": Entry(REGULAR, b"k")}
    laid = overlay(base, {"src/pkg/code.py": File(b"code"), "docs/guide.md": File(b"guide")})
    assert {path: entry.data for path, entry in laid.items()} == {
        b"src/pkg/code.py": b"code",
        b"docs/guide.md": b"guide",
        b"k": b"k",
    }


@pytest.mark.parametrize("name", _ITS_NAMES)
def test_a_repository_s_own_folder_by_any_name_is_refused(name: bytes) -> None:
    for path in (name, b"a/" + name + b"/config"):
        tree, dropped = from_tar(to_tar({path: Entry(REGULAR, b"x"), b"keep": Entry(REGULAR, b"y")}))
        assert tree == {b"keep": Entry(REGULAR, b"y")}
        assert [row.cap for row in dropped] == [False]


@pytest.mark.parametrize(
    "name", [b".gitignore", b".gitattributes", b".gitx", b"git", b".git-x", b"x.git", b".git~1", b"git~2"]
)
def test_names_that_only_look_like_it_are_files(store: ObjectStore, name: bytes) -> None:
    tree = {name: Entry(REGULAR, b"x"), b"below/" + name: Entry(EXECUTABLE, b"y")}
    assert store.session_tar(tree)
    assert from_tar(to_tar(tree)) == (tree, [])
    assert store.get(store.put(tree)) == tree


@pytest.mark.parametrize("mode", [REGULAR, EXECUTABLE, LINK])
@pytest.mark.parametrize(
    "name", [b".g\xe2\x80\x8cit", b"git~10", b"a\\b", b"con", b"..x", b"...", b"gitmod~1", b"\xed\xa0\x80"]
)
def test_a_name_that_another_system_dislikes_can_start_a_session(store: ObjectStore, name: bytes, mode: str) -> None:
    tree = {b"src/" + name: Entry(mode, b"x")}
    assert store.get(store.put(tree)) == tree
    assert store.session_tar(tree)


def test_a_link_that_no_git_would_take_is_refused(store: ObjectStore) -> None:
    tree, dropped = from_tar(to_tar({b"a/.gitmodules": Entry(LINK, b"x"), b"b": Entry(REGULAR, b"y")}))
    assert tree == {b"b": Entry(REGULAR, b"y")}
    assert [(row.path, row.cap) for row in dropped] == [("a/.gitmodules", False)]
    assert store.session_tar(tree)


def test_many_files_are_applied_at_once() -> None:
    """Quadratic work over a tree at its limit would hold the run up for minutes."""
    base = {b"src/%d/x" % n: Entry(REGULAR, b"x") for n in range(10_000)}
    new = {b"src/%d" % n: Entry(REGULAR, b"y") for n in range(10_000)}
    assert apply(base, changes(base, new)) == new
