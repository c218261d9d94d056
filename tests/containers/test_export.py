"""Exports of hostile trees, on a real file system: nothing followed, nothing blocked on, every cap told."""

import io
import os
import socket
import tarfile
from pathlib import Path

import pytest

from containers.export import MAX_DEPTH, MAX_LISTED, Budget, export_bytes
from containers.sandbox import Limits
from containers.unpack import unpack


def roomy() -> Budget:
    return Budget.of(Limits())


def export(root: Path, budget: Budget | None = None) -> tuple[dict[str, tarfile.TarInfo], bytes, Budget]:
    budget = budget or roomy()
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        data = export_bytes(handle, budget)
    finally:
        os.close(handle)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {member.name: member for member in archive}, data, budget


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "a.py").write_text("a = 1\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o4711)
    return root


def test_ordinary_tree(tree: Path) -> None:
    members, data, budget = export(tree)
    assert list(members) == ["pkg", "pkg/a.py", "run.sh"]
    assert [oct(member.mode) for member in members.values()] == ["0o755", "0o644", "0o755"]
    assert {(m.mtime, m.uid, m.gid, m.uname) for m in members.values()} == {(0, 0, 0, "")}
    assert budget.all_dropped() == ()
    assert export(tree)[1] == data


def test_links_are_data(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    (tree / "out").symlink_to(tmp_path / "secret")
    (tree / "dir").symlink_to(tmp_path)
    (tree / "loop").symlink_to("loop")
    members, data, _ = export(tree)
    assert {name for name, member in members.items() if member.issym()} == {"out", "dir", "loop"}
    assert members["out"].linkname == str(tmp_path / "secret")
    assert b"outside" not in data


def test_what_never_travels(tree: Path, tmp_path: Path) -> None:
    os.mkfifo(tree / "fifo")
    (tree / ".git").mkdir()
    (tree / ".git" / "config").write_text("[core]")
    (tree / "pkg" / ".GIT").write_text("gitdir: elsewhere")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(tree)
        server.bind("sock")
        os.chdir(tmp_path)
        members, _, budget = export(tree)
    assert set(members) == {"pkg", "pkg/a.py", "run.sh"}
    assert {(entry.path, entry.why) for entry in budget.all_dropped()} == {
        ("fifo", "FIFO"),
        (".git", ".git"),
        ("pkg/.GIT", ".git"),
        ("sock", "socket"),
    }
    assert not any(entry.cap for entry in budget.all_dropped())


def test_sparse_terabyte_is_not_read(tree: Path) -> None:
    with (tree / "huge").open("wb") as file:
        file.truncate(1 << 40)
    members, _, budget = export(tree)
    assert "huge" not in members
    assert [(entry.path, entry.cap) for entry in budget.all_dropped()] == [("huge", True)]
    assert "1099511627776" in budget.all_dropped()[0].why


def test_total_is_bounded(tree: Path) -> None:
    for index in range(10):
        (tree / f"f{index}").write_bytes(b"x" * 1000)
    members, _, budget = export(tree, Budget(files=100, file=5000, total=4500))
    assert sum(member.size for member in members.values()) <= 4500
    assert all(entry.cap for entry in budget.all_dropped())
    assert len(budget.all_dropped()) == 6


def test_entries_are_bounded(tree: Path) -> None:
    for index in range(50):
        (tree / f"f{index:02}").touch()
    members, _, budget = export(tree, Budget(files=20, file=10, total=1000))
    assert len(members) == 20
    assert [(entry.why, entry.cap) for entry in budget.all_dropped()] == [("too many entries", True)]


def test_one_budget_for_several_trees(tree: Path) -> None:
    budget = Budget(files=4, file=100, total=1000)
    assert len(export(tree, budget)[0]) == 3
    assert len(export(tree, budget)[0]) == 1
    assert budget.all_dropped()[0].cap


def test_depth_is_bounded(tmp_path: Path) -> None:
    root = tmp_path / "deep"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _ in range(MAX_DEPTH + 20):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    members, _, budget = export(root)
    assert len(members) == MAX_DEPTH
    assert [entry.cap for entry in budget.all_dropped()] == [True]


def test_the_list_of_dropped_is_bounded(tmp_path: Path) -> None:
    for index in range(MAX_LISTED + 5):
        os.mkfifo(tmp_path / f"p{index:05}")
    (tmp_path / "zzz").write_bytes(b"x" * 20)
    _, _, budget = export(tmp_path, Budget(files=5000, file=10, total=100))
    dropped = budget.all_dropped()
    assert len(dropped) == MAX_LISTED + 2
    assert dropped[-1].why == "5 more entries not listed"
    assert dropped[-2].cap  # a cap is told even when the list is full


NAMES = [b"new\nline", b"\xff\xfe", "\u202egpj.py".encode(), b"-rf", b" ", "日本".encode(), b"x" * 200]


def test_strange_names_keep_their_bytes(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    for name in NAMES:
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(name)
    members, data, budget = export(root)
    assert {os.fsencode(name) for name in members} == set(NAMES)
    assert budget.all_dropped() == ()
    again = tmp_path / "again"
    again.mkdir()
    unpack(data, str(again))
    assert sorted(os.listdir(os.fsencode(again))) == sorted(NAMES)
    assert export(again)[1] == data


def test_dropped_paths_are_shown_as_text(tmp_path: Path) -> None:
    os.mkfifo(os.fsencode(tmp_path) + b"/\xffbad")
    assert export(tmp_path)[2].all_dropped()[0].path == "\\xffbad"
