"""Trees, traps and fixtures of a bundle that lead out of their place, never end, or ask for what is elsewhere."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from .bundle_kit import Edit, Fold, refused
from .edits_objects import tree
from .hostile_kit import FIXTURE, HOSTED, blown

TRAP = "traps/c1/label/trap.toml"

# -- trees ---------------------------------------------------------------------------------------------------------

OUT = "leads out of a tree"


@pytest.mark.parametrize(
    ("path", "mode", "told"),
    [
        (".git/hooks/post-checkout", "100755", OUT),
        ("src/.git/config", "100644", OUT),
        (".GIT/config", "100644", OUT),
        (".git ", "100644", OUT),
        (".git.", "100644", OUT),
        (".git . ./x", "100644", OUT),
        ("git~1/hooks/x", "100644", OUT),
        (".git::$INDEX_ALLOCATION/x", "100644", OUT),
        (".git\\hooks\\x", "100644", OUT),
        ("..", "100644", OUT),
        ("a/../../x", "100644", OUT),
        ("/etc/passwd", "100644", OUT),
        ("a//b", "100644", OUT),
        ("./a", "100644", OUT),
        ("a/", "100644", OUT),
        ("", "100644", OUT),
        ("a\0b", "100644", OUT),
        (".gitmodules", "120000", "'.gitmodules' is a link"),
        ("src/.GITmodules", "120000", "'src/.GITmodules' is a link"),
        ("a", "160000", "Input should be"),  # a repository within
        ("a", "040000", "Input should be"),
        ("a", "100664", "Input should be"),
        ("a" * 5000, "100644", "too long or too deep"),
        ("/".join("a" * 101), "100644", "too long or too deep"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_path_or_mode_that_no_tree_has(path: str, mode: str, told: str, fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    tree((path, mode, b"x"))(edit)
    found = refused(edit.resigned(tmp_path / "x.dbf"))
    assert found.keys() == {"contents"}
    assert told in found["contents"]
    assert "sealed/trees.jsonl" in found["contents"]


def test_a_tree_that_contradicts_itself(fold: Fold, tmp_path: Path) -> None:
    cases = [
        ((("a", "100644", b"x"), ("a", "100755", b"y")), "a path or a tree is there twice"),
        ((("a", "100644", b"x"), ("a/b", "100644", b"y")), "a path is a file and a folder"),
        ((("a/b/c", "100644", b"x"), ("a/b", "120000", b"/etc")), "a path is a file and a folder"),
        ((("a", "100644", b"x"),), "has another id than its files make"),
    ]
    for number, (files, told) in enumerate(cases):
        edit = Edit(fold)
        tree(*files)(edit)
        assert told in refused(edit.resigned(tmp_path / f"{number}.dbf"))["contents"]


# -- traps and fixtures --------------------------------------------------------------------------------------------


def replaced(edit: Edit, old: str, new: str, path: str = TRAP) -> None:
    data = edit.of_source(path)
    assert old.encode() in data
    edit.source(path, data.replace(old.encode(), new.encode(), 1))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('prompt = "s1.md"', 'prompt = "/dev/zero"', "session.0.prompt: String should match pattern"),
        (
            'prompt = "s3.md"',
            'prompt = "../../../../../../etc/passwd"',
            "session.2.prompt: String should match pattern",
        ),
        ('text = "e1.md"', 'text = "/proc/self/environ"', "event.0.text: String should match pattern"),
        ('fixture = "mini"', 'fixture = "../c1/label"', "fixture: String should match pattern"),
        ('fixture = "mini"', 'fixture = "/root"', "fixture: String should match pattern"),
        ('fixture = "mini"', 'fixture = ".."', "fixture: String should match pattern"),
        ('allow = ["src/**"]', f'allow = ["{"**/" * 30}x"]', "could be matched for ever"),
        ('paths = ["src/mini/boxes.py"]', f'paths = ["{"*a" * 30}"]', "could be matched for ever"),
        ('authors = ["human"]', f"authors = {'[' * 5000}{']' * 5000}", "nested too deeply"),
        ('title = "', "a" + ".a" * 5000 + ' = 1\ntitle = "', "larger or deeper than any that we write"),
        ('title = "', "#" * 300_000 + '\ntitle = "', "larger or deeper than any that we write"),
        ('id = "c1_label"', 'id = "c1_other"', "does not fit its folder"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_trap_that_leads_out_or_never_ends(old: str, new: str, told: str, fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    replaced(edit, old, new)
    found = refused(edit.resigned(tmp_path / "x.dbf"))
    assert told in found["contents"], found


def test_an_archive_that_is_a_bomb_is_refused(fold: Fold, tmp_path: Path) -> None:
    archive = blown(300, 31)
    digest = hashlib.sha256(archive).hexdigest()
    edit = Edit(fold)
    edit.source(FIXTURE, HOSTED.format(digest=digest, name="x-1.0.tar.gz").encode())
    edit.source(f"cache/sha256/{digest}/x-1.0.tar.gz", archive)
    found = refused(edit.resigned(tmp_path / "x.dbf"))
    assert "x-1.0.tar.gz refused: inflates to more than 268435456 bytes" in found["contents"]


@pytest.mark.parametrize(
    ("digest", "name"), [("../../../../../../../../etc", "passwd"), ("0" * 64, "../../../../../../../../etc/passwd")]
)
def test_an_archive_is_one_of_the_bundle(digest: str, name: str, fold: Fold, tmp_path: Path) -> None:
    edit = Edit(fold)
    edit.source(FIXTURE, HOSTED.format(digest=digest, name=name).encode())
    told = refused(edit.resigned(tmp_path / "x.dbf"))
    assert told["contents"] == "sources: the archive of fixture mini is missing"
