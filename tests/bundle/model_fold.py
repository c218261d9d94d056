"""Frozen runs whose sessions, or memories, asked the scripted model: made once, edited by tests.

`noted`   B0, B5 and FILES; every arm was run twice, because the model was down when S3 was first asked for; a session
          that was killed before is told beside the ledger
`pulled`  B0 and B5, where the agent asks its memory by the tool
`judged`  B4-model by the reference agent, whose memory asks the model
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from analysis.cost import shipped_prices
from containers.sandbox import Sandbox
from harness.bundle.freeze import freeze
from harness.bundle.opened import open_run
from harness.bundle.signing import load_key, new_key
from harness.config import load
from harness.leftovers import take_in
from harness.run import execute, prepare
from harness.rundir import RunDir
from tests.harness import model_kit
from tests.harness.test_model_memory import SEARCH, noting
from tests.harness.test_model_run import QUICK
from tests.model.faults import Fault, Status
from tests.model.log import Entry
from tests.model.script import Function, Say, Seen, Shell, Turn
from tests.model.server import ModelServer

from .bundle_kit import Fold

MODEL = "gpt-6-sol"  # has a price in the shipped table
TRAP = "c1_label"
B0, B5, FILES, JUDGED = (f"{TRAP}/{code}/1/given" for code in ("B0", "B5", "FILES", "B4-model"))


def noted(home: Path, box: Sandbox, mini: Mapping[str, str]) -> Fold:
    fold, more = Fold(home), ["conditions=B0,B5,FILES", f"model.name={MODEL}", *QUICK]
    sent: Counter[bytes] = Counter()

    def down(entry: Entry) -> bool:
        """Both attempts of each S3's first request; when it is sent once more, there is an answer."""
        if entry.holds("Labels end with"):
            sent[entry.body] += 1
            return sent[entry.body] % 3 != 0
        return False

    with ModelServer(Function(noting), faults=[Fault(Status(500), down)]) as server:
        model_kit.play(server, box, mini, fold.run, more)
        _kill_one(fold.run)
        server.faults = ()
        model_kit.play(server, box, mini, fold.run, more)
    return frozen(fold)


def _kill_one(run: Path) -> None:
    """What a session leaves that was killed while its first call waited, taken in as a resumed run does."""
    place = run / "exchanges" / "0123456789abcdef.jsonl"
    place.write_bytes(b"")
    place.with_suffix(".calls").write_text(json.dumps({"number": 1, "model": MODEL}) + "\n")
    assert take_in(RunDir.open(run), shipped_prices(), ()) == 1


def asking(seen: Seen) -> Turn:
    """Asks the memory before S3's work."""
    late = "Labels end with" in seen.text()
    if seen.turn == 1 and late:
        return Shell(SEARCH)
    return model_kit.WORK.turn(replace(seen, turn=seen.turn - 1 if late else seen.turn))


def pulled(home: Path, box: Sandbox, mini: Mapping[str, str]) -> Fold:
    fold = Fold(home)
    with ModelServer(Function(asking)) as server:
        model_kit.play(server, box, mini, fold.run, ["conditions=B0,B5", "delivery=pull"])
    return frozen(fold)


def writing(seen: Seen) -> Turn:
    """Writes down what a mark is."""
    marks = [line for line in seen.text().splitlines() if "box mark is" in line]
    return Say("\n".join(f"- {line.strip()}" for line in marks) or "- nothing was said")


def judged(home: Path, box: Sandbox, mini: Mapping[str, str]) -> Fold:
    fold = Fold(home)
    with ModelServer(Function(writing)) as judge:
        words = ["conditions=B4-model", "seeds=1", f"judge.name={MODEL}", f"judge.base_url={judge.url}/v1"]
        execute(prepare(load(None, words, dict(mini)), fold.run), lambda record: None, sandbox=box, unavailable={})
    return frozen(fold)


def frozen(fold: Fold) -> Fold:
    """Freeze it twice, with the key of its seal and without."""
    key = load_key(fold.signing) if fold.signing.exists() else new_key(fold.signing)
    freeze(open_run(fold.run), fold.revealed, key, reveal=True)
    freeze(open_run(fold.run), fold.sealed, key)
    return fold
