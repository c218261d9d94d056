"""Whatever an agent does to its repository, the tree that is stored is the tree it left, and the delta is exact."""

from __future__ import annotations

import pytest

from harness.delta import Change, apply, changes
from harness.objects import ObjectStore
from harness.snapshot import Entry, tree_id

from .capture_cases import CASES, START, Case
from .conftest import Session


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_delta_is_exact(session: Session, store: ObjectStore, case: Case) -> None:
    done = session.run(START, case.script)
    assert done.result.exit == 0, done.result.stderr.decode("utf-8", "replace")
    assert not done.cut_short
    expected = case.expected()
    assert dict(done.tree) == expected
    assert done.tree_id == tree_id(expected)
    assert store.get(done.tree_id) == expected
    found = changes(START, done.tree)
    assert {change.path: change.new for change in found} == _becomes(case)
    assert apply(START, found) == expected
    assert [_row(change) for change in found] == _diff_tree(store, store.put(START), done.tree_id)


def test_only_a_repository_s_own_folder_is_left_out(session: Session) -> None:
    done = session.run(START, "git init -q sub; echo x > sub/f")
    assert sorted(done.dropped) == ["/work/.git: .git", "/work/sub/.git: .git"]


def _becomes(case: Case) -> dict[bytes, Entry | None]:
    tree = case.expected()
    touched = {path: tree.get(path) for path in case.becomes}
    return {path: new for path, new in touched.items() if START.get(path) != new}


def _row(change: Change) -> tuple[bytes, str, str, str, str]:
    old, new = change.old, change.new
    none, absent = "0" * 40, "000000"
    return (
        change.path,
        old.mode if old else absent,
        new.mode if new else absent,
        old.blob if old else none,
        new.blob if new else none,
    )


def _diff_tree(store: ObjectStore, old: str, new: str) -> list[tuple[bytes, str, str, str, str]]:
    """git's own list of the differences of two trees, in path order."""
    fields = store._git("diff-tree", "-r", "-z", "--no-renames", old, new).split(b"\0")[:-1]
    rows = []
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        before, after, old_blob, new_blob, _ = head.decode().removeprefix(":").split()
        rows.append((path, before, after, old_blob, new_blob))
    return sorted(rows)
