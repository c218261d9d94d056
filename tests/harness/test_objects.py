"""Many diffs by one git: the same as one at a time, whatever the trees hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.objects import ObjectStore
from harness.snapshot import Entry

A, B = "a" * 40, "b" * 40
LINES = [
    f"{A} {B}",
    "diff --git a/x b/x",
    "index 0000000000000000000000000000000000000000..1111111111111111111111111111111111111111",
    "@@ -1 +1 @@",
    "--- a/x",
    "\\ No newline at end of file",
    "",
    f"\r{A} {B}\r",
    "\x0c\x1b[0m\u2028",
]
bodies = st.one_of(
    st.binary(max_size=60),
    st.lists(st.sampled_from(LINES), max_size=6).map(lambda found: "\n".join(found).encode()),
    st.lists(st.sampled_from(LINES), max_size=6).map(lambda found: "\n".join([*found, ""]).encode()),
)
names = st.sampled_from([b"x", f"{A} {B}".encode(), b"a\nb", f"a\n{A} {B}\n".encode(), b'q"\\', b"d/\xff\xfe", b"\t"])
trees = st.dictionaries(names, st.builds(Entry, st.sampled_from(["100644", "100755", "120000"]), bodies), max_size=4)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    return ObjectStore(tmp_path_factory.mktemp("diffs") / "objects.git")


@settings(max_examples=25, deadline=None)
@given(snapshots=st.lists(trees, min_size=2, max_size=4))
def test_a_batch_is_each_diff_by_itself(store: ObjectStore, snapshots: list[dict[bytes, Entry]]) -> None:
    ids = [store.put(snapshot) for snapshot in snapshots]
    pairs = [(old, new) for old in ids for new in ids]
    assert store.diffs(pairs) == {pair: store.diff(*pair) for pair in pairs}


def test_what_looks_like_a_head_cuts_nothing(store: ObjectStore) -> None:
    old = store.put({b"x": Entry("100644", b"1\n")})
    forged = f"{old} {A}\n{A} {B}\n".encode()
    new = store.put({b"x": Entry("100644", b"1\n" + forged), f"{A} {B}\n".encode(): Entry("100644", b"\0" + forged)})
    found = store.diffs([(old, new), (new, old)])
    assert set(found) == {(old, new), (new, old)}
    assert found[old, new] == store.diff(old, new)
    assert f"\n+{A} {B}\n".encode() in found[old, new]
    assert b"GIT binary patch" in found[old, new]


def test_pictures_are_cut_where_it_was_said(store: ObjectStore) -> None:
    old, new = store.put({}), store.put({b"x": Entry("100644", b"1\n" * 500)})
    whole = store.diff(old, new)
    assert store.diffs([(old, new)], most=100) == {(old, new): whole[:100]}
    assert store.diffs([(old, new)], most=len(whole)) == {(old, new): whole}
    assert store.diffs([]) == {}


def test_what_is_missing_takes_nothing_else_along() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = ObjectStore(Path(folder) / "objects.git")
        good = [store.put({b"x": Entry("100644", f"{n}\n".encode())}) for n in range(3)]
        lost = store.put({b"x": Entry("100644", b"lost\n")})
        bad = store.put({b"y": Entry("100644", b"bad\n")})
        for path in (store.path / "objects").glob("??/*"):
            name = path.parent.name + path.name
            if name == lost or name in store._git("rev-parse", f"{bad}:y").decode():  # a tree, and the file of another
                path.unlink()
        pairs = [(good[0], lost), (good[0], good[1]), (good[0], bad), (good[1], good[2]), ("", good[0]), (A, B)]
        found = store.diffs(pairs)
        assert set(found) == {(good[0], good[1]), (good[1], good[2])}
        assert found[good[1], good[2]] == store.diff(good[1], good[2])
