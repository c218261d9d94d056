"""A bundle that wants to get out: nothing of it is executed outside of a sandbox, and nothing is written elsewhere."""

from __future__ import annotations

import hashlib
import json
import pickle
import sqlite3
import tempfile
import zlib
from pathlib import Path

import pytest

from harness.bundle import layout
from harness.config import load

from .bundle_kit import Edit, Fold, Table, raw_members, resealed
from .edits_records import ALL
from .hostile_kit import FIXTURE, HOSTED, Outcome, blown, dreambench
from .test_tampering_limits import root

ORACLE = "oracles/c1/label/oracle.py"


class Shell:
    """Unpickling it runs a command."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[object, tuple[str]]:
        import os

        return os.system, (self.command,)


def program(marker: Path) -> bytes:
    """Runs wherever it is imported."""
    return f"import os\nos.system('touch {marker}')\nopen({str(marker)!r}, 'w').close()\n".encode()


def template(marker: Path) -> bytes:
    lines = [
        f"<< cycler.__init__.__globals__.os.system('touch {marker}') >>",
        f"<< ''.__class__.__mro__[1].__subclasses__() >> << mark.__init__.__globals__['open']('{marker}', 'w') >>",
        "<< 'a' * 10 ** 10 >>",
        "<<% for a in range(10 ** 9) %>><<% for b in range(10 ** 9) %>>x<<% endfor %>><<% endfor %>>",
    ]
    return "\n".join(lines).encode()


def database(marker: Path) -> bytes:
    """A store whose schema loads a library and writes a file, if anybody lets it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.sqlite"
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE record (id INTEGER PRIMARY KEY, body TEXT)")
            db.execute(f"CREATE VIEW v AS SELECT load_extension('{marker}')")
            db.execute("CREATE TRIGGER t AFTER INSERT ON record BEGIN SELECT load_extension('/x'); END")
        db.close()
        return path.read_bytes()


def put_store(edit: Edit, arm: str, files: dict[str, bytes]) -> None:
    """Other files in the frozen store of an arm, one chunk each."""
    chunks = edit.pack(layout.CHUNK_PACK)
    told: Table = {}
    for name, data in sorted(files.items()):
        digest = hashlib.sha256(data).digest()
        chunks[digest] = zlib.compress(data, 1)
        told[name] = {"size": len(data), "chunks": [digest.hex()]}
    edit.put_pack(layout.CHUNK_PACK, sorted(chunks.items()))
    blob = edit.add(layout.BLOB_PACK, json.dumps(told, sort_keys=True).encode())
    edit.arm(arm, lambda record: record.update(store=blob), layout.SEALED_ARMS)


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    return tmp_path / "executed"


@pytest.fixture
def hostile(fold: Fold, tmp_path: Path, marker: Path) -> Path:
    """Programs, templates, a database and a pickle, wherever something could run them."""
    edit = Edit(fold)
    edit.source(ORACLE, program(marker) + b"while True:\n    pass\n")
    edit.source("traps/c1/label/e2.md", template(marker))
    edit.source("traps/c1/label/s3.md", template(marker))
    edit.source("traps/c1/label/playbook.py", program(marker))
    edit.source("traps/c1/label/s3/conftest.py", program(marker))
    edit.source("traps/c1/label/s3/sitecustomize.py", program(marker))
    for name in ("reference", "naive", "stale"):
        edit.source(f"oracles/c1/label/solutions/{name}/src/mini/labels.py", template(marker))
    files = {name: program(marker) for name in ("sitecustomize.py", "numpy.py", "memory_probe.py", "json.py")}
    files["pickle.pkl"] = files["vectors.npy"] = pickle.dumps(Shell(f"touch {marker}"))
    files["store.sqlite"] = files["events.sqlite"] = database(marker)
    put_store(edit, ALL, files)
    edit.project()
    return edit.resigned(tmp_path / "hostile.dbf")


