"""The decorators, the facts, and that nothing is registered behind an author's back."""

from __future__ import annotations

import types
from pathlib import Path

import pytest

from oracles.contract import Facts, OracleFormError, Rules, SubjectTrouble, collect, derives, forbids, requires
from oracles.solutions import Expectation, SolutionError, load_expectations, load_overlay


def _rules(source: str) -> Rules:
    module = types.ModuleType("some_oracle")
    exec(source, module.__dict__)
    return collect(vars(module))


HEAD = "from oracles.contract import *\n"


def test_collect_keeps_the_order_of_the_file() -> None:
    rules = _rules(
        HEAD + "@requires('one')\ndef b(s, f): pass\n@forbids('two', when='use')\ndef a(s, f): return False\n"
        "@requires('three', when='abstain')\ndef c(s, f): pass\ndef helper(): pass\n"
    )
    assert [(check.name, check.kind, check.when) for check in rules.checks] == [
        ("b", "requires", None),
        ("a", "forbids", "use"),
        ("c", "requires", "abstain"),
    ]
    assert [check.name for check in rules.applicable("use")] == ["b", "a"]
    assert [check.name for check in rules.applicable("abstain")] == ["b", "c"]


def test_two_oracles_do_not_see_each_other() -> None:
    one = _rules(HEAD + "@requires('x')\ndef x(s, f): pass\n")
    two = _rules(HEAD + "@requires('y')\ndef y(s, f): pass\n")
    assert [check.name for check in one.checks + two.checks] == ["x", "y"]


def test_derived_facts_build_on_each_other() -> None:
    rules = _rules(HEAD + "@derives('b')\ndef b(f): return f.a * 2\n@derives('c')\ndef c(f): return f.b + f['a']\n")
    facts, derived = rules.complete({"a": "x"})
    assert derived == {"b": "xx", "c": "xxx"}
    assert dict(facts) == {"a": "x", "b": "xx", "c": "xxx"}


@pytest.mark.parametrize(
    "source",
    [
        "@requires('')\ndef a(s, f): pass\n",
        "@requires('x', when='never')\ndef a(s, f): pass\n",
        "@requires\ndef a(s, f): pass\n",
        "@requires('x')\ndef a(s, f): pass\n@forbids('x')\ndef b(s, f): pass\n",
        "@requires('x')\ndef a(s, f): pass\nb = a\n",
        "@derives('x')\ndef a(f): pass\n@derives('x')\ndef b(f): pass\n",
    ],
)
def test_bad_form_is_refused(source: str) -> None:
    with pytest.raises(OracleFormError):
        _rules(HEAD + source)


def test_decorators_return_the_function_itself() -> None:
    def check(subject: object, facts: object) -> bool:
        return True

    assert requires("r")(check) is check
    assert forbids("f")(check) is check
    assert derives("d")(check) is check


def test_facts_are_read_by_name_and_cannot_be_changed() -> None:
    facts = Facts({"a": "1"})
    assert facts.a == facts["a"] == "1"
    assert list(facts) == ["a"]
    assert len(facts) == 1
    with pytest.raises(AttributeError, match="no fact 'b'"):
        facts.b  # noqa: B018
    with pytest.raises(AttributeError):
        facts.a = "2"


def test_trouble_is_an_assertion() -> None:
    assert issubclass(SubjectTrouble, AssertionError)


GOOD = """
schema = 1
[[solution]]
name = "reference"
outcome = "pass"
[[solution]]
name = "stale"
history = "given"
outcome = "trapped"
remove = ["src/old.py"]
[[solution]]
name = "nothing"
outcome = "failed"
"""


def _folder(tmp_path: Path, text: str = GOOD) -> Path:
    (tmp_path / "expect.toml").write_text(text)
    for name in ("reference", "stale"):
        target = tmp_path / "solutions" / name / "src"
        target.mkdir(parents=True)
        (target / "calc.py").write_bytes(b"x\r\n")
    (tmp_path / "solutions/reference/run.sh").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "solutions/reference/run.sh").chmod(0o755)
    return tmp_path


def test_expectations_and_overlays(tmp_path: Path) -> None:
    rows = load_expectations(_folder(tmp_path))
    assert rows == (
        Expectation("reference", None, "pass", ()),
        Expectation("stale", "given", "trapped", ("src/old.py",)),
        Expectation("nothing", None, "failed", ()),
    )
    assert [row.automatic for row in rows] == [False, False, True]
    overlay = load_overlay(tmp_path, rows[0])
    assert {path: (file.data, file.executable) for path, file in overlay.items()} == {
        "run.sh": (b"#!/bin/sh\n", True),
        "src/calc.py": (b"x\r\n", False),
    }
    with pytest.raises(SolutionError):
        load_overlay(tmp_path, rows[2])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema = 1", "schema = 2"),
        ("schema = 1", ""),
        ('"trapped"', '"invalid"'),
        ('"src/old.py"', '"../old.py"'),
        ('"src/old.py"', '"/old.py"'),
        ('"src/old.py"', '"src//old.py"'),
        ('"stale"', '"missing"'),
        ('"stale"', '"reference"'),
        ('"stale"', '"../stale"'),
        ('"nothing"', '"other"'),
        ('outcome = "pass"', 'outcome = "failed"'),
        ('name = "nothing"', 'name = "nothing"\nextra = 1'),
        ('name = "nothing"', 'name = "nothing"\nremove = ["a"]'),
        ("[[solution]]", "[[solution"),
    ],
)
def test_a_wrong_expect_file_is_refused(tmp_path: Path, old: str, new: str) -> None:
    assert old in GOOD
    with pytest.raises(SolutionError):
        load_expectations(_folder(tmp_path, GOOD.replace(old, new)))


def test_links_in_a_solution_are_refused(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "solutions/reference/link").symlink_to("/etc/passwd")
    with pytest.raises(SolutionError):
        load_overlay(folder, load_expectations(folder)[0])
