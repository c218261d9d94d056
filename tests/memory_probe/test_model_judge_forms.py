"""The model judge: answers of every form are read or refused, and whatever is read leaves a sound store."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_probe.ladder import conditions
from memory_probe.model import Answer, ModelFault
from memory_probe.model_judge import Against, Finding, read_finding
from memory_probe.opening import Opening
from memory_probe.protocol import Episode
from memory_probe.store.schema import FILE
from memory_probe.store.verify import verify

from .model_kit import asking, saying
from .probe_kit import episode, note
from .test_probe_properties import live, lives

NONE = {"contradicts": [], "decides": []}
TYPES = ["human_feedback", "contradiction", "semantic_project", "constraint", "procedural"]


@pytest.mark.parametrize("types", [["human_feedback"] * 2, [], ["opinion"], [["procedural"]], [None], ["episodic"]])
def test_types_are_one_a_note_of_those_there_are(types: list[object], tmp_path: Path) -> None:
    told = episode(note("Mail goes by post."), day=1)
    with asking(saying(lambda seen: {"types": types}), tmp_path) as (model, _):
        memory = conditions()["DF-model"].open(Opening(tmp_path / "a", model=model))
        memory.record(told)
        with pytest.raises(ModelFault, match="two answers"):
            memory.sleep(told.date)


def test_a_finding_is_read_as_it_is_said() -> None:
    told = {
        "contradicts": [{"note": 2, "grounded": False, "governs": "unclear"}],
        "decides": [{"governs": 1, "yields": 3}],
    }
    assert read_finding(json.dumps(told), 3) == Finding((Against(1, False, "unclear"),), ((0, 2),))
    assert read_finding(json.dumps(NONE), 3) == Finding()


ONE = {"note": 1, "grounded": True, "governs": "new"}


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ([], "fields contradicts, decides"),
        ({"contradicts": []}, "fields contradicts, decides"),
        ({"contradicts": {}, "decides": []}, "contradicts is no list"),
        ({"contradicts": [1], "decides": []}, "fields note, grounded, governs"),
        ({"contradicts": [{**ONE, "note": 0}], "decides": []}, "no earlier note 0"),
        ({"contradicts": [{**ONE, "note": 4}], "decides": []}, "no earlier note 4"),
        ({"contradicts": [{**ONE, "note": True}], "decides": []}, "note is no int"),
        ({"contradicts": [{**ONE, "grounded": "yes"}], "decides": []}, "grounded is no bool"),
        ({"contradicts": [{**ONE, "governs": "both"}], "decides": []}, "governs is none of"),
        ({"contradicts": [ONE, {**ONE, "governs": "earlier"}], "decides": []}, "named twice"),
        ({"contradicts": [], "decides": [{"governs": 2, "yields": 2}]}, "yield to itself"),
        ({"contradicts": [], "decides": [{"governs": 9, "yields": 2}]}, "no earlier note 9"),
        ({"contradicts": [], "decides": [{"governs": 1, "yields": 2}, {"governs": 2, "yields": 1}]}, "twice"),
    ],
)
def test_a_finding_of_another_form_is_refused(told: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_finding(json.dumps(told), 3)


class Whim:
    """Answers every question in its form, and anyhow."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def ask(self, system: str, text: str, most: int) -> Answer:
        """See `Model.ask`."""
        pick = self._chance
        if "one type for each note" in system:
            return Answer(json.dumps({"types": pick.choices(TYPES, k=text.count("=== note "))}), 1, 1)
        count = text.count("=== earlier note ")
        against = [
            {"note": n, "grounded": pick.random() < 0.8, "governs": pick.choice(["new", "earlier", "unclear"])}
            for n in pick.sample(range(1, count + 1), pick.randint(0, count))
        ]
        pair = pick.sample(range(1, count + 1), 2) if count > 1 and pick.random() < 0.5 else []
        decides = [{"governs": pair[0], "yields": pair[1]}] if pair else []
        return Answer(json.dumps({"contradicts": against, "decides": decides}), 1, 1)


@settings(max_examples=12, deadline=None)
@given(lives(), st.sampled_from(["DF-model", "DF-hybrid-model"]), st.integers(0, 1 << 16))
def test_whatever_a_model_says_the_store_is_sound_and_every_note_is_in_it(
    life: list[Episode], code: str, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        memory = conditions()[code].open(Opening(Path(name), model=Whim(seed)))
        live(memory, life)
        assert verify(Path(name) / FILE) == []
        view = memory._derived.view
        held = [view.memory(n).content for n in view.ids()]
        assert all(told.text in held for each in life for told in each.notes)
        for number in view.ids():
            if view.status(number) == "superseded":
                newer = [view.memory(n).told for n in view.superseders[number]]
                assert newer
                assert min(newer) > view.memory(number).told
        memory.close()
