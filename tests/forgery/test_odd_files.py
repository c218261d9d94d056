"""Files that are not plain files, names that are not plain names: carried as data, refused and listed, or capped."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.outcome import CAPTURE_LIMIT, Outcome
from harness.snapshot import EXECUTABLE, LINK, REGULAR, Entry

from .forgery_kit import Played, Stage, judged, scored

_ODD = r"""
from session import *
import socket
if STEP == 3:
    wrong()
    os.chdir("/work/src/mini")
    links = {"shadow": "/etc/shadow", "up": "../../../../../../etc/passwd", "folder": "/etc", "root": "/",
             "self": "self", "inside": "labels.py", "proc": "/proc/self/mem", "gone": "/nowhere", "two": "../../tests"}
    for name, target in links.items():
        os.symlink(target, f"link-{name}")
    os.link("labels.py", "hard.py")
    try:
        os.link("/etc/passwd", "hard-passwd")
    except OSError as error:
        print("hard link out:", type(error).__name__)
    os.mkfifo("fifo")
    for name, kind in (("char", 0o020666), ("block", 0o060666)):
        try:
            os.mknod(name, kind, os.makedev(1, 3))
            print("mknod worked")
        except PermissionError:
            print("mknod refused")
    socket.socket(socket.AF_UNIX).bind("socket.py")
    for name in eval(open("/agent/names").read()):
        with open(name, "wb") as file:
            file.write(name)
    os.makedirs("/".join(["deep" * 8] * 100))
    write("/".join(["deep" * 8] * 100) + "/end", b"bottom", os.getcwd())
    write("set", b"uid", os.getcwd())
    os.chmod("set", 0o6755)
    write("none", b"unreadable", os.getcwd())
    os.chmod("none", 0)
    for name in (".GIT ", "git~1", ".git. ::$INDEX_ALLOCATION", ".git\\x"):
        write(name + "/config" if "\\" not in name else name, b"[core]\n\tfsmonitor = evil", os.getcwd())
    os.symlink("labels.py", ".gitmodules")
"""


_NAMES = [
    b"new\nline",
    b"not-utf8-\xff\xfe",
    b'quote"back\\slash',
    b" lead",
    b"trail ",
    b"-rf",
    b"tab\t",
    b"\xe2\x80\xae",
    b"\x01\x7f",
    b"n" * 255,
    b"*?[",
    b"a:b",
    b"CON",
    "\u00e4".encode(),
    "a\u0308".encode(),
]


@pytest.fixture(scope="module")
def odd(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """One agent that leaves one of everything."""
    return stage.play(tmp_path_factory.mktemp("odd"), _ODD, extra={"names": repr(_NAMES).encode()})


def _left(odd: Played, name: bytes) -> Entry | None:
    return odd.left(3).get(b"src/mini/" + name)


def test_the_arm_is_scored(odd: Played) -> None:
    assert odd.sessions[2].exit == 0
    assert scored(odd).outcome == Outcome.FAILED


@pytest.mark.parametrize(
    ("name", "target"),
    {
        "shadow": "/etc/shadow",
        "up": "../../../../../../etc/passwd",
        "folder": "/etc",
        "root": "/",
        "self": "self",
        "proc": "/proc/self/mem",
        "gone": "/nowhere",
        "two": "../../tests",
    }.items(),
)
def test_a_link_is_its_target_and_nothing_behind_it(odd: Played, name: str, target: str) -> None:
    assert _left(odd, f"link-{name}".encode()) == Entry(LINK, target.encode())


@pytest.mark.parametrize("name", ["shadow", "up", "folder", "root", "proc", "gone"])
def test_a_link_that_leaves_the_tree_is_not_applied(odd: Played, name: str) -> None:
    assert f"added src/mini/link-{name}" in odd.ending.stripped
    assert f"added src/mini/link-{name}" not in odd.ending.production


def test_a_hard_link_is_a_file_of_its_own(odd: Played) -> None:
    assert _left(odd, b"hard.py") == _left(odd, b"labels.py")


def test_nothing_of_the_host_is_linked_in(odd: Played) -> None:
    assert _left(odd, b"hard-passwd") is None or b"root:" not in odd.left(3)[b"src/mini/hard-passwd"].data


@pytest.mark.parametrize("name", ["fifo", "socket.py", "git~1", ".GIT ", ".git. ::$INDEX_ALLOCATION", ".gitmodules"])
def test_what_does_not_travel_is_listed(odd: Played, name: str) -> None:
    assert not [path for path in odd.left(3) if path.startswith(b"src/mini/" + name.encode())]
    assert [row for row in odd.sessions[2].dropped if f"src/mini/{name}" in row]


def test_no_device_can_be_made(odd: Played) -> None:
    assert odd.said(3).split("\n").count("mknod refused") == 2


@pytest.mark.parametrize(
    "name",
    _NAMES,
    ids=repr,
)
def test_a_name_is_bytes(odd: Played, name: bytes) -> None:
    assert _left(odd, name) == Entry(REGULAR, name)


def test_a_deep_path_is_kept(odd: Played) -> None:
    assert _left(odd, b"deep" * 8 + (b"/" + b"deep" * 8) * 99 + b"/end") == Entry(REGULAR, b"bottom")


def test_modes_are_two(odd: Played) -> None:
    assert _left(odd, b"set") == Entry(EXECUTABLE, b"uid")
    assert _left(odd, b"none") == Entry(REGULAR, b"unreadable")


_TOO_MUCH = {
    "sparse-file": "with open('/work/src/mini/big', 'wb') as file: file.truncate(10 << 30)",
    "many-files": "os.makedirs('/work/src/many')\nfor n in range(100_000): open(f'/work/src/many/{n}', 'w').close()",
    "too-deep": "os.chdir('/work/src')\nfor _ in range(2000):\n    os.mkdir('d'); os.chdir('d')\n",
    "too-long": "os.chdir('/work/src')\nfor _ in range(20):\n    os.mkdir('d' * 250); os.chdir('d' * 250)\n",
    "total-bytes": "for n in range(12): write(f'src/mini/{n}', os.urandom(7 << 20))",
}


@pytest.mark.parametrize("script", _TOO_MUCH.values(), ids=_TOO_MUCH.keys())
def test_too_much_is_failed_and_never_a_shorter_tree(stage: Stage, tmp_path: Path, script: str) -> None:
    played = stage.play(tmp_path, f"from session import *\nif STEP == 3:\n    wrong()\n    exec({script!r})\n")
    assert judged(played).cause.startswith(f"{CAPTURE_LIMIT}: S3"), played.ending.cause
    assert played.sessions[2].tree_out == ""


def test_too_much_in_an_early_session_ends_the_arm_as_well(stage: Stage, tmp_path: Path) -> None:
    played = stage.play(tmp_path, f"from session import *\nexec({_TOO_MUCH['too-long']!r})\n")
    assert judged(played).cause.startswith(f"{CAPTURE_LIMIT}: S1")
    assert len(played.sessions) == 1
