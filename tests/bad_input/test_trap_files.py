"""Broken trap, fixture and oracle files: the message names the file and the line or key, and nothing is begun."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..command import dreambench, installed
from .conftest import Place, fingerprint, refused


@dataclass(frozen=True)
class Case:
    """A way to break the mini trap, and what the message must hold."""

    name: str
    damage: Callable[[Place], object]
    says: tuple[str, ...]
    words: tuple[str, ...] = ()


def hosted(more: str) -> Callable[[Place], object]:
    text = 'schema = 1\nname = "mini"\ntitle = "t"\ntests = ["true"]\npackage = "demo"\nversion = "1.0"\n'
    return lambda p: p.fixture.write_text(f'{text}filename = "demo-1.0.tar.gz"\n{more}')


def toml(old: str, new: str) -> Callable[[Place], object]:
    return lambda p: p.edit(p.trap / "trap.toml", old, new)


def file(name: str, old: str, new: str) -> Callable[[Place], object]:
    return lambda p: p.edit(p.trap / name, old, new)


ROLES = 'roles = { e1 = "superseded"'
CASES = [
    Case("syntax", toml("clean_start = false", "clean_start = nay"), ("c1/label/trap.toml", "line 10")),
    Case("unknown key", toml('title = "The', 'titel = "x"\ntitle = "The'), ("trap.toml", "titel")),
    Case("missing key", toml('title = "The box mark"\n', ""), ("trap.toml", "title", "required")),
    Case("unknown role", toml(ROLES, 'roles = { e1 = "boss"'), ("trap.toml", "history.0.roles.e1", "'governing'")),
    Case("role of nothing", toml(ROLES, 'roles = { e9 = "superseded"'), ("trap.toml", "history given", "e9")),
    Case("unknown fact", toml('carries = ["mark"]', 'carries = ["marc"]'), ("trap.toml", "event e2", "'marc'")),
    Case("schema", toml("schema = 1", "schema = 2"), ("trap.toml", "schema")),
    Case("not utf-8", lambda p: (p.trap / "trap.toml").write_bytes(b'id = "\xff"'), ("trap.toml", "utf-8")),
    Case("missing event", lambda p: (p.trap / "e2.md").unlink(), ("c1/label/e2.md", "No such file")),
    Case("missing playbook", lambda p: (p.trap / "playbook.py").unlink(), ("playbook.py", "No such file")),
    Case("broken playbook", file("playbook.py", "def s2(", "def s2((("), ("playbook.py:5",)),
    Case("broken oracle", lambda p: _oracle(p).write_text("x = 1\nif\n"), ("c1/label/oracle.py:2",)),
    Case("missing oracle", lambda p: _oracle(p).unlink(), ("c1/label/oracle.py", "No such file")),
    Case("broken expectations", lambda p: _expect(p).write_text("solution = 3\n"), ("expect.toml",)),
    Case("slot", file("e2.md", "<< mark >>", "<< marc >>"), ("c1/label/e2.md:4", "'marc'")),
    Case("slot in a branch", file("e1.md", "The", "<<% if 0 %>><< o >><<% endif %>>"), ("e1.md:4", "'o'")),
    Case("slot of a note", file("e2.md", "<< refs.e1 >>", "<< refs.e7 >>"), ("c1/label/e2.md:4", "refs.e7")),
    Case("slot syntax", file("e1.md", "<< old_mark >>", "<< old_mark"), ("c1/label/e1.md:4",)),
    Case("slot type", file("e1.md", "<< old_mark >>", "<< old_mark - 1 >>"), ("c1/label/e1.md:4",)),
    Case("prompt bytes", lambda p: (p.trap / "s2.md").write_bytes(b"one\n\xff"), ("s2.md:2", "not UTF-8")),
    Case("id", toml('id = "c1_label"', 'id = "c1_lable"'), ("trap.toml", "id", "c1_label")),
    Case("construct", toml('construct = "C1"', 'construct = "C2"'), ("trap.toml", "construct", "c1/")),
    Case("stray folder", lambda p: (p.root / "traps" / "c1").rename(p.root / "traps" / "cx"), ("cx/label/trap.toml",)),
    Case("unknown fixture", toml('fixture = "mini"', 'fixture = "maxi"'), ("fixtures/maxi/fixture.toml", "no such")),
    Case("no hash", hosted(""), ("fixtures/mini/fixture.toml", "sha256")),
    Case("no hash at all", hosted('sha256 = "abc"'), ("fixtures/mini/fixture.toml", "'abc'", "64")),
    Case("unknown trap", lambda p: None, ("traps: unknown c1_nothing", "c1_label"), ("traps=c1_nothing",)),
    Case("no traps", lambda p: None, ("/nowhere", "no such traps folder"), ("traps_dir=/nowhere",)),
]


def _oracle(place: Place) -> Path:
    return place.root / "oracles" / "c1" / "label" / "oracle.py"


def _expect(place: Place) -> Path:
    return _oracle(place).with_name("expect.toml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_broken_trap_is_named_before_anything_is_begun(case: Case, place: Place) -> None:
    case.damage(place)
    refused(dreambench("run", *place.words, *case.words, "--out", place.out), 1, *case.says)
    assert not place.out.exists()


def test_check_calls_a_broken_trap_inadmissible(place: Place) -> None:
    place.edit(place.trap / "e2.md", "<< mark >>", "<< marc >>")
    words = ("--all", "--traps", place.root / "traps", "--oracles", place.root / "oracles")
    refused(dreambench("trap", "check", *words), 3, "c1/label/e2.md:4", "'marc'")


def test_an_archive_with_another_hash_is_not_used(place: Place) -> None:
    page = place.root / "simple" / "demo"
    page.mkdir(parents=True)
    with tarfile.open(page / "demo-1.0.tar.gz", "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("demo-1.0/demo.py"), io.BytesIO(b""))
    (page / "index.html").write_text('<a href="demo-1.0.tar.gz">demo-1.0.tar.gz</a>', encoding="utf-8")
    hosted(f'sha256 = "{"f" * 64}"\n')(place)
    cache = place.root / "cache"
    env = {"PIP_INDEX_URL": (place.root / "simple").as_uri()}
    done = dreambench("run", *place.words, f"cache={cache}", "--out", place.out, env=env)
    refused(done, 1, "fixtures/mini/fixture.toml", "the pin says " + "f" * 64)
    assert not place.out.exists()
    assert not [name for name in fingerprint(cache) if name.endswith(".gz")] if cache.exists() else True


def test_an_oracle_cannot_be_run_without_its_asserts(place: Place) -> None:
    done = installed("run", *place.words, "--out", place.out, env={"PYTHONOPTIMIZE": "1"})
    refused(done, 1, "python -O", "remedy")
    assert not place.out.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_named(place: Place) -> None:
    (place.trap / "e1.md").chmod(0)
    refused(dreambench("run", *place.words, "--out", place.out), 1, "e1.md", "Permission denied")
