"""Looking for the answer: in files, in /proc, in other processes' memory, in every object; there is none to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from containers.sandbox import WORK, Mount, Sandbox, Spec
from harness.config import ROOT
from harness.outcome import Outcome

from .forgery_kit import Played, Stage, captured, scored, secrets_of
from .forgery_search import DECOYS, SEARCHES, SPEAKING

_LOOK = """
from session import *
import shutil
exec(open("/agent/look.py").read())
found = sorted(look())
print("found", *found)
write(f"report-{STEP}.txt", "\\n".join(found))
if STEP == 3:
    write("src/mini/labels.py", open("/agent/look.py").read() + open("/agent/speaking.py").read())
"""

_INVENTORY = """
from session import *
import socket, subprocess
def reading(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError as error:
        return repr(error).encode()
rows = [b"\\0".join(f"{k}={v}".encode() for k, v in os.environ.items()), socket.gethostname().encode()]
for pid in [p for p in os.listdir("/proc") if p.isdigit()] + ["self"]:
    for name in ("cmdline", "environ", "mountinfo", "mounts", "cgroup", "status", "maps"):
        rows.append(reading(f"/proc/{pid}/{name}"))
    try:
        rows += [os.fsencode(os.readlink(f"/proc/{pid}/fd/{n}")) for n in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        pass
for folder, inner, names in os.walk("/"):
    inner[:] = [n for n in inner if os.path.join(folder, n) not in ("/proc", "/sys", "/usr", "/tools/lib")]
    rows += [os.fsencode(os.path.join(folder, n)) for n in (*inner, *names)]
for words in (["log", "--all", "-p"], ["reflog"], ["fsck", "--unreachable", "--lost-found"], ["config", "-l"],
              ["stash", "list"], ["for-each-ref"], ["cat-file", "--batch-all-objects", "--batch-check"]):
    done = subprocess.run(["git", *words], capture_output=True)
    rows.append(done.stdout + done.stderr)
with open("/work/inventory.txt", "wb") as file:
    file.write(b"\\n".join(rows))
"""


@pytest.fixture(scope="module")
def inventory(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """An agent that writes down everything it can see from inside a session."""
    return stage.play(tmp_path_factory.mktemp("inventory"), _INVENTORY)


@pytest.mark.parametrize("way", SEARCHES)
def test_each_search_finds_what_is_there(box: Sandbox, way: str) -> None:
    """The control: a decoy in the place that the search is for is found."""
    program = f"DECOY = '-'.join(['bm', '0123456789ab'])\n{DECOYS[way]}\n{SEARCHES[way]}\nprint(sorted(look()))"
    result = box.run(Spec(command=("python3", "-c", program), mounts={WORK: Mount(b"", writable=True)}))
    assert b"bm-0123456789ab" in result.stdout, result.stderr


@pytest.mark.parametrize("way", SEARCHES)
def test_searching_finds_no_fact(stage: Stage, tmp_path: Path, way: str) -> None:
    extra = {"look.py": SEARCHES[way].encode(), "speaking.py": SPEAKING.encode()}
    played = stage.play(tmp_path, _LOOK, extra=extra)
    assert scored(played).outcome == Outcome.FAILED
    assert {played.said(step).strip() for step in (1, 2, 3)} == {"found"}
    _holds_no_secret(played)


def test_an_inventory_of_a_session_holds_no_secret(inventory: Played) -> None:
    _holds_no_secret(inventory)


def test_an_inventory_of_a_session_does_not_name_the_benchmark(inventory: Played) -> None:
    words = ["dreambench", "c1_label", "oracle", "memory_probe", "pytest-of-", str(ROOT), str(inventory.out)]
    for step in (1, 2, 3):
        report = inventory.left(step)[b"inventory.txt"].data.decode("utf-8", "replace").lower()
        assert "mini/labels.py" in report
        assert [word for word in words if word.lower() in report] == []


def test_an_inventory_of_a_session_has_no_history(inventory: Played) -> None:
    for step in (1, 2, 3):
        report = inventory.left(step)[b"inventory.txt"].data.decode("utf-8", "replace")
        assert report.count("\ncommit ") + report.startswith("commit ") == 1
        assert "unreachable" not in report
        assert "dangling" not in report
        assert "refs/stash" not in report


def _holds_no_secret(played: Played) -> None:
    values = secrets_of(played.out)
    assert len(values) >= 4
    for where, data in captured(played).items():
        assert [name for name, value in values.items() if value.encode() in data] == [], where
