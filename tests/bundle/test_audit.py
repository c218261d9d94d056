"""The audit of a run: silent over a clean one, and each rule speaks, alone, when its case is planted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness.auditing.audit import LINES, Audited, audit, audit_text
from harness.auditing.audit_finding import Finding
from harness.auditing.audit_rules import RULES
from memory_probe.protocol import ViewItem

from ..conftest import RunMini
from .audit_kit import ALL, B0, B5, GIT, Bench, messages, play, told


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, box: Sandbox, mini: Mapping[str, str]) -> Path:
    return play(tmp_path_factory.mktemp("audit") / "run", box, mini)


@pytest.fixture
def bench(run: Path, tmp_path: Path) -> Bench:
    return Bench(run, tmp_path / "copy")


def test_a_clean_run_has_no_finding(bench: Bench) -> None:
    found = bench.audit()
    assert (found.findings, found.breaches, found.left) == ((), 0, ())
    assert found.asked == RULES
    assert found.looked["arms"] == 6
    assert found.looked["sessions"] == 18
    assert found.looked["stores"] == 3  # that of B0 is empty; B5 and ALL keep the same
    assert found.unseen == ((*GIT, 18),)
    assert {(p.condition, p.passes, p.whole, p.part, p.none) for p in found.proofs} == {
        ("B5", 2, 2, 0, 0),
        ("ALL", 2, 2, 0, 0),
    }
    assert found.shared == {"changes": 6, "shared": 4, "different": 4}  # B5 and ALL show the same mark
    text = audit_text(found)
    assert "0 breaches, 0 notes." in text
    assert all(rule.name in text for rule in RULES)
    assert json.loads(json.dumps(found.as_data()))["breaches"] == 0


def test_the_same_run_gives_the_same_audit(bench: Bench) -> None:
    assert bench.audit() == bench.audit()


# -- what transcripts and changes name -------------------------------------------------------------------------


def test_history(bench: Bench) -> None:
    bench.say(B5, 2, "", "$ git -C /work log --oneline\nabc Import\n")
    bench.edit_session(B5, 1, "", dropped=["/work/.git: .git", "/work/sub/.git: .git"])
    found = bench.audit()
    assert told(found) == {("history", "note")}
    assert [(f.where, f.message) for f in found.findings] == [
        (f"{B5} S1", "left a repository of its own: /work/sub/.git: .git"),
        (f"{B5} S2", "transcript names git -C /work log"),
    ]


def test_oracle_outside_of_the_tree(bench: Bench) -> None:
    bench.say(B5, 3, "careful", "$ cat /oracles/c1/label/oracle.py\n")
    found = bench.audit()
    assert told(found) == {("oracle paths", "breach")}
    assert found.breaches == 1
    assert messages(found) == ["transcript opens /oracles/c1/label/oracle.py, not in the tree"]


def test_a_file_of_the_tree_that_is_called_so(bench: Bench) -> None:
    tree = bench.put_tree(bench.session(B5, 3, "careful").tree_out, {"src/mini/oracle.py": "ANSWER = 1\n"})
    bench.edit_session(B5, 3, "careful", tree_out=tree)
    bench.say(B5, 3, "careful", "wrote src/mini/oracle.py; it is no oracle")
    found = bench.audit()
    assert told(found) == {("oracle paths", "note")}
    assert messages(found) == [
        "a changed path is called src/mini/oracle.py",
        "transcript names src/mini/oracle.py; a file of that name is in the tree",
        "transcript speaks of 'oracle'",
    ]


def test_other_homes_opened_and_named(bench: Bench) -> None:
    bench.say(B5, 3, "careful", '{"command": "cat ~/.claude/memory.md"}\nI leave /root/notes alone.')
    found = bench.audit()
    assert [(f.rule, f.level, f.message) for f in found.findings] == [
        ("other places", "breach", "transcript opens ~/.claude/memory.md"),
        ("other places", "note", "transcript names /root/notes"),
    ]


def test_what_the_tree_itself_says_is_not_held_against_an_agent(bench: Bench) -> None:
    session = bench.session(B5, 3, "careful")
    line = 'HOME = open("/home/build/setup.cfg")\n'
    trees = {at: bench.put_tree(tree, {"src/mini/place.py": line}) for at, tree in _trees(session)}
    bench.edit_session(B5, 3, "careful", **trees)
    bench.say(B5, 3, "careful", f"$ cat src/mini/place.py\n{line}")
    found = bench.audit()
    assert told(found) == {("other places", "note")}
    assert messages(found) == ["transcript names /home/build/setup.cfg, as the start tree or the prompt does"]


def test_a_network_in_the_record_and_asked_for(bench: Bench) -> None:
    bench.edit_session(B5, 1, "", network="host")
    bench.say(B5, 2, "", "$ curl -s https://example.org/x\n$ curl http://localhost:8000/\n$ pip install left\n")
    found = bench.audit()
    assert [(f.rule, f.level, f.message) for f in found.findings] == [
        ("network", "breach", "the record says network 'host', not 'none'"),
        ("network", "note", "transcript asks the network: curl -s https://example.org/x"),
        ("network", "note", "transcript asks the network: pip install left"),
    ]


def test_lines_that_a_change_adds_are_read(bench: Bench) -> None:
    out = bench.session(B5, 2).tree_out
    tree = bench.put_tree(out, {"src/mini/boxes.py": "import requests\nrequests.get('https://example.org')\n"})
    bench.edit_session(B5, 2, "", tree_out=tree)
    found = bench.audit()
    assert messages(found) == ["change asks the network: requests.get('https://example.org')"]


# -- what entered ------------------------------------------------------------------------------------------------


def test_memory_in_an_arm_of_b0(bench: Bench) -> None:
    bench.show(B0, 3, "careful", [ViewItem("Labels are short.")])
    found = bench.audit()
    assert told(found) == {("no memory in B0", "breach")}
    assert "B0 was given 26 bytes of memory" in messages(found)[0]
    assert messages(found)[0].endswith("a memory part of the prompt that is not empty, items in the view")


def test_one_more_input(bench: Bench) -> None:
    rows = bench.rows(B5, 3, "careful", {"mount /memory": b"x"})
    bench.edit_session(B5, 3, "careful", carried=rows)
    found = bench.audit()
    assert told(found) == {("inputs", "breach")}
    assert messages(found) == ["the manifest has 1 rows 'mount /memory'"]


@pytest.mark.parametrize("row", ["prompt", "memory in prompt", "mount /task"])
def test_an_input_that_the_prompt_and_view_do_not_make(bench: Bench, row: str) -> None:
    bench.edit_session(B5, 3, "careful", carried=bench.rows(B5, 3, "careful", {row: b"something else"}))
    found = bench.audit()
    assert messages(found) == [f"{row}: what entered is not what the recorded prompt and view make"]


def test_a_prompt_with_a_fact_beside_the_notes(bench: Bench) -> None:
    session = bench.session(B5, 3, "careful")
    mark = bench.token("mark")
    text = f"The mark is {mark}.\n\n" + bench.folder.get_blob(session.prompt).decode()
    bench.edit_session(B5, 3, "careful", prompt=bench.folder.put_blob(text.encode()))
    found = bench.audit()
    assert told(found) == {("inputs", "breach")}
    assert "the prompt outside of its memory part holds token mark" in messages(found)
    assert mark not in audit_text(found)  # facts are named, never printed


def test_a_size_of_memory_that_is_not_that_of_the_view(bench: Bench) -> None:
    size = bench.session(B5, 3, "careful").memory_bytes
    bench.edit_session(B5, 3, "careful", memory_bytes=size - 1)
    assert messages(bench.audit()) == [f"memory_bytes is {size - 1}, the view has {size}"]


def test_a_command_with_a_fact(bench: Bench) -> None:
    words = ["run", f"--mark={bench.token('mark')}", "{prompt}"]
    stored = json.loads((bench.out / "run.json").read_text())
    stored["config"]["agent"] = {"name": "command", "command": words, "program": "/nonexistent", "solution": ""}
    (bench.out / "run.json").write_text(json.dumps(stored))
    command = "\0".join(words).replace("{prompt}", "/task/prompt.md").encode()
    bench.edit_session(B5, 3, "careful", carried=bench.rows(B5, 3, "careful", {"command": command}))
    found = bench.audit()
    assert messages(found) == ["command holds token mark"]
    # nothing of the host is read to make the program again
    assert ("mount /agent", "only its digest is kept (agent command)", 18) in found.unseen


def test_what_cannot_be_made_again_is_said(bench: Bench) -> None:
    rows = bench.rows(B5, 3, "careful", {"environment": b"KEY=x", "mount /agent": b"another program"})
    bench.edit_session(B5, 3, "careful", carried=rows)
    found = bench.audit()
    assert found.findings == ()
    why = "it is not what this version would put there (agent reference)"
    assert found.unseen == (("environment", why, 1), ("mount /agent", why, 1), (*GIT, 18))


def test_a_session_twice_and_one_too_many(bench: Bench) -> None:
    bench.repeat(B5, 2, "")
    bench.edit_session(ALL, 1, "", number=4)
    found = bench.audit()
    assert told(found) == {("inputs", "breach")}
    assert [(f.where, f.message) for f in found.findings] == [
        (f"{ALL} S4", "an arm has no such session"),
        (f"{B5} S2", "one attempt has this session 2 times"),
    ]


@pytest.mark.parametrize("kind", ["token", "note"])
def test_a_start_tree_with_a_value_that_nobody_wrote(bench: Bench, kind: str) -> None:
    value = bench.token("mark") if kind == "token" else bench.number("e2")
    trees = {at: bench.put_tree(tree, {"docs/hint.txt": value}) for at, tree in _trees(bench.session(B0, 3, "careful"))}
    bench.edit_session(B0, 3, "careful", **trees)
    found = bench.audit()
    assert told(found) == {("start trees", "breach")}
    name = "token mark" if kind == "token" else "note number e2"
    assert f"the start tree holds {name}, which no session wrote" in messages(found)
    assert ("mark is in the start tree; carried_by_tree does not say so" in messages(found)) == (kind == "token")


def test_a_path_can_hold_a_value_too(bench: Bench) -> None:
    tree = bench.put_tree(bench.session(B0, 1).tree_in, {f"docs/{bench.token('mark')}.txt": ""})
    bench.edit_session(B0, 1, "", tree_in=tree)
    assert messages(bench.audit()) == ["the start tree holds token mark"]


def test_carried_by_tree_that_is_not_there(bench: Bench) -> None:
    bench.edit_arm(B5, carried_by_tree=["mark"])
    found = bench.audit()
    assert told(found) == {("start trees", "breach")}
    assert messages(found) == ["mark is in carried_by_tree, and not in the start tree"]


WRITER = """
import re, sys
text = open(sys.argv[1]).read()
found = re.search("bm-[0-9a-f]{12}", text)
with open("src/mini/boxes.py", "a") as file:
    file.write(f"MARK = {found[0]!r}\\n" if found else "")
