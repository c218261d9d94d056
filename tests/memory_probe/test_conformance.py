"""Every condition of the ladder conforms, and every probe rejects what it is for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memory_probe.conformance import ProbeResult, failures, run_conformance
from memory_probe.conformance_probes import PROBES
from memory_probe.ladder import Opening, conditions
from memory_probe.model import ModelFault, Unasked
from memory_probe.opening import Condition
from memory_probe.protocol import Card, Episode, Note, Receipt, StoredRecord
from tests.model.faults import Fault, Status, always

from .broken_memories import BROKEN, Sound
from .model_kit import FAITHFUL, asking

KNOWN = conditions()
MODEL = sorted(code for code, known in KNOWN.items() if known.card.needs_model)
KEPT_BY_AGENT = {code for code, known in KNOWN.items() if known.kept_by_agent}  # nothing is recorded or read there
KEEPS_NOTHING = {"B0", "EVIDENCE", "POISON"}
#: A1 consolidates nothing, so that no event becomes a memory: the ablation itself.
BARREN = {"byte-exact round trip", "survives a restart", "reads its writes", "update and delete as claimed"}
REPAIRED = {"B1", "B2", "B3", "B4", "B6", "B7", "B2-embed", "B3-model", "B4-model", "B6-model", "B7-model"}


def condition(made: type[Sound], card: Card | None = None) -> Condition:
    return Condition(card or made.card, lambda opening: made(opening.namespace))


def rejecting(results: list[ProbeResult]) -> dict[str, str]:
    return {result.probe: result.evidence for result in failures(results)}


@pytest.mark.parametrize("code", sorted(KNOWN.keys() - MODEL - KEPT_BY_AGENT))
def test_every_condition_of_the_ladder_conforms(code: str) -> None:
    results = run_conformance(KNOWN[code])
    assert set(rejecting(results)) <= (BARREN if code == "A1" else set())
    assert [r.probe for r in results] == [name for name, _ in PROBES]
    if code == "A1":
        return
    idle = [r.probe for r in results if r.verdict == "not applicable"]
    assert idle == ([name for name, _ in PROBES[:-1]] if code in KEEPS_NOTHING else [])
    assert {"record", "settle", "sleep", "read", "freeze", "bytes"} <= set(results[-1].figures)
    assert (results[-1].figures["bytes"] > 0) == (code not in KEEPS_NOTHING)


@pytest.mark.parametrize("code", MODEL)
def test_a_condition_that_asks_a_model_conforms_where_the_model_does_as_it_is_told(code: str, tmp_path: Path) -> None:
    with asking(FAITHFUL, tmp_path) as (model, server):
        results = run_conformance(KNOWN[code], model=model)
        asked = len(server.log.asked())
    assert rejecting(results) == {}
    assert {r.verdict for r in results} == {"passed"}
    assert 30 < asked < 60


def test_without_a_model_such_a_condition_fails_and_says_what_is_missing() -> None:
    found = rejecting(run_conformance(KNOWN["B3-model"]))
    assert len(found) == len(PROBES)
    assert set(found.values()) == {
        "MemoryFault: B3-model needs a model: set judge.name, judge.base_url and, for a key, judge.key_env"
    }


def test_a_model_that_gives_no_answer_says_nothing_of_the_condition(tmp_path: Path) -> None:
    down = [Fault(Status(500), always)]
    with asking(FAITHFUL, tmp_path, faults=down) as (model, _), pytest.raises(ModelFault):
        run_conformance(KNOWN["B3-model"], model=model)


class Rewrites(Sound):
    """Keeps every event in words of its own."""

    card = Card("REWRITES", "a memory for tests", "1", ("dates", "provenance", "rewrites"))

    def record(self, episode: Episode) -> list[Receipt]:
        said = tuple(replace(note, text=f"It was said: {note.text.strip()}") for note in episode.notes)
        return super().record(replace(episode, notes=said))


class Garbles(Rewrites):
    """What it holds is not what its receipts say."""

    def row(self, note: Note) -> list[str]:
        return super().row(replace(note, text=note.text.replace("\r\n", "\n")))


class WritesNothing(Rewrites):
    def record(self, episode: Episode) -> list[Receipt]:
        return [Receipt("rejected", note.text, "not of interest") for note in episode.notes]


def test_a_memory_that_rewrites_must_hold_what_it_says_it_wrote() -> None:
    assert rejecting(run_conformance(condition(Rewrites))) == {}
    unclaimed = rejecting(run_conformance(condition(Rewrites, Sound.card)))
    assert list(unclaimed) == ["byte-exact round trip"]
    garbled = rejecting(run_conformance(condition(Garbles)))
    assert garbled == {
        "byte-exact round trip": "what was written of the text with crlf does not come back byte for byte"
    }
    assert "only 0 of 9" in rejecting(run_conformance(condition(WritesNothing)))["byte-exact round trip"]


class Moody(Sound):
    """Never the same view twice."""

    card = Card("MOODY", "a memory for tests", "1", ("dates", "provenance"), needs_model=True)
    count = 0

    def record(self, episode: Episode) -> list[Receipt]:
        type(self).count += 1
        said = tuple(replace(note, text=f"{note.text} ({self.count})") for note in episode.notes)
        super().record(replace(episode, notes=said))
        return [Receipt("ok", note.text) for note in said]


def test_two_views_may_differ_only_where_a_model_is_asked() -> None:
    (told,) = [r for r in run_conformance(condition(Moody)) if r.probe == "repeatable"]
    assert (told.verdict, "a model was asked twice" in told.evidence) == ("not applicable", True)
    assert "repeatable" in rejecting(run_conformance(condition(Moody, replace(Moody.card, needs_model=False))))


def test_the_sound_memory_passes_every_probe() -> None:
    assert {r.verdict for r in run_conformance(condition(Sound))} == {"passed"}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda made: made.__name__)
def test_a_broken_memory_is_rejected_by_exactly_one_probe(broken: type[Sound]) -> None:
    slow = 0.2 if BROKEN[broken] == "latency and size" else 60.0
    assert list(rejecting(run_conformance(condition(broken), slow))) == [BROKEN[broken]]


def test_every_probe_rejects_something() -> None:
    assert set(BROKEN.values()) == {name for name, _ in PROBES}


class Selective(Sound):
    """Leaves out what has more than 200 characters; whether it says so is up to the subclass."""

    card = Card("SELECTIVE", "a memory for tests", "1", ("dates", "selective"))
    says = True

    def record(self, episode: Episode) -> list[Receipt]:
        short = tuple(n for n in episode.notes if len(n.text) <= 200)
        left = [n.text for n in episode.notes if len(n.text) > 200]
        kept = super().record(replace(episode, notes=short))
        return kept + ([Receipt("rejected", text, "over 200 characters") for text in left] if self.says else [])


class Silent(Selective):
    says = False


class KeepsAlmostNothing(Selective):
    def record(self, episode: Episode) -> list[Receipt]:
        return [
            *super().record(replace(episode, notes=tuple(n for n in episode.notes if "dug" in n.text))),
            *(Receipt("rejected", n.text, "not of interest") for n in episode.notes if "dug" not in n.text),
        ]


def test_leaving_out_must_be_claimed_and_named() -> None:
    assert rejecting(run_conformance(condition(Selective))) == {}
    unclaimed = rejecting(run_conformance(condition(Selective, Sound.card)))
    assert unclaimed == {"byte-exact round trip": "the text with 20,000 characters does not come back as it was told"}
    assert "nor is named" in rejecting(run_conformance(condition(Silent)))["byte-exact round trip"]
    assert "came back" in rejecting(run_conformance(condition(KeepsAlmostNothing)))["byte-exact round trip"]


class SaysNoButKeeps(Sound):
    def record(self, episode: Episode) -> list[Receipt]:
        super().record(episode)
        return [Receipt("rejected", note.text, "full") for note in episode.notes]


class Raises(Sound):
    def records(self, include_inactive: bool) -> Iterator[StoredRecord]:
        raise RuntimeError("no listing today")

    def sleep(self, now: dt.date):  # type: ignore[no-untyped-def]
        raise RuntimeError("no sleep today")


def test_a_memory_that_rejects_everything_must_hold_nothing() -> None:
    assert "yet something is held" in rejecting(run_conformance(condition(SaysNoButKeeps)))["byte-exact round trip"]


def test_whatever_a_memory_raises_is_shown_as_its_failure() -> None:
    found = rejecting(run_conformance(condition(Raises)))
    assert set(found.values()) == {"RuntimeError: no sleep today"}


def test_cards_say_what_was_repaired_and_open_what_they_name(tmp_path: Path) -> None:
    assert {code for code, known in KNOWN.items() if known.card.repaired} == REPAIRED
    for code, known in KNOWN.items():
        memory = known.open(Opening(tmp_path / code, model=Unasked()))
        assert (known.card.code, memory.card) == (code, known.card)
        memory.close()