def assert_contained(
    done: Outcome, marker: Path, *allowed: Path, programs: frozenset[str] = frozenset({"git"})
) -> None:
    assert not marker.exists()
    assert done.called == ""
    assert done.events("socket.connect", "socket.getaddrinfo", "socket.bind") == []
    assert done.events("os.system", "os.exec", "os.posix_spawn", "pickle.find_class", "import") == []
    assert done.programs <= programs, done.programs
    assert done.written_outside(*allowed) == []
    assert done.left == {"home": [], "cwd": [], "tmp": []}
    assert "Traceback" not in done.output


def test_verify_runs_nothing(hostile: Path, tmp_path: Path, marker: Path) -> None:
    done = dreambench(tmp_path / "p", "verify", hostile, "--any-signer", memory=3 << 30)
    assert done.code == 3
    assert "oracle c1_label is not the one that was run" in done.output
    assert "trap c1_label is not the one that was run" in done.output
    assert_contained(done, marker)


def test_unpack_runs_nothing_and_writes_below_its_folder_alone(hostile: Path, tmp_path: Path, marker: Path) -> None:
    out = tmp_path / "out"
    done = dreambench(tmp_path / "p", "unpack", hostile, "--out", out, memory=3 << 30)
    assert done.code == 0
    assert_contained(done, marker, out)
    assert sorted(p.name for p in out.iterdir()) == ["run", "sources"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hostile.dbf", "hostile.dbf.members", "out", "p"]
    assert not [p for p in out.rglob("*") if p.is_symlink()]
    assert (out / "sources" / ORACLE).read_bytes() == program(marker) + b"while True:\n    pass\n"


def test_replay_and_rebuilding_run_it_in_sandboxes(hostile: Path, tmp_path: Path, marker: Path) -> None:
    done = dreambench(tmp_path / "p", "replay", hostile, "--read", "--sample", "2", "--seed", "3", memory=8 << 30)
    assert done.code == 3, done.output
    assert f"No such file or directory: '{marker}'" in done.output  # it ran, where there is no such folder
    # what a sandbox is held by, and the toolchain that it is given
    own = (Path("/sys/fs/cgroup"), load(None).cache_dir)
    assert_contained(done, marker, *own, programs=frozenset({"git", "bwrap", "python", "python3"}))


def test_nothing_is_fetched_for_a_bundle(fold: Fold, tmp_path: Path, marker: Path) -> None:
    edit = Edit(fold)
    edit.source(FIXTURE, HOSTED.format(digest="0" * 64, name="x-1.0.tar.gz").encode())
    done = dreambench(tmp_path / "p", "verify", edit.resigned(tmp_path / "x.dbf"), "--any-signer", memory=3 << 30)
    assert done.code == 3
    assert "NO  contents: sources: the archive of fixture mini is missing" in done.output
    assert_contained(done, marker)


# -- bombs ---------------------------------------------------------------------------------------------------------


def bomb(fold: Fold, out: Path, plain: int) -> Path:
    """The facts of a bundle are a member that unpacks to 10 GiB and announces `plain` bytes."""
    data = Edit(fold).seal.close(layout.FACTS, blown(10 << 10, 15))
    stored = raw_members(fold.revealed)

    def change(told: dict[str, list[dict[str, object]]]) -> None:
        for row in told["members"]:
            if row["name"] == layout.FACTS:
                row.update(size=len(data), sha256=hashlib.sha256(data).hexdigest(), plain=plain)
        told["root"] = root(told["members"])  # type: ignore[assignment]

    return resealed(out, {**stored, layout.FACTS: data}, change)


@pytest.mark.parametrize(
    ("plain", "told"),
    [
        (1024, "does not unpack to the 1024 bytes that it announces"),
        (1 << 31, "at most 536870912 are taken"),
        (1 << 40, "would unpack to more than 4 GiB"),
    ],
)
def test_a_bomb_takes_neither_memory_nor_time(plain: int, told: str, fold: Fold, tmp_path: Path, marker: Path) -> None:
    path = bomb(fold, tmp_path / "x.dbf", plain)
    done = dreambench(tmp_path / "p", "verify", path, "--any-signer", memory=1 << 30, seconds=20)
    assert done.code == 3
    assert told in done.output
    assert_contained(done, marker)
