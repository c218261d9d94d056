"""Frozen runs of the mini trap, the command line in process, and files that are signed anew by whoever has the key."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from harness.bundle.manifest import canonical
from harness.bundle.signing import AMENDMENT, PLAN, SigningKey, load_key
from harness.cli.main import cli
from harness.outcome import UsageFault
from harness.preregistration.plan_start import check_run, name_in_run
from harness.preregistration.preregister import Amendment, Frozen, load_amendments, load_frozen
from harness.rundir import RunDir

MINI = Path(__file__).parents[1] / "data" / "mini"
Table = dict[str, Any]
DIGEST = "0" * 64


@dataclass(frozen=True)
class Planned:
    """A copy of the mini trap, a key, and a run directory `out` with a frozen plan."""

    root: Path

    @property
    def out(self) -> Path:
        return self.root / "run"

    @property
    def key(self) -> Path:
        return self.root / "key.pem"

    @property
    def words(self) -> list[str]:
        places = [f"traps_dir={self.root / 'traps'}", f"oracles_dir={self.root / 'oracles'}"]
        return [*places, "seeds=1", "conditions=B0", "readers=careful", "agent.name=nop"]

    @property
    def folder(self) -> RunDir:
        return RunDir.open(self.out)

    @property
    def frozen(self) -> Frozen:
        return load_frozen(self.out / "plan.json")

    @property
    def amendments(self) -> tuple[Amendment, ...]:
        return load_amendments(self.out / "amendments.json")

    @property
    def problems(self) -> list[str]:
        return check_run(self.folder, self.folder.description(), self.frozen, self.amendments)

    def table(self, name: str) -> Table:
        found: Table = json.loads((self.out / name).read_bytes())
        return found

    def amend(self, *words: str, reason: str = "a reason") -> Result:
        return dreambench("plan", "amend", self.out, *words, "--reason", reason, "--sign", self.key)

    def start(self, *words: str | Path, reason: str = "") -> Result:
        leave = ["--amend", reason, "--sign", self.key] if reason else []
        return dreambench("run", *words, "--out", self.out, *leave)

    def plan_otherwise(self, change: Callable[[Table], object], key: Path | None = None) -> None:
        """Sign the plan anew with something else in it, as who has the key can before anything is published."""
        body = self.table("plan.json")["plan"]
        change(body)
        write_plan(self.out / "plan.json", body, load_key(key or self.key))
        name_in_run(self.folder, self.frozen, ())


def dreambench(*words: str | Path) -> Result:
    """The command line; a fault that ends it is `exception`, its exit code that of the fault."""
    return CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)


def refused(done: Result, code: int, *parts: str) -> None:
    """One message with all `parts`, and the exit code."""
    assert isinstance(done.exception, UsageFault), (done.output, done.exception)
    for part in parts:
        assert part in str(done.exception)
    assert done.exception.exit_code == code


def done(result: Result) -> Result:
    """The result of a command that ended well."""
    assert result.exception is None, result.exception
    assert result.return_value == 0, result.output
    return result


def make(root: Path) -> Planned:
    """Folders, a key, and a frozen plan of one arm."""
    for name in ("traps", "oracles"):
        shutil.copytree(MINI / name, root / name)
    place = Planned(root)
    done(dreambench("key", "new", place.key))
    done(dreambench("plan", "freeze", *place.words, "--out", place.out, "--sign", place.key))
    return place


def write_plan(path: Path, body: Mapping[str, Any], key: SigningKey) -> None:
    """plan.json, signed."""
    signature = key.sign(PLAN, canonical(body)).hex()
    path.write_bytes(canonical({"schema": 1, "plan": body, "signer": key.public.raw.hex(), "signature": signature}))


def entry(body: Mapping[str, Any], key: SigningKey) -> Table:
    """One entry of amendments.json, signed."""
    signature = key.sign(AMENDMENT, canonical(body)).hex()
    return {"amendment": dict(body), "signer": key.public.raw.hex(), "signature": signature}


def write_amendments(path: Path, entries: list[Table]) -> None:
    path.write_bytes(canonical({"schema": 1, "amendments": entries}))


def copied(place: Planned, root: Path) -> Planned:
    """A copy that works on its own traps and oracles."""
    shutil.copytree(place.root, root / "copy")
    found = Planned(root / "copy")
    run = (found.out / "run.json").read_text()
    (found.out / "run.json").write_text(run.replace(str(place.root), str(found.root)))
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
