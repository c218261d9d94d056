"""A plan that was edited, in any key, form or byte, and a run that is not the planned one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.bundle.manifest import canonical
from harness.bundle.signing import new_key
from harness.outcome import UsageFault
from harness.preregistration.plan_file import parse_frozen
from harness.preregistration.plan_start import held
from harness.preregistration.plan_start import told as told_of
from harness.preregistration.preregister import check_follows, load_frozen
from traps.facts import merkle_root

from .plan_kit import DIGEST, Planned, dreambench, refused, write_plan


def _other(value: Any) -> Any:
    """Something else of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return ("1" if value[0] != "1" else "2") + value[1:] if re.match(r"[0-9a-f]", value) else value + "x"
    if isinstance(value, list):
        return [*value, "x"]
    first = next(iter(value), None)
    return {"x": DIGEST} if first is None else {**value, first: _other(value[first])}


TOP = ("schema", "plan", "signer", "signature")
INNER = (
    *("arms", "background", "code", "commitments", "draw", "dreambench", "family", "frozen", "meaning", "models"),
    *("plan_digest", "prices", "prompts", "python", "sandbox"),
)


def test_the_edits_below_reach_every_key(frozen_once: Planned) -> None:
    told = frozen_once.table("plan.json")
    assert set(told) == set(TOP)
    assert set(told["plan"]) == set(INNER)


@pytest.mark.parametrize("how", ["changed", "removed"])
@pytest.mark.parametrize("key", [*TOP, *(f"plan.{key}" for key in INNER)])
def test_a_plan_with_an_edited_key_is_refused(key: str, how: str, place: Planned) -> None:
    told = place.table("plan.json")
    table, last = (told["plan"], key.removeprefix("plan.")) if "." in key else (told, key)
    value = table.pop(last)
    if how == "changed":
        table[last] = _other(value)
    (place.out / "plan.json").write_bytes(canonical(told))
    for read in (lambda: load_frozen(place.out / "plan.json"), lambda: held(place.folder)):
        with pytest.raises(UsageFault, match=r"plan\.json: (not a frozen plan|schema|the signature does not hold)"):
            read()
    (label, says), *more = told_of(place.folder, place.folder.description())
    assert (label, more) == ("preregistration", [])
    assert says.startswith("DOES NOT HOLD: plan.json: ")


def text(frozen: Planned) -> bytes:
    return (frozen.out / "plan.json").read_bytes()


FORMS: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("unknown key", lambda b: b.replace(b'{"plan":', b'{"note":1,"plan":'), "note: Extra inputs"),
    ("unknown schema", lambda b: b.replace(b'"schema":1', b'"schema":2'), "schema '2' is not known"),
    ("a key twice", lambda b: b.replace(b'"schema":1', b'"schema":2,"schema":1'), "edited"),
    ("spaces", lambda b: b.replace(b'"schema":1', b'"schema": 1'), "edited"),
    ("appended", lambda b: b + b"\n", "edited"),
    ("cut", lambda b: b[: len(b) // 2], "not JSON"),
    ("empty", lambda b: b"", "not JSON"),
    ("no table", lambda b: b"[1]", "not a table"),
    ("no number", lambda b: b.replace(b'"schema":1', b'"schema":1,"x":NaN'), "edited"),
    ("no finite number", lambda b: b.replace(b'"schema":1', b'"schema":1,"x":1e999'), "edited"),
    ("deep", lambda b: b.replace(b'"family":null', b'"family":' + b'{"a":' * 200 + b"1" + b"}" * 200), "nested deeper"),
    ("deeper", lambda b: b"[" * 100_000, "not JSON"),
]


@pytest.mark.parametrize(("edit", "says"), [f[1:] for f in FORMS], ids=[f[0] for f in FORMS])
def test_a_plan_in_another_form_is_refused(edit: Callable[[bytes], bytes], says: str, frozen_once: Planned) -> None:
    edited = edit(text(frozen_once))
    assert edited != text(frozen_once)
    with pytest.raises(UsageFault, match=re.escape(says)):
        parse_frozen(edited, "plan.json")


@given(data=st.data())
def test_no_edited_byte_goes_unseen_and_none_breaks_the_reader(data: st.DataObject, frozen_once: Planned) -> None:
    whole = text(frozen_once)
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != whole[at]))
    with pytest.raises(UsageFault):
        parse_frozen(whole[:at] + bytes([byte]) + whole[at + 1 :], "plan.json")


def test_a_plan_signed_by_another_is_another_plan(place: Planned) -> None:
    other = new_key(place.root / "other.pem")
    write_plan(place.out / "plan.json", place.table("plan.json")["plan"], other)
    assert place.frozen.signer == other.public, "it holds in itself"
    assert [p for p in place.problems if p.startswith("run.json follows another plan")]
    refused(place.start(), 3, "run.json follows another plan")
    assert dreambench("plan", "show", place.out).return_value == 3


RUNS: list[tuple[str, dict[str, Any], str]] = [
    ("plan digest", {"plan_digest": DIGEST}, "the plan digest is not"),
    ("meaning", {"meaning": {"agent": "x"}}, "the meaning is not"),
    ("family", {"family": {}}, "the family is not"),
    ("draw", {"draw_digest": DIGEST}, "the draw digest is not"),
    ("arms", {"arms": 7}, "the number of arms is not"),
    ("sandbox", {"config": {"sandbox": "docker"}}, "the kind of sandbox is not"),
    ("follows", {"follows": None}, "run.json does not say"),
    ("follows malformed", {"follows": {"plan": 1}}, "run.json: follows: plan"),
]


@pytest.mark.parametrize(("change", "says"), [r[1:] for r in RUNS], ids=[r[0] for r in RUNS])
def test_a_run_that_is_not_the_planned_one_is_named(change: dict[str, Any], says: str, frozen_once: Planned) -> None:
    told, stored = frozen_once.table("commitments.json"), frozen_once.folder.description()
    assert check_follows(frozen_once.frozen, (), stored, told) == []
    (problem,) = check_follows(frozen_once.frozen, (), stored.model_copy(update=change), told)
    assert says in problem


def test_other_commitments_sessions_and_sandboxes_are_named(ran_once: Planned) -> None:
    frozen, stored = ran_once.frozen, ran_once.folder.description()
    told, used = ran_once.table("commitments.json"), ran_once.folder.sandboxes()

    def problems(first: str = "", sandboxes: Any = (), **changes: Any) -> list[str]:
        return check_follows(frozen, (), stored, told | changes, first, sandboxes)

    assert problems("2099-01-01T00:00:00.000+00:00", used) == []
    assert problems(root=merkle_root([])) == ["the root of commitments.json is not that of the plan"]
    assert problems(commitments={}) == ["commitments.json is not that of the plan"]
    assert problems(background={"mini/1": DIGEST}) == ["the background in commitments.json is not that of the plan"]
    assert problems(sandboxes=[*used, {"engine": "other"}]) == [
        "a sandbox was used that neither the plan nor an amendment tells of"
    ]
    for early in ("2020-01-01T00:00:00.000+00:00", "2020-01-01", "soon"):
        (problem,) = problems(early)
        assert problem.startswith(f"the plan is dated {frozen.plan.frozen}, after the first session")
