"""Background in a run: drawn once, told to every condition alike, copied into each arm, the same after a resume."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from containers.sandbox import Sandbox
from harness import haystack as hay
from harness.config import RunConfig, load
from harness.draw import draw_digest
from harness.draw import load as load_facts
from harness.haystack import Haystack
from harness.outcome import Boundary, Outcome, UsageFault
from harness.records import ArmRecord
from harness.run import Prepared, execute, load_plan, prepare
from harness.stores import restore_store
from memory_probe.ladder import Condition, Opening, conditions
from memory_probe.protocol import Budget, Card, Episode, MemoryFault, Query, Receipt, StoredRecord
from traps.background_file import load_background

MINI = Path(__file__).parents[1] / "data" / "mini"


class Diary:
    """A memory of our own: it keeps every episode it is told, one line each, and shows nothing."""

    def __init__(self, inner: object, path: Path, faulty: bool) -> None:
        self._inner, self._path, self._faulty = inner, path, faulty
        path.parent.mkdir(parents=True, exist_ok=True)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def record(self, episode: Episode) -> list[Receipt]:
        if self._faulty:
            raise MemoryFault("the diary is full")
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([episode.number, str(episode.date), [n.text for n in episode.notes]]) + "\n")
        return []

    def freeze(self) -> Mapping[str, bytes]:
        return {"deep/diary.jsonl": self._path.read_bytes()} if self._path.exists() else {}


def diary(opened: list[Path], faulty: bool = False) -> Condition:
    card = Card("DIARY", "keeps what it is told", "1")

    def open_it(opening: Opening) -> Diary:
        opened.append(opening.namespace)
        return Diary(
            conditions()["B0"].open(Opening(opening.namespace)), opening.namespace / "deep/diary.jsonl", faulty
        )

    return Condition(card, open_it)  # type: ignore[arg-type]


def config(*words: str) -> RunConfig:
    base = {"traps_dir": str(MINI / "traps"), "oracles_dir": str(MINI / "oracles")}
    return load(None, ["seeds=1", *words], base)


def ready(out: Path, *words: str, known: dict[str, Condition] | None = None) -> Prepared:
    prepared = prepare(config(*words), out, known)
    prepared.folder.unlock()
    return prepared


def filled(tmp_path: Path, n: int) -> Haystack:
    backgrounds = {"mini": load_background(MINI / "traps" / "fixtures", "mini")}
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Haystack(scratch, backgrounds, hay.draw_all(backgrounds, n, [1], {}))


def test_every_condition_but_an_instrument_considers_the_background(run_mini) -> None:  # type: ignore[no-untyped-def]
    done = run_mini("haystack=20", "conditions=B0,B5,EVIDENCE", "readers=careful")
    plain = run_mini("conditions=B0,B5,EVIDENCE", "readers=careful", name="plain")

    def considered(run, code: str) -> list[int]:  # type: ignore[no-untyped-def]
        sessions = run.sessions(f"c1_label/{code}/1/given")
        return [json.loads(run.blob(s.view))["considered"] for s in sessions]

    told = sum(len(e.mentions) for e in hay.load(done.out / "background.json").values())
    assert 20 <= told <= 60
    assert considered(plain, "B5") == [0, 1, 2]
    assert considered(done, "B5") == [told, told + 1, told + 2]
    assert considered(done, "B0") == considered(plain, "B0") == [0, 0, 0]
    assert considered(done, "EVIDENCE") == considered(plain, "EVIDENCE")
    assert {r.condition: r.endings[0].outcome for r in done.records if r.condition != "B5"} == {
        "B0": Outcome.FAILED,
        "EVIDENCE": Outcome.PASS,
    }
    first = json.loads(done.blob(done.sessions("c1_label/B5/1/given")[0].view))
    assert first["items"], "what happened before S1 can be read in S1"
    assert not list(done.out.glob("stores-*"))


def test_what_a_memory_is_told_is_numbered_through(tmp_path: Path, box: Sandbox) -> None:
    opened: list[Path] = []
    prepared = prepare(config("haystack=7", "conditions=DIARY"), tmp_path / "run", {"DIARY": diary(opened)})
    records: list[ArmRecord] = []
    execute(prepared, records.append, sandbox=box, unavailable={})
    files = restore_store(prepared.folder, records[0].store)
    lines = [json.loads(x) for x in files["deep/diary.jsonl"].splitlines()]
    assert [number for number, _, _ in lines] == list(range(1, 10))
    dates = [date for _, date, _ in lines]
    assert dates == sorted(dates)
    assert dates[6] < "2026-01-05" == dates[7]
    drawn = prepared.past["mini", 1]
    assert [len(texts) for _, _, texts in lines[:7]] == [
        count for _, count in sorted(Counter(m.episode for m in drawn.mentions).items())
    ]
    assert len(opened) == 3, "one store to fill, one arm, one copy for S3"


def test_stores_are_built_once_and_copies_are_apart(tmp_path: Path) -> None:
    opened: list[Path] = []
    stack, condition = filled(tmp_path, 30), diary(opened)
    spaces = [tmp_path / f"arm{n}" for n in range(8)]
    threads = [threading.Thread(target=stack.fill, args=(condition, "mini", 1, space)) for space in spaces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bodies = {(space / "deep/diary.jsonl").read_bytes() for space in spaces}
    assert len(opened) == len(bodies) == 1
    (spaces[0] / "deep/diary.jsonl").write_bytes(b"spoilt")
    assert (spaces[1] / "deep/diary.jsonl").read_bytes() in bodies
    stack.fill(condition, "mini", 1, tmp_path / "late")
    assert (tmp_path / "late/deep/diary.jsonl").read_bytes() in bodies
    stack.close()
    assert not list((tmp_path / "scratch").iterdir())


def test_a_verbatim_store_holds_every_event_and_an_instrument_none(tmp_path: Path) -> None:
    stack, known = filled(tmp_path, 25), conditions()
    for code in ("B5", "B0", "EVIDENCE"):
        stack.fill(known[code], "mini", 1, tmp_path / code)
    memory = known["B5"].open(Opening(tmp_path / "B5"))
    told = [note.text for episode in stack.episodes("mini", 1) for note in episode.notes]
    records = memory.records(include_inactive=True)
    assert [r.text for r in records if isinstance(r, StoredRecord)] == told  # type: ignore[union-attr]
    last = stack.episodes("mini", 1)[-1]
    view = memory.read(Query("labels on shelves", (), (), "mini", "labels", last.date), Budget())
    assert view.considered == len(told)
    assert not (tmp_path / "EVIDENCE").exists()
    assert not list((tmp_path / "B0").glob("*"))


def test_a_memory_that_cannot_take_it_in_fails_each_arm(tmp_path: Path, box: Sandbox) -> None:
    opened: list[Path] = []
    known = {"DIARY": diary(opened, faulty=True)}
    prepared = prepare(config("haystack=3", "conditions=DIARY", "readers=careful"), tmp_path / "run", known)
    records: list[ArmRecord] = []
    execute(prepared, records.append, sandbox=box, unavailable={})
    ending = records[0].endings[0]
    assert (ending.outcome, ending.boundary) == (Outcome.INVALID, Boundary.MEMORY)
    assert "the background of mini could not be recorded: MemoryFault: the diary is full" in ending.cause


def test_a_resume_follows_the_same_background(tmp_path: Path) -> None:
    first = ready(tmp_path / "run", "haystack=12")
    again = ready(tmp_path / "run", "haystack=12")
    assert again.past == first.past
    assert first.plan.backgrounds
    told = [Haystack(None, p.plan.backgrounds, p.past).episodes("mini", 1) for p in (first, again)]
    assert told[0] == told[1]
    assert len(told[0]) == 12
    file = tmp_path / "run" / "background.json"
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageFault, match=r"haystack: 12 -> 13"):
        ready(tmp_path / "run", "haystack=13")


def test_a_run_that_was_killed_before_it_had_begun_is_begun_again(tmp_path: Path) -> None:
    first = ready(tmp_path / "run", "haystack=12")
    (tmp_path / "run" / "run.json").unlink()
    again = ready(tmp_path / "run", "haystack=12")
    assert again.past != first.past
    assert hay.load(tmp_path / "run" / "background.json") == again.past


def test_the_background_is_committed_as_one_digest(tmp_path: Path) -> None:
    prepared = ready(tmp_path / "run", "haystack=12", "seeds=2")
    published = json.loads((tmp_path / "run/commitments.json").read_text())
    assert published["background"] == hay.commitments(prepared.past)
    assert set(published["background"]) == {"mini/1", "mini/2"}
    draws = load_facts(tmp_path / "run/facts.json")
    assert published["root"] == draw_digest(draws, published["background"].values())
    assert published["root"] != draw_digest(draws)
    assert not any(m.value in json.dumps(published) for m in prepared.past["mini", 1].mentions)
    plain = ready(tmp_path / "plain")
    assert not plain.past
    assert not (tmp_path / "plain/background.json").exists()
    assert set(json.loads((tmp_path / "plain/commitments.json").read_text())) == {"schema", "root", "commitments"}


def test_a_touched_background_is_refused(tmp_path: Path) -> None:
    value = ready(tmp_path / "run", "haystack=12").past["mini", 1].mentions[0].ref
    file = tmp_path / "run" / "background.json"
    file.write_text(file.read_text().replace(value, value[:-1] + ("1" if value[-1] == "0" else "0")))
    with pytest.raises(UsageFault, match="background do not match the draw digest"):
        ready(tmp_path / "run", "haystack=12")
    file.write_text('{"schema": 1, "background": [{"fixture": 3}]}')
    with pytest.raises(UsageFault, match=r"not a background file: background\.0\.fixture"):
        ready(tmp_path / "run", "haystack=12")
    file.unlink()
    with pytest.raises(UsageFault, match="No such file"):
        ready(tmp_path / "run", "haystack=12")


def test_facts_from_brings_the_background_along(tmp_path: Path) -> None:
    first = ready(tmp_path / "a", "haystack=12")
    same = ready(tmp_path / "b", "haystack=12", f"facts_from={tmp_path / 'a'}")
    assert (same.past, same.draws) == (first.past, first.draws)
    more = ready(tmp_path / "c", "haystack=15", f"facts_from={tmp_path / 'a'}")
    assert more.past["mini", 1].episodes == 15
    assert more.draws == first.draws
    file = tmp_path / "a" / "background.json"
    source = first.past["mini", 1].source
    file.write_text(file.read_text().replace(source, "0" * 64))
    with pytest.raises(UsageFault, match="another file: fixture mini, seed 1"):
        ready(tmp_path / "d", "haystack=12", f"facts_from={tmp_path / 'a'}")


def test_the_plan_means_the_background(tmp_path: Path) -> None:
    assert "background" not in load_plan(config()).meaning
    shutil.copytree(MINI / "traps", tmp_path / "traps")
    file = tmp_path / "traps/fixtures/mini/background.toml"
    words = ("haystack=5", f"traps_dir={tmp_path / 'traps'}")
    before = load_plan(config(*words))
    text = file.read_text()
    file.write_text(text + "# more\n")
    after = load_plan(config(*words))
    assert before.meaning["background"] != after.meaning["background"]
    assert {**before.meaning, "background": 0} == {**after.meaning, "background": 0}
    file.write_text(text.replace("ends = 2025-12-01", "ends = 2026-01-05"))
    with pytest.raises(UsageFault, match="the background ends on 2026-01-05, c1_label begins on 2026-01-05"):
        load_plan(config(*words))
    file.unlink()
    with pytest.raises(UsageFault, match=r"background\.toml"):
        load_plan(config(*words))


@pytest.mark.parametrize("word", ["haystack=-1", "haystack=2001", "haystack=some"])
def test_a_size_out_of_range_is_refused(word: str) -> None:
    with pytest.raises(UsageFault, match="haystack"):
        config(word)


def test_what_it_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.perf_counter()
    stack, condition = filled(tmp_path, 500), conditions()["B5"]
    drawn = time.perf_counter()
    stack.fill(condition, "mini", 1, tmp_path / "first")
    built = time.perf_counter()
    for n in range(10):
        stack.fill(condition, "mini", 1, tmp_path / f"arm{n}")
    copied = (time.perf_counter() - built) / 10
    size = sum(p.stat().st_size for p in (tmp_path / "first").rglob("*") if p.is_file())
    with capsys.disabled():
        print(
            f"\n500 episodes: drawn in {drawn - begun:.2f} s, one B5 store in {built - drawn:.2f} s, "
            f"{size / 1e6:.2f} MB, {copied * 1000:.1f} ms an arm"
        )
    assert len(stack.episodes("mini", 1)) == 500
    assert size > 100_000
