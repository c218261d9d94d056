"""A run directory of 1,500 cells at two reader levels, made without sandboxes.

It is made of real parts: ledger, blobs, stores, and trees in git. As in a real run, S1 and S2 are much alike in all
conditions, and every S3 has a view, a prompt and a change of its own, made of what its trap is about. Invariant: the
same directory every time.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from analysis.family import shipped_family
from harness.agents.reference import ReferenceAgent
from harness.ledger import Ledger
from harness.objects import ObjectStore
from harness.outcome import Outcome
from harness.records import ArmRecord, Carried, CheckRecord, Ending, FactTrace, SessionRecord, VerdictCheck
from harness.rundir import RunDir
from harness.snapshot import REGULAR, Entry, overlay, tree_id
from memory_probe.ladder import conditions
from traps.fixtures import File

CONDITIONS = ("B0", "B5", "ALL", "EVIDENCE", "POISON")
READERS = ("careful", "credulous")
SEEDS = 5
CHANGED = 50  # lines that a session takes out, and as many that it puts in
_SHARE = {"B0": 0.1, "B5": 0.6, "ALL": 0.75, "EVIDENCE": 0.95, "POISON": 0.05}  # of passes
_MIX = shipped_family("p-family").construct_mix  # 60 traps
_TWO = ("C9", "C10")  # constructs whose traps have two histories
_FILES = 8


def make_run(path: Path) -> RunDir:
    """60 traps x 5 conditions x 5 seeds, every arm ended, in a new directory."""
    return _World(path).build()


@dataclass(frozen=True)
class _Topic:
    """What one trap is about: the task, lines that its changes are made of, and notes."""

    task: str
    code: list[str]
    notes: list[str]


class _World:
    """Made-up arms, the same ones every time, written as the harness writes them."""

    def __init__(self, path: Path) -> None:
        self.chance = random.Random(5)
        letters = "abcdefghijklmnopqrst"
        self.words = ["".join(self.chance.choices(letters, k=self.chance.randint(3, 9))) for _ in range(2000)]
        self.folder = RunDir.create(path)
        self.trees: dict[str, tuple[str, bytes]] = {}  # the one file in which a tree differs from the base
        self.traps = {f"{c.lower()}_trap_{n}": c for c, number in _MIX.items() for n in range(number)}
        self.topics = {
            trap: _Topic(self.text(200), self._code(80), [self.text(60) for _ in range(8)]) for trap in self.traps
        }
        files = {f"src/demo/m{n}.py": "".join(self._code(120)).encode() for n in range(_FILES)}
        self.base = {path.encode(): Entry(REGULAR, body) for path, body in files.items()}
        self.start = tree_id(self.base)

    def build(self) -> RunDir:
        """Every arm of the plan, ended."""
        arms = [
            (trap, condition, seed, history)
            for trap, construct in self.traps.items()
            for seed in range(1, SEEDS + 1)
            for history in (("first", "second") if construct in _TWO else ("given",))
            for condition in CONDITIONS
        ]
        self.folder.write_json("run.json", self._description(arms))
        with Ledger(self.folder.ledger) as ledger:
            for arm in arms:
                sessions, record = self._arm(*arm)
                for session in sessions:
                    ledger.session(record.arm, 1, session)
                ledger.arm(record)
        self._keep_trees()
        self.folder.unlock()
        return self.folder

    def _description(self, arms: list[tuple[str, str, int, str]]) -> dict[str, object]:
        family, known = shipped_family("quick"), conditions()
        config = {"seeds": SEEDS, "first_seed": 1, "haystack": 0, "budget.k": 6, "budget.tokens": 1200}
        return {
            "label": "bench",
            "begun": "2026-01-05T00:00:00+00:00",
            "config": {"sandbox": "none"},
            "plan_digest": "0" * 64,
            "draw_digest": "1" * 64,
            "draw_reused": False,
            "meaning": {
                "agent": ReferenceAgent.card,
                "config": config,
                "traps": dict.fromkeys(self.traps, "2" * 64),
                "conditions": {code: asdict(known[code].card) for code in CONDITIONS},
                "family": {"name": family.name, "digest": family.digest},
            },
            "arms": len(arms),
            "arms_by_condition": {code: sum(arm[1] == code for arm in arms) for code in CONDITIONS},
            "readers": list(READERS),
            "traps_told": {t: {"construct": c, "fixture": "demo", "poisoned": True} for t, c in self.traps.items()},
            "family": family.as_data(),
        }

    # -- one arm -----------------------------------------------------------------------------------------------

    def _arm(self, trap: str, condition: str, seed: int, history: str) -> tuple[list[SessionRecord], ArmRecord]:
        topic = self.topics[trap]
        shown = 0 if condition == "B0" else self.chance.randint(2, 6)
        view = self._view(topic, shown)
        sessions = [self._session(topic, n, "", self._view(topic, 0), f"{trap} {seed} {n}") for n in (1, 2)]
        endings = []
        for reader in READERS:
            sessions.append(self._session(topic, 3, reader, view, self._token()))
            endings.append(self._ending(reader, condition))
        record = ArmRecord(
            arm=f"{trap}/{condition}/{seed}/{history}",
            trap=trap,
            construct_=self.traps[trap],
            condition=condition,
            seed=seed,
            history=history,
            main=history != "second",
            expect="use",
            warm_up=(True, self.chance.random() < 0.9),
            carried_by_tree=(),
            injected=("mark", "old_mark"),
            receipts=("ok",) * 3,
            store=self.folder.put_blob(json.dumps({"store": {"size": shown * 900, "chunks": []}}).encode()),
            shown=tuple(self.chance.choices(("useful", "stale", "harmful", "irrelevant"), k=shown)),
            shown_types=("human_feedback",) * shown,
            endings=tuple(endings),
            seconds=1.5,
            attempt=1,
        )
        return sessions, record

    def _session(self, topic: _Topic, number: int, reader: str, view: dict[str, object], token: str) -> SessionRecord:
        path = f"src/demo/m{number}.py"
        old = self.base[path.encode()].data.splitlines(keepends=True)
        chance = random.Random(token)
        lines = chance.sample(topic.code, CHANGED)
        for place in chance.sample(range(CHANGED), CHANGED // 10):
            lines[place] = f"    {chance.choice(self.words)} = '{chance.getrandbits(40):010x}'\n"
        changed = b"".join(old[:10]) + "".join(lines).encode() + b"".join(old[10 + CHANGED :])
        out = tree_id(overlay(self.base, {path: File(changed, False)}))
        self.trees[out] = path, changed
        stored = json.dumps(view).encode()
        carried = tuple(
            Carried(name=name, bytes=1000, sha256=hashlib.sha256(f"{name} {token}".encode()).hexdigest())
            for name in ("mount /agent", "mount /task", "mount /work", "prompt", "memory in prompt", "command")
        )
        return SessionRecord(
            number=number,
            reader=reader,
            tree_in=self.start,
            tree_out=out,
            carried=carried,
            memory_bytes=len(stored),
            prompt=self.folder.put_blob(f"{topic.task}\n\n# Notes\n{view['items']}".encode()),
            view=self.folder.put_blob(stored),
            transcript=self.folder.put_blob(f"{topic.task[:200]} {number} {reader}\n".encode()),
            exit=0,
            timed_out=False,
            hit=(),
            active={"wall": "watchdog", "memory": "cgroup"},
            dropped=("/work/.git: .git",),
            check=CheckRecord(passed=True, exit=0, output="5 passed\n", seconds=0.5, shared=False),
            seconds=0.5,
            network="none",
        )

    def _ending(self, reader: str, condition: str) -> Ending:
        passed = self.chance.random() < _SHARE[condition]
        trapped = not passed and self.chance.random() < 0.5
        outcome = Outcome.PASS if passed else Outcome.TRAPPED if trapped else Outcome.FAILED
        checks = [
            VerdictCheck(name=f"c{n}", text=f"the export has property {n}", kind="requires", held=passed, choked=False,
                         detail="" if passed else self.text(8))
            for n in range(5)
        ]  # fmt: skip
        checks.append(
            VerdictCheck(name="f", text="the old mark is used", kind="forbids", held=trapped, choked=False, detail="")
        )
        funnel = () if condition in ("EVIDENCE", "POISON") else (
            _fate("mark", "governing", passed, "not used in the change"),
            _fate("old_mark", "superseded", trapped, "not used in the change"),
        )  # fmt: skip
        cause = "" if passed else "the old mark is used" if trapped else "the export has property 0"
        return Ending(
            reader=reader,
            outcome=outcome,
            cause=cause,
            checks=tuple(checks),
            production=("modified src/demo/m1.py",),
            funnel=funnel,
            used=("mark",) if passed else (),
            check=True,
        )

    def _view(self, topic: _Topic, items: int) -> dict[str, object]:
        """Notes of the topic with numbers of their own."""
        scope = {"files": ["src/demo/m1.py"], "symbols": [], "task": "mail"}
        shown = [
            {
                "text": f"Note {self._token()}: {text}",
                "date": "2026-01-05",
                "type": "human_feedback",
                "scope": scope,
                "state": "active",
                "successor": None,
                "provenance": None,
            }
            for text in self.chance.sample(topic.notes, items)
        ]
        why = "out-ranked: the view holds 6 items"
        left = [{"text": f"Note {self._token()}: {text}", "why": why} for text in topic.notes[:items]]
        return {"items": shown, "rejected": left, "considered": 2 * items}

    def _token(self) -> str:
        return f"AB-{self.chance.randrange(10**9)}"

    def text(self, size: int) -> str:
        return " ".join(self.chance.choices(self.words, k=size))

    def _code(self, lines: int) -> list[str]:
        """Lines that look like code."""
        word = self.chance.choice
        forms = (
            "    {} = {}.{}({})",
            "    if {} in {}: return {}.{}",
            "def {}({}, {}): return {}",
            "    {}.{}({}, {})",
        )
        return [word(forms).format(*(word(self.words) for _ in range(4))) + "\n" for _ in range(lines)]

    # -- trees -------------------------------------------------------------------------------------------------

    def _keep_trees(self) -> None:
        """All trees by one git: loose objects, as many small imports leave them."""
        store = ObjectStore(self.folder.objects)
        words = ["git", "--git-dir", str(store.path), "-c", "fastimport.unpackLimit=10000000"]
        words += ["fast-import", "--quiet", "--force", "--done", "--date-format=raw"]
        with subprocess.Popen(words, stdin=subprocess.PIPE) as git:
            assert git.stdin is not None
            base = f"refs/trees/{self.start}"
            git.stdin.write(_commit(base) + b"".join(_file(path, e.data) for path, e in self.base.items()))
            for tree, (name, body) in self.trees.items():
                git.stdin.write(_commit(f"refs/trees/{tree}") + f"from {base}\n".encode())
                git.stdin.write(_file(name.encode(), body))
            git.stdin.write(b"done\n")
        if git.returncode:
            raise RuntimeError(f"git fast-import ended with {git.returncode}")


def _fate(name: str, role: str, used: bool, lost: str) -> FactTrace:
    stage: Literal["used", "admitted"] = "used" if used else "admitted"
    return FactTrace(
        name=name,
        role=role,
        stage=stage,
        lost="" if used else lost,
        corrupted=False,
        kind="human_feedback",
        after=1,
    )


def _commit(ref: str) -> bytes:
    return f"commit {ref}\ncommitter dev <dev@localhost> 0 +0000\ndata 0\n".encode()


def _file(path: bytes, data: bytes) -> bytes:
    return b"M %s inline %s\ndata %d\n%s\n" % (REGULAR.encode(), path, len(data), data)