"""


def test_what_an_agent_wrote_itself_is_a_note(run_mini: RunMini, tmp_path: Path) -> None:
    done = run_mini("conditions=B5", script=WRITER)
    bench = Bench(done.out, tmp_path / "copy")
    assert done.only().carried_by_tree == ("old_mark",)
    found = bench.audit()
    assert told(found) == {("start trees", "note")}
    assert messages(found) == ["the start tree holds token old_mark, written before"]
    bench.edit_arm(done.only().arm, carried_by_tree=[])
    assert "old_mark is in the start tree; carried_by_tree does not say so" in messages(bench.audit())


def test_a_view_that_knows_what_comes_later(bench: Bench) -> None:
    bench.show(B5, 2, "", [ViewItem(f"The mark is {bench.token('mark')}.")])
    found = bench.audit()
    assert told(found) == {("told in time", "breach")}
    assert messages(found) == ["the prompt holds token mark, which nothing had told by then"]
    bench.show(B5, 2, "", [ViewItem(f"The mark is {bench.token('old_mark')}.")])
    assert bench.audit().findings == ()


# -- what is printed ---------------------------------------------------------------------------------------------


def test_equal_findings_are_one_line_and_lines_are_few() -> None:
    same = [Finding("history", "note", f"arm {n}", "names git log") for n in range(5)]
    many = [Finding("network", "note", "an arm", f"curl {n}\x1b[2J\n") for n in range(LINES + 7)]
    loud = Finding("network", "breach", "an arm", "the record says so")
    text = audit_text(Audited((*same, *many, loud), RULES, (), {}, ()))
    assert [line for line in text.splitlines() if "names git log" in line] == [
        "note   names git log      5  arm 0, arm 1, arm 2 and 2 more"
    ]
    assert "and 8 more" in text
    assert text.index("the record says so") < text.index("curl 0")
    assert "\x1b" not in text


def test_an_audit_writes_nothing(bench: Bench) -> None:
    before = sorted((p.relative_to(bench.out), p.read_bytes()) for p in bench.out.rglob("*") if p.is_file())
    assert audit(bench.opened()).breaches == 0
    after = sorted((p.relative_to(bench.out), p.read_bytes()) for p in bench.out.rglob("*") if p.is_file())
    assert before == after


def _trees(session: object) -> list[tuple[str, str]]:
    return [(name, getattr(session, name)) for name in ("tree_in", "tree_out")]
