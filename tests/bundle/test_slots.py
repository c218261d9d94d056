"""Slots filled without an engine: as the engine fills them, or refused, and nothing in between."""

from __future__ import annotations

import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import score
from harness.config import ROOT
from harness.replaying import slots
from harness.replaying.slots import fill_strictly
from oracles.folder import load_oracle
from oracles.solutions import OverlayFile
from traps import facts
from traps.load import CANARY
from traps.schema import TrapError, TrapFile, read_toml

VALUES = {"mark": "bm-0123456789ab", "how": "floor", "count": 17, "refs": {"e1": "N-123456"}}


def drawn(spec: TrapFile) -> dict[str, str]:
    """A draw, and for derived facts a number or text of the shape that oracles give."""
    return {n: "7" * 14 if f.kind == "derived" else "" for n, f in spec.facts.items()} | facts.draw(spec.facts)


def test_every_text_of_our_own_traps_and_oracles_is_filled_as_the_engine_fills_it() -> None:
    looked = 0
    for folder in sorted(ROOT.glob("oracles/c*/*/oracle.py")):
        trap = ROOT / "traps" / folder.parent.parent.name / folder.parent.name
        spec = read_toml(trap / "trap.toml", TrapFile)
        notes = (*spec.event, *spec.poison)
        values = {**drawn(spec), "ref": "N-1", "refs": {n.id: facts.draw_token(n.ref) for n in notes}}
        texts = [(trap / n.text).read_text().partition("\n")[2] for n in notes]
        assert all(CANARY in (trap / n.text).read_text() for n in notes)
        for files in load_oracle(folder.parent).overlays.values():
            texts += [f.data.decode() for f in files.values()]
        for text in texts:
            assert fill_strictly(text, values, "t") == facts.fill(text, values, "t")
            looked += "<<" in text
    assert looked > 400


PARTS = st.sampled_from(
    ["<< mark >>", "<<how>>", "<< mark[2:5] | upper >>", "<< refs.e1 >>", "<< {'floor': 'a > b'}[how] >>", "\r\n", ">>",
     "<< mark.split('-')[1] >>", "<< count >>", "{{ mark }}", "{% x %}", "é", "<< 'x' if how == 'floor' else 'y' >>"]
)  # fmt: skip


@given(st.lists(PARTS | st.text(alphabet="ab \n\r{}%#>", max_size=5), max_size=8).map("".join))
def test_what_is_filled_is_what_the_engine_gives(template: str) -> None:
    assert fill_strictly(template, VALUES, "t") == facts.fill(template, VALUES, "t")


REFUSED = {
    "<< 'a' * 10**9 >>": "mul is not filled here",
    "<< 10**10**10 >>": "pow is not filled here",
    "<<% for x in range(10**9) %>>y<<% endfor %>>": "no statements",
    "<<# c #>>": "no statements, comments",
    "<<- mark >>": "blank control",
    "<< mark.__class__ >>": "getattr '__class__' is not filled here",
    "<< mark.__class__.__mro__ >>": "getattr '__mro__' is not filled here",
    "<< ''.join(mark) >>": "call is not filled here",
    "<< mark.split(mark).append(1) >>": "call is not filled here",
    "<< range(3) >>": "call is not filled here",
    "<< mark | center(10**8) >>": "filter 'center' is not filled here",
    "<< '%0999999999d' | format(1) >>": "the format '%0999999999d'",
    "<< '%s' | format(mark) >>": "the format '%s'",
    "<< mark | replace('', 'b') >>": "a replacement that is empty or makes a text too large",
    "<< nobody >>": "the slot 'nobody' has no value",
    "<< refs.e9 >>": "no entry 'e9'",
    "<< refs >>": "a slot gives a dict",
    "<< count % 0 >>": "ZeroDivisionError",
    "<< mark[99] >>": "IndexError",
    "<< 'x' if count else 'y' >>": "a condition is needed",
    "<< mark ~ mark >>": "concat is not filled here",
    "<< " + "9" * 1000 + " >>": "a value is too large",
    "<< " + "(" * 900 + "1" + ")" * 900 + " >>": "",
    "<< mark": "does not end",
    "<< " + "a" * 3000 + " >>": "does not end",
    "<<<<" * 1000: "does not end",
    "<< mark mark >>": "TemplateSyntaxError",
}


@pytest.mark.parametrize("template", REFUSED)
def test_everything_else_is_refused_with_its_line(template: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TrapError) as found:
        fill_strictly("one\ntwo\n" + template, VALUES, "solutions/reference/x.py")
    assert str(found.value).startswith("solutions/reference/x.py:3: ")
    assert REFUSED[template] in str(found.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 << 10  # KiB


def test_what_grows_is_stopped() -> None:
    big = {"a": "x" * slots.MAX_VALUE, "b": "x" * (slots.MAX_VALUE + 1)}
    assert fill_strictly("<< a >>", big, "t") == big["a"]
    with pytest.raises(TrapError, match="t:1: a value is too large"):
        fill_strictly("<< b >>", big, "t")
    with pytest.raises(TrapError, match="makes a text too large"):
        fill_strictly("<< a | replace('x', 'yy') >>", big, "t")
    with pytest.raises(TrapError, match=f"more than {slots.MAX_FILLED} characters"):
        fill_strictly("<< a >>" * 65, big, "t")
    with pytest.raises(TrapError, match="more than 1000 slots"):
        fill_strictly("<< how >>" * 1001, VALUES, "t")
    with pytest.raises(TrapError, match="a template of"):
        fill_strictly("x" * (slots.MAX_TEMPLATE + 1), VALUES, "t")


def test_a_solution_of_many_files_is_stopped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score, "MAX_SOLUTION", 100)
    files = {f"{n}.py": OverlayFile(b"<< a >>", False) for n in range(10)}
    assert len(score.filled(files, {"a": "x" * 10}, "t", fill_strictly)) == 10
    with pytest.raises(TrapError, match="t: more than 100 bytes"):
        score.filled(files, {"a": "x" * 40}, "t", fill_strictly)


def test_a_text_without_slots_is_given_back_as_it_is() -> None:
    text = "a\r\nb >> c {{ x }}\r"
    assert fill_strictly(text, {}, "t") == text
