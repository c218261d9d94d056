"""The probe and the search do find what is planted, wherever it is planted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from containers.sandbox import AGENT, TASK, WORK, Mount, Sandbox, Spec
from harness.objects import ObjectStore
from harness.snapshot import Entry, from_tar
from traps.fixtures import File, to_tar

from .blindness_kit import INSIDE, path, search, sentinel, unpacked, word

PROBE = ("python3", f"{AGENT}/seen.py", f"{WORK}/seen.z")


def look(box: Sandbox, **changes: Any) -> Mapping[str, bytes]:
    program = to_tar({"seen.py": File((INSIDE / "seen.py").read_bytes())})
    spec = Spec(PROBE, mounts={WORK: Mount(writable=True), AGENT: Mount(program)}, exports=(WORK,))
    mounts = {**spec.mounts, **changes.pop("mounts", {})}
    result = box.run(replace(spec, mounts=mounts, **changes))
    assert result.exit == 0, result.stderr
    return unpacked(from_tar(result.exports[WORK])[0][b"seen.z"].data)


def git_tree(tmp_path_factory: pytest.TempPathFactory, text: str) -> bytes:
    store = ObjectStore(tmp_path_factory.mktemp("objects") / "objects.git")
    return store.session_tar({b"a.txt": Entry("100644", text.encode())})


PLANTS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "environment": lambda s: {"env": {"NOTE": s}},
    "name of a variable": lambda s: {"env": {s.upper(): "1"}},
    "argument": lambda s: {"command": (*PROBE, s)},
    "file": lambda s: {"mounts": {TASK: Mount(to_tar({"prompt.md": File(s.encode())}))}},
    "file name": lambda s: {"mounts": {TASK: Mount(to_tar({f"{s}.md": File(b"")}))}},
    "folder name": lambda s: {"mounts": {TASK: Mount(to_tar({f"{s}/prompt.md": File(b"")}))}},
    "mount point": lambda s: {"mounts": {f"/{s}": Mount(to_tar({"a": File(b"")}))}},
    "another process": lambda s: {"command": ("sh", "-c", f"sleep 30 {s} 2>&- & exec {' '.join(PROBE)}")},
    "file in tmp": lambda s: {"command": ("sh", "-c", f"echo {s} >/tmp/x; exec {' '.join(PROBE)}")},
    "link": lambda s: {"command": ("sh", "-c", f"ln -s /nowhere/{s} /tmp/x; exec {' '.join(PROBE)}")},
    "open file": lambda s: {"command": ("sh", "-c", f"exec 7>/tmp/{s}; rm /tmp/{s}; exec {' '.join(PROBE)}")},
    "working directory": lambda s: {"command": ("sh", "-c", f"mkdir /tmp/{s}; cd /tmp/{s}; exec {' '.join(PROBE)}")},
    "memory of another process": lambda s: {
        "command": (
            *("python3", "-c"),
            "import os, sys, time\n"
            f"kept = '{s[::-1]}'[::-1]\n"  # stands nowhere but in memory
            "os.execvp(sys.argv[1], sys.argv[1:]) if os.fork() else time.sleep(30)",
            *PROBE,
        )
    },
}


@pytest.mark.parametrize("place", PLANTS)
def test_a_planted_name_is_found(place: str, box: Sandbox) -> None:
    planted, absent = sentinel(), sentinel()
    pieces = look(box, **PLANTS[place](planted))
    assert search(pieces, [word("planted", planted)])
    assert not search(pieces, [word("absent", absent)])


@pytest.mark.parametrize("how", ["content", "deleted content", "author"])
def test_a_name_in_the_repository_is_found(how: str, box: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> None:
    planted = sentinel()
    tree = git_tree(tmp_path_factory, planted if how == "content" else "nothing")
    git = {
        "content": "true",
        "deleted content": f"echo {planted} >b; git add b; git commit -qm b; git reset -q --hard HEAD~1; rm -f b",
        "author": f"git -c user.name={planted} commit -q --allow-empty -m c",
    }[how]
    command = ("sh", "-ec", f"cd {WORK}; {git}; exec {' '.join(PROBE)}")
    pieces = {
        label: data
        for label, data in look(box, command=command, mounts={WORK: Mount(tree, writable=True)}).items()
        # The command line that planted it is no find.
        if label.startswith(("git ", "files content /work/.git"))
    }
    assert search(pieces, [word("planted", planted)])


def test_a_changed_date_is_seen(box: Sandbox) -> None:
    touched = ("sh", "-c", f"touch -d 2001-02-03 {WORK}/a; exec {' '.join(PROBE)}")
    assert b" 981158400" in look(box, command=touched)["files dates"]


def test_paths_are_told_from_their_likes() -> None:
    needle = [path("host", "/srv/main")]
    for text in (b"x=/srv/main", b"/srv/main/a", b"'/srv/main'", b"lowerdir=/srv/main:b", b"file:///srv/main"):
        assert search({"piece": text}, needle), text
    for text in (b"/srv/mainly", b"/opt.d/srv/main.py", b"a/srv/main"):
        assert not search({"piece": text}, needle), text
