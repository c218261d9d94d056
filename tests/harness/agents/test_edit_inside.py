"""How the agent of one call finds files in a task, shows them, and reads them from an answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.inside.edit import choose, messages, write
from harness.agents.inside.listing import Unusable, fence_for, read, show
from harness.agents.inside.named import named_files, new_files, task_of

HEADING = "# Notes"
PATHS = st.from_regex(r"(?:[a-z_][a-z_0-9-]{0,7}/){0,2}[a-z_0-9][a-z_0-9-]{0,7}\.[a-z]{1,3}", fullmatch=True)
TEXTS = st.text(st.one_of(st.characters(codec="utf-8", exclude_characters="\r"), st.sampled_from("`~\n ")), max_size=60)


@given(st.dictionaries(PATHS, TEXTS, min_size=1, max_size=4))
def test_what_is_shown_is_read_back(files: dict[str, str]) -> None:
    fence = fence_for(files.values())
    answer = "\n".join(["Here you are:", *(show(path, text, fence) for path, text in files.items())])
    ended = {path: text if not text or text.endswith("\n") else text + "\n" for path, text in files.items()}
    assert read(answer, tuple(files)) == ended
    assert read(answer.replace("\n", "\r\n"), ()) == ended


@given(st.text("`~\n a./:\\#*-xé1", max_size=80), st.lists(PATHS, max_size=2))
def test_any_text_is_files_of_the_tree_or_unusable(answer: str, shown: list[str]) -> None:
    try:
        found = read(answer, shown)
    except Unusable:
        return
    assert found
    for path in found:
        parts = path.split("/")
        assert not {"", ".", ".."} & set(parts)
        assert ".git" not in [part.lower() for part in parts]


BLOCK = "{}\n```{}\nx = 1\n```\n"
LINES = [
    "src/a.py",
    "./src/a.py",
    "**src/a.py**",
    "### `src/a.py`",
    "File: src/a.py",
    "file name: `src/a.py`:",
    "2. src/a.py",
    "- **`src/a.py`**",
    "Here is the new text of `src/a.py`, complete:",
    "The changed src/a.py:",
    "'src/a.py':\n",
]


@pytest.mark.parametrize("line", LINES)
def test_ways_to_name_a_file(line: str) -> None:
    assert read(BLOCK.format(line, "python"), ("src/a.py", "src/b.py")) == {"src/a.py": "x = 1\n"}


@pytest.mark.parametrize("info", ["python src/a.py", "python:src/a.py", "src/a.py", " src/a.py"])
def test_a_file_named_behind_the_fence(info: str) -> None:
    assert read(BLOCK.format("Changed:", info), ()) == {"src/a.py": "x = 1\n"}


@pytest.mark.parametrize("name", ["__init__.py", "file/x.py", "-x.py", ".github/a.yml", "Makefile.am"])
def test_names_are_kept_as_they_are(name: str) -> None:
    assert read(BLOCK.format(name, ""), ("c.py", "d.py")) == {name: "x = 1\n"}


def test_a_block_without_a_name_is_the_one_file_that_was_shown() -> None:
    answer = BLOCK.format("Here is the answer:", "python")
    assert read(answer, ("a.py",)) == {"a.py": "x = 1\n"}
    for shown in ((), ("a.py", "b.py")):
        with pytest.raises(Unusable, match=r"^the answer holds no file$"):
            read(answer, shown)
    with pytest.raises(Unusable, match=r"^the answer holds no file$"):
        read(BLOCK.format("Run it:", "bash"), ("a.py",))
    assert read(answer + BLOCK.format("b.py", ""), ("a.py",)) == {"b.py": "x = 1\n"}


def test_the_later_text_of_a_file_holds_and_longer_fences_hold_shorter_ones() -> None:
    assert read("a.py\n```\n1\n```\na.py\n```\n2\n```\n", ()) == {"a.py": "2\n"}
    assert read("a.md\n````\n```\nx\n```\n````\n", ()) == {"a.md": "```\nx\n```\n"}
    assert read("a.md\n~~~\n```\n~~~\n", ()) == {"a.md": "```\n"}


UNUSABLE = [
    ("", "the answer is empty"),
    (" \n", "the answer is empty"),
    ("I cannot do that.", "the answer holds no file"),
    ("a.py\n```python\nx = 1\n", "the answer ends in the middle of a file"),
    (BLOCK.format("../a.py", ""), "the answer names a file outside of the tree: ../a.py"),
    (BLOCK.format("a/../../b.py", ""), "the answer names a file outside of the tree: a/../../b.py"),
    (BLOCK.format("/etc/passwd", ""), "the answer names a file outside of the tree: /etc/passwd"),
    (BLOCK.format("`~/.profile`", ""), "the answer names a file outside of the tree: ~/.profile"),
    (BLOCK.format(".git/config", ""), "the answer names a file of the repository itself: .git/config"),
    (BLOCK.format("src/.GIT/hooks/x", ""), "the answer names a file of the repository itself: src/.GIT/hooks/x"),
    (BLOCK.format("`a\\b.py`", ""), "the answer names a file that cannot be: a\\b.py"),
    (BLOCK.format("a/" + "b" * 201, ""), "the answer names a file that cannot be: a/" + "b" * 98),
    (BLOCK.format("good.py", "") + BLOCK.format("/bad.py", ""), "the answer names a file outside of the tree: /bad.py"),
]


@pytest.mark.parametrize(("answer", "reason"), UNUSABLE)
def test_what_is_not_taken(answer: str, reason: str) -> None:
    with pytest.raises(Unusable) as caught:
        read(answer, ("a.py",))
    assert str(caught.value) == reason


TREE: Mapping[str, str] = {
    "README.md": "about\n",
    "src/pack/__init__.py": "from .rules import check\n",
    "src/pack/rules.py": "LIMIT = 3\n\n\ndef check(order):\n    return True\n",
    "src/pack/forms.py": "class Form:\n    def fill(self):\n        pass\n",
    "tests/test_rules.py": "def test_check():\n    pass\n",
    "tests/test_more.py": "import os.path, pack.rules\nfrom pack.forms import Form\nfrom pack import rules as r\n",
}
TASKS = [
    ("Change `src/pack/rules.py`, please.", ["src/pack/rules.py"]),
    ("In ./src/pack/forms.py:12 and src/pack/rules.py.", ["src/pack/forms.py", "src/pack/rules.py"]),
    ("A path with blanks is none: path/to/a b.py", []),
    ("`tests/test_rules.py` fails; see README.md", ["README.md", "tests/test_rules.py"]),
    ("A new src/pack/more.py beside (rules.py).", ["src/pack/rules.py"]),
    ("The module `pack.forms` is wrong, tests/test_rules.py.", ["src/pack/forms.py", "tests/test_rules.py"]),
    ("Export it from `pack.rules` and src.pack.", ["src/pack/rules.py", "src/pack/__init__.py"]),
    ("`Form.fill(order)` forgets the `check`.", ["src/pack/forms.py", "src/pack/rules.py"]),
    ("Make `tests/test_more.py` pass.", ["src/pack/rules.py", "src/pack/forms.py", "tests/test_more.py"]),
    (
        "Make tests/test_more.py pass in README.md.",
        [*("README.md", "src/pack/rules.py", "src/pack/forms.py"), "tests/test_more.py"],
    ),
    ("Nothing of check, Form or fill is quoted.", []),
    ("`src/pack` and `.git/config` and `../outside.py` and `src/pack/link.py`", []),
]


def plant(root: Path) -> Path:
    for name, text in {**TREE, ".git/config": "[core]\n", "src/pack/__pycache__/rules.py": "x\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "src/pack/link.py").symlink_to("rules.py")
    return root


@pytest.mark.parametrize(("task", "found"), TASKS)
def test_files_of_a_task(tmp_path: Path, task: str, found: list[str]) -> None:
    assert list(named_files(task, plant(tmp_path))) == found


def test_notes_name_no_files(tmp_path: Path) -> None:
    prompt = f"Mend src/pack/rules.py.\n\n{HEADING}\n\n[1] See src/pack/forms.py\n"
    assert task_of(prompt, HEADING) == "Mend src/pack/rules.py.\n\n"
    assert task_of(prompt, "") == task_of(prompt, "# Other") == prompt


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    plant(tmp_path)
    (tmp_path / "src/pack/rules.py").write_text("x" * 50)
    (tmp_path / "src/pack/data.bin").write_bytes(b"\xff\0")
    task = "src/pack/rules.py src/pack/data.bin README.md tests/test_rules.py"
    shown, left_out = choose(task, tmp_path, 30)
    assert (list(shown), left_out) == (["README.md"], ["src/pack/rules.py", "src/pack/data.bin", "tests/test_rules.py"])
    asked = messages(task, shown, left_out)[1]["content"]
    assert "Not shown, and not to be changed: src/pack/rules.py, src/pack/data.bin, tests/test_rules.py" in asked
    assert "\nREADME.md\n```\nabout\n```\n" in asked


def test_the_fence_is_longer_than_any_in_files_and_prompt() -> None:
    asked = messages("Use\n````\nx\n````\n", {"a.md": "```\n"})[1]["content"]
    assert "\na.md\n`````\n```\n`````\n" in asked
    assert "\na.md\n`````\n(the whole new text of a.md)\n`````\n" in asked


def test_the_form_names_a_file_that_is_to_be_written() -> None:
    shown = {"src/a.py": "A\n", "tests/test_a.py": "T\n"}
    for files, new, path in (
        (shown, ("src/new.py",), "src/new.py"),
        (shown, (), "src/a.py"),
        ({"tests/test_a.py": "T\n"}, (), "path/to/file.py"),
    ):
        asked = messages("Do it.", files, new=new)[1]["content"]
        assert f"\n{path}\n```\n(the whole new text of {path})\n```\n" in asked
        assert "\nNot shown, and not to be changed: tests/test_a.py\n" in asked
        assert "```\nT\n" not in asked
        assert ("Not there yet: src/new.py" in asked) == bool(new)


def test_tests_that_were_shown_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "test_a.py").write_text("old\n")
    shown = {"a.py": "x = 1\n", "test_a.py": "old\n"}
    done = write(tmp_path, {"a.py": "x = 2\n", "test_a.py": "new\n", "test_b.py": "more\n"}, shown)
    assert done == {"changed": ["a.py"], "added": ["test_b.py"], "same": [], "kept": ["test_a.py"]}
    assert [(tmp_path / name).read_text() for name in ("a.py", "test_a.py")] == ["x = 2\n", "old\n"]
    with pytest.raises(Unusable, match=r"^the answer holds no file but tests that stay as they are$"):
        write(tmp_path, {"test_a.py": "new\n"}, shown)


def test_new_files_of_a_task(tmp_path: Path) -> None:
    task = "`src/pack/more.py`, ./docs/x.md, src/pack/rules.py, src/deep/er/a.toml. src/../b.py and/or.py tests/ https://src/a.py"
    assert new_files(task, plant(tmp_path)) == ("src/pack/more.py", "src/deep/er/a.toml")


def test_what_is_no_text_is_found_before_anything_is_written(tmp_path: Path) -> None:
    files = dict(read("a.py\n```\nx = 1\n```\nb.py\n```\n\ud800\n```\n", ()))
    with pytest.raises(UnicodeEncodeError):
        write(tmp_path, files, {})
    assert list(tmp_path.iterdir()) == []


FOLDERS = "the answer has a file where a folder is, or a folder where a file is: "
PLACES = [
    (["pack/a.py/b.py"], f"{FOLDERS}pack/a.py/b.py"),
    (["pack"], f"{FOLDERS}pack"),
    (["new/a.py/b.py", "new/a.py"], f"{FOLDERS}new/a.py/b.py"),
    (["pack/b.py"], "the answer replaces a file that was not shown: pack/b.py"),
]


@pytest.mark.parametrize(("paths", "reason"), PLACES)
def test_places_where_no_file_can_be_written(tmp_path: Path, paths: list[str], reason: str) -> None:
    (tmp_path / "pack").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / "pack" / name).write_text("")
    with pytest.raises(Unusable) as caught:
        write(tmp_path, {"good.py": "x\n", **dict.fromkeys(paths, "x\n")}, {"pack/a.py": ""})
    assert str(caught.value) == reason
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.py", "b.py", "pack"]


def test_a_link_in_the_tree_is_not_written_through(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "folder").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    (root / "file.py").symlink_to("../outside/x.py")
    for path in ("folder/x.py", "loop", "loop/x.py", "file.py"):
        with pytest.raises(Unusable, match=r"^the answer names a file behind a link: "):
            write(root, {"good.py": "x\n", path: "x\n"}, {})
    assert [list(outside.iterdir()), (root / "good.py").exists()] == [[], False]
